"""The options of `run` and `compare` that follow from the table of grafts."""

import functools
import inspect
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from memgraft.errors import WrongUsageError
from memgraft.grafts import table
from memgraft.grafts.declarations import Place, PowerOfTwo, Words
from memgraft.grafts.selection import select
from memgraft.words import listed


def graft_options(function: Callable[..., None]) -> Callable[..., None]:
    """Gives a command one option per graft and parameter of the table, and hands it what was chosen as `selection`."""

    @functools.wraps(function)
    def command(**arguments: Any) -> None:
        chosen = {graft.name: arguments.pop(graft.name) for graft in table.GRAFTS}
        values = {p.name: arguments.pop(_variable(p.name)) for graft in table.GRAFTS for p in graft.parameters}
        for graft in table.GRAFTS:
            for flag in graft.flags:
                if arguments.pop(_variable(flag.name)):
                    chosen[graft.name] = flag.added_to(chosen[graft.name])
        choices = {name: str(typed) for name, typed in chosen.items() if typed is not None}
        if not choices:
            raise WrongUsageError(f"no graft given: expected at least one of {table.usage()}")
        given = {name: value for name, value in values.items() if value is not None}
        function(selection=select(choices, given, arguments.get(table.AGAINST.name)), **arguments)

    def option(graft: table.Graft) -> inspect.Parameter:
        if graft.reads is not None:
            typed = Annotated[str | None, typer.Option(graft.option, metavar=graft.metavar, help=graft.help)]
            return inspect.Parameter(graft.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=typed)
        choices = StrEnum(graft.name, {choice.name: choice.name for choice in graft.offered})  # type: ignore[misc]
        explained = "; ".join(f"{choice.name}: {choice.help}" for choice in graft.offered)
        annotation = Annotated[choices | None, typer.Option(graft.option, help=f"{graft.help} {explained}.")]
        return inspect.Parameter(graft.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)

    def parameter_option(parameter: table.Parameter) -> inspect.Parameter:
        expected = f": {parameter.value.expected}" if isinstance(parameter.value, PowerOfTwo | Words) else ""
        default = f"; default: {parameter.default}" if parameter.default else ""
        beside = f" Only with --{parameter.beside[0]} {listed(parameter.beside[1], 'or')}." if parameter.beside else ""
        typed = typer.Option(
            parameter.option, metavar=parameter.metavar, help=f"{parameter.help}{expected}{default}.{beside}"
        )
        kind = Path if isinstance(parameter.value, Place) else str if isinstance(parameter.value, Words) else int
        return inspect.Parameter(
            _variable(parameter.name),
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[kind | None, typed],
        )

    def switch(flag: table.Flag) -> inspect.Parameter:
        typed = Annotated[bool, typer.Option(flag.option, help=f"{flag.help}.")]
        return inspect.Parameter(_variable(flag.name), inspect.Parameter.KEYWORD_ONLY, default=False, annotation=typed)

    hints = get_type_hints(function, include_extras=True)
    own = [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "selection"
    ]
    more = [parameter_option(parameter) for graft in table.GRAFTS for parameter in graft.parameters]
    switches = [switch(flag) for graft in table.GRAFTS for flag in graft.flags]
    parameters = [*(option(graft) for graft in table.GRAFTS), *more, *switches, *own]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _variable(name: str) -> str:
    return name.replace("-", "_")
