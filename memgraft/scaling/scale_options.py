"""The options of `memgraft buffers scale`."""

import contextlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from memgraft import screen
from memgraft.errors import WrongUsageError, writing_to


def scale(
    tlabs: Annotated[
        str | None, typer.Option(metavar="SIZE,SIZE", help="Sizes of TLABs; default: 2k,8k,32k,128k.")
    ] = None,
    levels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND=SIZE,...",
            help="Buffers of core and processor, or none; may be given more than once. Default: none, core=1m, "
            "processor=16m, and both.",
        ),
    ] = None,
    rate: Annotated[
        float,
        typer.Option(metavar="GB/S", min=0.001, max=1000, help="How much a core allocates while it does not wait."),
    ] = 1.0,
    cores_per_processor: Annotated[int, typer.Option(metavar="N", min=1, max=4096, help="Of the larger machine.")] = 32,
    costs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Costs that --json printed at another time or elsewhere; measure nothing."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the time; wider intervals.")] = False,
    plots: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the pictures as one page, a .html file.")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON, and nothing else, on standard output.")
    ] = False,
) -> None:
    """Contention on the heap's pointer on 2 to 256 cores, with and without buffers: a model fed with costs of this one.

    Measured: what a compare-and-swap, a request to a buffer and a refill cost here. Modelled, by a formula and by a
    simulation: everything on more cores.
    """
    from memgraft.scaling import show, work

    if plots is not None and not plots.absolute().parent.is_dir():
        raise WrongUsageError(f"--plots {plots}: the folder {plots.parent} does not exist; make it first")
    asked = work.ask(tlabs, levels or [], rate, cores_per_processor, quick, costs)
    # Before the long work, which must not end at a package that is missing.
    from memgraft.scaling import page

    with screen.err().status("starting") if sys.stderr.isatty() else contextlib.nullcontext() as status:
        found = work.scale(asked, say=status.update if status else lambda _: None)
    if plots is not None:
        with writing_to(plots.parent):
            screen.write_file(plots, page.render(found))
    if json:
        screen.print_json(found.as_json())
    else:
        show.show(found, plots, screen.out())
