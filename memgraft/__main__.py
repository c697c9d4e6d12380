"""`python -m memgraft` is the same as `memgraft`."""

import gc


def _start() -> None:
    # Imports leave hardly any garbage, and Python would look for it a hundred times.
    gc.disable()
    from memgraft.cli import main

    gc.enable()
    main()


_start()
