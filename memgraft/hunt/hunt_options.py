"""The options of `memgraft hunt`."""

import re
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from memgraft import screen
from memgraft.errors import WrongUsageError, writing_to
from memgraft.jvm.launch import Via
from memgraft.words import seconds_in


def hunt(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="What fails sometimes; it has to start java.", show_default=False),
    ] = None,
    fails_when: Annotated[
        str | None,
        typer.Option(metavar="REGEX", help="A launch that prints something like this has failed, however it ends."),
    ] = None,
    hang: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="A launch that runs longer has failed, and is ended; default: 60s at first, then ten times as long as "
            "launches take that pass.",
        ),
    ] = None,
    any_exit_code: Annotated[
        bool, typer.Option("--any-exit-code", help="An exit code other than 0 is no failure.")
    ] = False,
    time: Annotated[str, typer.Option(metavar="TIME", help="How long the hunt may take.")] = "10m",
    weak: Annotated[
        bool,
        typer.Option(
            "--weak",
            help="Let loads get old values, as far as the Java memory model allows, so that failures show that this "
            "machine seldom shows or never.",
        ),
    ] = False,
    provoke: Annotated[
        bool,
        typer.Option(
            "--provoke/--no-provoke",
            help="Where it fails seldom: try whether it fails more often if C2 orders instructions otherwise, if "
            "methods are compiled at once, or beside other work.",
        ),
    ] = True,
    sources: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="A folder of Java sources, for a patch; several: several times."),
    ] = None,
    via: Annotated[
        Via, typer.Option(help="The environment variable that carries the agent to the JVM, as `run` has it.")
    ] = Via.AUTO,
    output: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A new folder for what is found, and for what launches printed that failed."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="With --output: go on with the hunt in that folder.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON, and nothing else, on standard output.")
    ] = False,
) -> None:
    """Find the field that lacks `volatile`, of a program that fails sometimes.

    COMMAND is launched again and again: as it is, with all its memory accesses in order, and then with fewer and fewer
    of them in order, until it is known which ones make the failure vanish. The program itself is not changed.
    """
    from memgraft.experiment.compare import default_output
    from memgraft.hunt import files, show
    from memgraft.hunt import hunt as work
    from memgraft.hunt.trials import Count, Launched, Symptom, resumable

    if resume and output is None:
        raise WrongUsageError("--resume: expected it together with --output DIR, the folder of the hunt to go on with")
    for source in sources or []:
        if not source.is_dir():
            raise WrongUsageError(f"--sources {source}: expected a folder of Java sources, with one for each package")
    symptom = Symptom(
        seconds_in("--hang", hang) if hang else work.HANG_SECONDS,
        _pattern(fails_when) if fails_when else None,
        exit_code_counts=not any_exit_code,
    )
    folder = output or default_output(datetime.now().astimezone(), "hunt")
    asked = work.Asked(
        command or [],
        via,
        symptom,
        seconds_in("--time", time),
        folder,
        resume=resume,
        weak=weak,
        hang_fixed=hang is not None,
        sources=sources or [],
        provoke=provoke,
    )
    with writing_to(folder), screen.progress() as bar:
        task = bar.add_task("starting", total=None)

        def launched(launch: Launched, count: Count) -> None:
            words = f"{launch.setting.kind}: {count.failures} of {count.launches} failed"
            bar.update(task, advance=1, description=words)

        def say(line: str) -> None:
            bar.console.print(f"memgraft: {line}", soft_wrap=True, markup=False, highlight=False)

        # Whose folder can be resumed from here on.
        begun = work.Hunt(asked, say, launched)
        with resumable(folder):
            finding = begun.run()
            page = files.write(finding, folder, asked.sources)
    if json:
        screen.print_json(finding.as_json())
    else:
        show.show(finding, screen.out())
        screen.say(f"the page with every launch: {page}")


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise WrongUsageError(f"--fails-when {text}: expected a regular expression; {error}") from None
