"""The options of `memgraft place`; what they mean is in memgraft-place (docs/formats.md, section 13)."""

from pathlib import Path
from typing import Annotated

import typer

from memgraft import screen


def place(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND", help="What to run; any program.", show_default=False)
    ] = None,
    pid: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Attach to this process instead; Ctrl-C detaches.")
    ] = None,
    monitor: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who sees which page is touched: auto (default: the best that works here), hint-faults (Linux's "
            "NUMA balancing), pmu (memory samples of the CPU), faults-in-process (a library preloaded into COMMAND), "
            "or replay:FILE.",
        ),
    ] = None,
    interval: Annotated[
        str | None, typer.Option(metavar="TIME", help="How often pages are moved: 500ms, 5s, 1m; default: 5s.")
    ] = None,
    drain: Annotated[
        str | None, typer.Option(metavar="TIME", help="How often samples are read; default: 100ms.")
    ] = None,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help="With --pid: detach after this time.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Watch and decide, and move nothing.")] = False,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what happens to this file, a JSON line an interval.")
    ] = None,
    page_map: Annotated[
        bool, typer.Option("--map", help="With --record: and where every page is, each interval.")
    ] = False,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Show it all on a live page meanwhile; `memgraft watch` shows a kept record."),
    ] = False,
    freeze_after: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Moves in a row after which a page is frozen; default: 3.")
    ] = None,
    freeze_for: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Intervals for which it then stays; default: 10.")
    ] = None,
    least_share: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            min=0,
            max=1,
            help="What a move must save at least, of a page's touches weighed by distance; default: 0.2.",
        ),
    ] = None,
    ignore_move_cost: Annotated[
        bool,
        typer.Option("--ignore-move-cost", help="Move pages even if the rest of the run would not pay for it."),
    ] = False,
    ignore_neighbours: Annotated[
        bool,
        typer.Option(
            "--ignore-neighbours", help="Judge each page by its own touches only, not by those of the pages around it."
        ),
    ] = False,
    pages_per_second: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="No more pages are moved; default: 25600.")
    ] = None,
    sampling_rate: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Pages a second that faults-in-process samples at most; default: 1600."),
    ] = None,
    sampling_cpu: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Of one CPU, what that may cost at most, in all threads; default: 0.005."),
    ] = None,
    sampling_least: Annotated[
        int | None,
        typer.Option(
            metavar="BYTES", help="It samples no pieces of memory that are smaller; 64 KiB or more; default: 1 MiB."
        ),
    ] = None,
    observing_cpu: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Of one CPU, what reading touches and where pages lie may take; the rest is lost; default: 0.01.",
        ),
    ] = None,
    bind_threads: Annotated[
        bool,
        typer.Option("--bind-threads", help="Keep each thread on one CPU, node after node; undone at the end."),
    ] = False,
    numa_balancing: Annotated[
        bool,
        typer.Option(
            "--numa-balancing", help="Turn Linux's NUMA balancing on meanwhile, for hint-faults (needs root)."
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON, and nothing else, on standard output.")
    ] = False,
) -> None:
    """Move a program's pages to the NUMA nodes that touch them most, while it runs; say at its end what came of it.

    The program's input, output and errors are its own; the summary goes to standard error. With --json the program's
    standard output goes to standard error.
    """
    from memgraft.placement import place as work
    from memgraft.screen import to_standard_error

    asked = work.Asked(
        command or [],
        pid=pid,
        monitor=monitor,
        interval=interval,
        drain=drain,
        duration=duration,
        dry_run=dry_run,
        record=record,
        map=page_map,
        watch=watch,
        freeze_after=freeze_after,
        freeze_for=freeze_for,
        least_share=least_share,
        ignore_move_cost=ignore_move_cost,
        ignore_neighbours=ignore_neighbours,
        pages_per_second=pages_per_second,
        sampling_rate=sampling_rate,
        sampling_cpu=sampling_cpu,
        sampling_least=sampling_least,
        observing_cpu=observing_cpu,
        bind_threads=bind_threads,
        numa_balancing=numa_balancing,
    )
    finished = work.place(asked, stdout=to_standard_error() if json else None)
    if json and finished.as_written is not None:
        screen.print_json(finished.as_written)
    else:
        work.show(finished, screen.err())
    if finished.exit_code:
        # memgraft-place has said why.
        raise typer.Exit(finished.exit_code)
