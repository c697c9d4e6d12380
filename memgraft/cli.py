"""The command line: what is typed, and which exit code it ends with. The work is in the modules named after commands.

Heavy imports (scipy, bokeh) wait until a command needs them, so that help and completion are quick.
"""

import atexit
import contextlib
import gc
import os
import sys
import traceback
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from memgraft import screen
from memgraft.errors import AskedToEnd, MemgraftError, WrongUsageError, end_when_asked, usage_error, writing_to
from memgraft.experiment.design import Pairing
from memgraft.experiment.metrics import MetricName
from memgraft.grafts.options import graft_options
from memgraft.grafts.selection import Selection, select
from memgraft.grafts.table import ZEROING
from memgraft.hunt.hunt_options import hunt
from memgraft.jvm.launch import Via
from memgraft.placement.place_options import place
from memgraft.scaling.scale_options import scale
from memgraft.version import version

if TYPE_CHECKING:
    from memgraft.experiment.compare import Settings

TRACEBACK_VARIABLE = "MEMGRAFT_TRACEBACK"

app = typer.Typer(
    help="Memgraft grafts memory-system designs onto stock runtimes and measures what each does to your program.",
    epilog="Exit codes: 0 done, 1 the program run failed, 2 wrong usage, 3 this machine or runtime cannot take the "
    "graft, 128 + N ended by signal N (130: Ctrl-C).",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
zero_app = typer.Typer(help="The zeroing kernels on this machine.", rich_markup_mode=None)
app.add_typer(zero_app, name="zero")
buffers_app = typer.Typer(help="Allocation buffers on this machine, and on larger ones.", rich_markup_mode=None)
app.add_typer(buffers_app, name="buffers")

# What follows COMMAND belongs to it, with or without `--` in front.
TAKES_COMMAND = {"allow_interspersed_args": False}
Command = Annotated[
    # Not required, so that a missing one is explained like any other that cannot be run.
    list[str] | None,
    typer.Argument(metavar="COMMAND", help="What to run; it has to start java.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else, on standard output.")]
Largest = Annotated[int | None, typer.Option(metavar="BYTES", help="Leave out larger blocks; default: 64 MiB.")]
ViaOption = Annotated[
    Via,
    typer.Option(
        help="The environment variable that carries the grafts to the JVM. auto: JDK_JAVA_OPTIONS if COMMAND is a java "
        "launcher of JDK 9 or later, else JAVA_TOOL_OPTIONS.",
    ),
]


class PaperSize(StrEnum):
    """The sizes of bin/workload."""

    SMALL = "small"
    DEFAULT = "default"


class KernelClass(StrEnum):
    """Of the NAS kernels; those that fit into the emulated machine's first node."""

    S = "S"
    W = "W"


class BoundPairing(StrEnum):
    """Whole launches only: the stock cannot be switched to."""

    ALTERNATE = Pairing.ALTERNATE
    CONCURRENT = Pairing.CONCURRENT


def _version(asked: bool) -> None:
    if asked:
        print(f"memgraft {version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command()
def doctor(
    java: Annotated[
        list[str] | None, typer.Argument(metavar="JAVA", help="A java executable, or the home of a JDK or JRE.")
    ] = None,
    json: Json = False,
) -> None:
    """What this machine and each JVM found can take, and why not."""
    from memgraft import doctor as work

    report = work.examine(java or [])
    if json:
        screen.print_json(report)
    else:
        work.show(report, screen.out())


Profile = Annotated[
    bool,
    typer.Option(
        "--profile/--no-profile",
        help="Whether adaptive heeds what was measured of this program, and joins only where that is a gain.",
    ),
]


@app.command(context_settings=TAKES_COMMAND)
@graft_options
def run(
    selection: Selection,
    command: Command = None,
    via: ViaOption = Via.AUTO,
    profile: Profile = True,
    suggest_relaxed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="With --ordering sc or sc-seed: profile the program, and name the N methods that take most time, for "
            "a file of --relaxed.",
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the JSON to this file as well.")] = None,
    json: Json = False,
) -> None:
    """Run a program with grafts, and say at its end what they did.

    The program's input, output and errors are its own; the summary goes to standard error. With --json the program's
    standard output goes to standard error.
    """
    from memgraft import run as work

    if output is not None and not output.parent.is_dir():
        raise WrongUsageError(f"--output {output}: the folder {output.parent} does not exist; make it first")
    finished = work.run(
        command or [],
        selection,
        via,
        stdout=screen.to_standard_error() if json else None,
        profile=profile,
        suggest_relaxed=suggest_relaxed,
    )
    error = finished.error()
    if finished.grafted:
        report = finished.as_json()
        if output is not None:
            screen.write_file(output, screen.dump(report))
        if json:
            screen.print_json(report)
        else:
            work.show(finished, screen.err())
    if error is not None:
        raise error


WarmupIterations = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=0, help="Iterations of each launch not to count; default: the first half, rounded up."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="A new folder for report, results and logs; default: one in memgraft-out/."),
]


@app.command(context_settings=TAKES_COMMAND)
@graft_options
def compare(
    selection: Selection,
    command: Command = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="STRATEGY",
            help="What the other side takes, instead of the stock; with --pairing epochs bulk unless named.",
        ),
    ] = None,
    launches: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="How many pairs of launches, at least 6; default 10. With epochs: launches; default 1."
        ),
    ] = None,
    warmup_launches: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="Grafted launches before the first pair, not counted; default 1, with epochs 0."
        ),
    ] = None,
    warmup_iterations: WarmupIterations = None,
    metric: Annotated[
        MetricName,
        typer.Option(
            help="What the verdict rests on. auto: CPU time of the steady iterations where every launch reports them, "
            "else of the whole launch."
        ),
    ] = MetricName.AUTO,
    pairing: Annotated[
        Pairing,
        typer.Option(
            help="alternate: one after the other. concurrent: both at once, each on half of the CPUs. epochs: both in "
            "one JVM, switched at its collections."
        ),
    ] = Pairing.ALTERNATE,
    profile: Profile = True,
    via: ViaOption = Via.AUTO,
    output: Output = None,
    json: Json = False,
) -> None:
    """Measure a program stock against grafted: launches in pairs, a verdict with its interval, and an HTML report.

    --zeroing hot-path compares the stock with itself: an A/A comparison, which shows this machine's noise.
    """
    from memgraft.experiment import compare as work

    started = datetime.now().astimezone()
    asked = work.Asked(against, launches, warmup_launches, warmup_iterations, metric, pairing)
    settings = work.settle(command or [], selection, via, asked, output or work.default_output(started))
    _measure(work.heed_profile(settings) if profile else settings, started, json)


def _measure(settings: "Settings", started: datetime, json: bool) -> None:
    """Runs a comparison's launches and reports what they say."""
    from memgraft.experiment import compare as work

    comparison = work.Comparison(settings)
    # After what can be wrong at once, and before the long work, which must not end at a package that is missing.
    from memgraft.experiment.findings import find
    from memgraft.report import write

    with writing_to(comparison.output), screen.progress() as bar:
        task = bar.add_task("starting", total=sum(map(len, comparison.groups)))
        comparison.run(lambda now, done, _: bar.update(task, completed=done, description=now.name))
    with writing_to(comparison.output):
        result = write(find(comparison, started), screen.err() if json else screen.out(), brief=json)
    work.keep(comparison, result)
    if json:
        screen.print_json(result)


app.command(context_settings=TAKES_COMMAND)(hunt)
app.command(context_settings=TAKES_COMMAND)(place)


@app.command()
def paper(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Tables and figures; several share their launches.")
    ] = None,
    size: Annotated[PaperSize, typer.Option(help="How much work an iteration of a workload does.")] = PaperSize.DEFAULT,
    launches: Annotated[
        int, typer.Option(metavar="N", help="Launches of each workload and strategy, at least 6; in an emulator 1.")
    ] = 10,
    iterations: Annotated[
        int, typer.Option(metavar="N", min=2, help="Iterations of each launch, the first half not counted.")
    ] = 6,
    workloads: Annotated[
        str | None, typer.Option(metavar="A,B", help="Which workloads; default: all of bin/workload, or the figure's.")
    ] = None,
    threads: Annotated[
        str | None,
        typer.Option(metavar="N,N", help="Figures that choose them: threads of a workload; default: theirs."),
    ] = None,
    tlabs: Annotated[
        str | None, typer.Option(metavar="SIZE,SIZE", help="Figures of buffers: only these of its TLAB sizes.")
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(metavar="SIZE,SIZE", help="Figures of buffers: only these sizes of their lowest level."),
    ] = None,
    heap: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Heap of figures of buffers (a third: nursery) and orderings.")
    ] = None,
    kernel_class: Annotated[
        KernelClass | None, typer.Option("--class", help="Figures of placement: class of the NAS kernels; default: S.")
    ] = None,
    metric: Annotated[
        MetricName, typer.Option(help="What figures of execution time show; auto: the thesis's, wall-clock time.")
    ] = MetricName.AUTO,
    kept: Annotated[
        Path | None, typer.Option("--from", metavar="DIR", help="Use the launches of an earlier one; measure nothing.")
    ] = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Tables and figures of the papers, measured on this machine beside the published values; without NAME: a list."""
    from memgraft.paper import show, work
    from memgraft.paper.asked import Asked, Choice

    if not names:
        entries = work.listed()
        if json:
            screen.print_json({"schema": 1, "kind": "papers", "papers": entries})
        else:
            show.list_all(entries, screen.out())
        return
    shown = MetricName.ITERATION_WALL if metric is MetricName.AUTO else metric
    choice = Choice(threads, tlabs, sizes, heap, kernel_class)
    asked = Asked(size, launches, iterations, workloads, shown, kept, output, choice)
    made = work.make(names, asked)
    for result in made:
        definition, tables = result.pop("definition"), result.pop("tables")
        if not json:
            show.show(definition, tables, result["measured"], Path(result["page"]), screen.out())
    if json:
        screen.print_json({"schema": 1, "kind": "papers", "papers": made})


@app.command()
def watch(
    record: Annotated[
        Path, typer.Argument(metavar="RECORD", help="What `memgraft place --record FILE` writes, or has written.")
    ],
    jvm: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The summary folder of a grafted JVM: its refills and zeroing as well."),
    ] = None,
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="0: any that is free.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open the page; only where there is a display.")
    ] = True,
) -> None:
    """A live page of a placement: where every page is, what moves, who touches whose memory. Ctrl-C ends it.

    Follows a run while it writes its record, or replays a finished one. Prints the page's address, which works on this
    machine only, and only as a whole: it holds a token.
    """
    from memgraft.watch import serve

    with contextlib.suppress(KeyboardInterrupt):
        serve(record, jvm=jvm, port=port, browser=browser, show=lambda address: print(address, flush=True))


@zero_app.command(context_settings=TAKES_COMMAND)
def bound(
    command: Command = None,
    launches: Annotated[int, typer.Option(metavar="N", help="How many pairs of launches, at least 6.")] = 10,
    warmup_launches: Annotated[
        int, typer.Option(metavar="N", min=0, help="Launches before the first pair, not counted.")
    ] = 1,
    warmup_iterations: WarmupIterations = None,
    pairing: Annotated[
        BoundPairing,
        typer.Option(help="alternate: one after the other. concurrent: both at once, each on half of the CPUs."),
    ] = BoundPairing.ALTERNATE,
    via: ViaOption = Via.AUTO,
    output: Output = None,
    json: Json = False,
) -> None:
    """How much a program would gain if zeroing cost nothing: no strategy can gain more.

    The stock against a JVM whose free nursery is zeroed within each collection's pause, that time not counted. Needs
    the Parallel or Serial collector.
    """
    from memgraft.experiment import compare as work

    started = datetime.now().astimezone()
    asked = work.Asked(None, launches, warmup_launches, warmup_iterations, MetricName.AUTO, Pairing(pairing))
    folder = output or work.default_output(started, "bound")
    _measure(work.settle(command or [], select({ZEROING: "pause"}), via, asked, folder, bound=True), started, json)


@zero_app.command()
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the time; wider intervals.")] = False,
    largest: Largest = None,
    json: Json = False,
) -> None:
    """Zero 64 B to 64 MiB with every kernel of this CPU, cached and streaming, against memset; some minutes."""
    from memgraft.kernels import zero as work

    with (
        screen.err().status("measuring every kernel at every size") if sys.stderr.isatty() else contextlib.nullcontext()
    ):
        report = work.bench(quick, largest)
    if json:
        screen.print_json(report)
    else:
        work.show(report, screen.out())


@zero_app.command()
def calibrate(
    quick: Annotated[
        bool, typer.Option("--quick", help="A tenth of the time; more is left to memset, because intervals are wider.")
    ] = False,
    largest: Largest = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the table there, not where Memgraft looks for it.")
    ] = None,
    plots: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Write the pictures as one page: a .html file, or zeroing.html in a folder."),
    ] = None,
    json: Json = False,
) -> None:
    """Measure this machine, keep which kernel is best as a table for its CPU, and verify that table; some minutes."""
    from memgraft.kernels import calibrate as work

    page = work.page_for(output, plots)
    # Before the long work, which must not end at a package that is missing.
    from memgraft.report import zeroing_page

    with screen.err().status("starting") if sys.stderr.isatty() else contextlib.nullcontext() as status:
        found = work.calibrate(
            quick=quick, output=output, largest=largest, say=status.update if status else lambda _: None
        )
    if page is not None:
        with writing_to(page.parent):
            screen.write_file(page, zeroing_page.render(found))
    if json:
        screen.print_json(found.as_json())
    else:
        work.show(found, page, screen.out())


buffers_app.command()(scale)


def main() -> NoReturn:
    """The entry point: every way to fail ends in one line on standard error and the exit code that belongs to it."""
    # What is imported stays until the end, and the end frees everything by itself: Python would look through all of it
    # time and again, and once more when it ends, which takes a fifth of a short command's time.
    gc.freeze()
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        # A path need not be valid text, and a terminal need not know every letter.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    end_when_asked()
    try:
        # Nothing typed: the help says what can be.
        code = app(sys.argv[1:] or ["--help"], prog_name="memgraft", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except MemgraftError as error:
        screen.fail(error)
    except typer.TyperException as error:
        screen.fail(usage_error(error))
    except (typer.Abort, KeyboardInterrupt):
        screen.say("interrupted")
        raise SystemExit(130) from None
    except AskedToEnd as asked:
        screen.say(f"ended by {asked.name}")
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        screen.fail(WrongUsageError(f"{where}{error.strerror or error}; check the path, its permissions and the disk"))
    except Exception as error:  # noqa: BLE001  the last resort: nobody but a developer wants a traceback
        _report_own_mistake(error)


def _report_own_mistake(error: Exception) -> NoReturn:
    if os.environ.get(TRACEBACK_VARIABLE):
        traceback.print_exc()
    frame = traceback.extract_tb(error.__traceback__)[-1]
    screen.say(
        f"a mistake in Memgraft itself: {type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno}); "
        f"please report it with what {TRACEBACK_VARIABLE}=1 shows"
    )
    raise SystemExit(1)
