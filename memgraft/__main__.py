"""`python -m memgraft` is the same as `memgraft`."""

from memgraft.cli import main

main()
