"""What was chosen of the grafts, read once: from here on everybody asks the Selection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memgraft.errors import WrongUsageError
from memgraft.grafts import buffers, table
from memgraft.grafts.declarations import Place
from memgraft.grafts.table import BYTECODE, ENGINE, ONLY, ORDERING, SEED, Choice, Graft, Parameter


@dataclass(frozen=True)
class Given:
    """A parameter and its value."""

    parameter: Parameter
    text: str


@dataclass(frozen=True)
class Chosen:
    """What was chosen of one graft."""

    graft: Graft
    choice: Choice
    values: tuple[Given, ...] = ()

    @property
    def agent_options(self) -> list[str]:
        """As the agent is told (docs/formats.md, section 1)."""
        told = [value.parameter.told(value.text) for value in self.values if value.parameter.agent]
        return [f"{self.graft.name}={self.choice.agent or self.choice.name}", *told]

    def __str__(self) -> str:
        """`windows zeroing (window 65536)`."""
        values = ", ".join(f"{value.parameter.name} {value.text}" for value in self.values)
        return f"{self.choice.name} {self.graft.name}{f' ({values})' if values else ''}"


@dataclass(frozen=True)
class Selection:
    """What was chosen of each graft, in the order of the table; a graft that was not named is not in it."""

    chosen: tuple[Chosen, ...] = ()
    against: str | None = None
    """Of epochs: the choice that the graft switches to and fro with."""

    @property
    def joining(self) -> "Selection":
        """The part for which something has to join the runtime: the choices that do, with the values they take."""
        return replace(
            self,
            chosen=tuple(
                replace(one, values=tuple(value for value in one.values if self._takes(one, value.parameter)))
                for one in self.chosen
                if one.choice.joins
            ),
        )

    def _takes(self, one: Chosen, parameter: Parameter) -> bool:
        return parameter.taken_by(one.graft, {one.choice.name, self.against})

    def joins(self, *names: str) -> bool:
        """Whether one of the grafts of these names joins the runtime; without names: any."""
        return any(one.choice.joins for one in self.chosen if not names or one.graft.name in names)

    @property
    def decides(self) -> bool:
        """Whether something of it chooses by itself after each collection."""
        return any(one.choice.decides for one in self.chosen)

    @property
    def stock(self) -> "Selection":
        """The same grafts, left to the runtime."""
        return Selection(tuple(Chosen(one.graft, one.graft.stock) for one in self.chosen))

    def value(self, parameter: str) -> str | None:
        """What was given for the parameter of that name."""
        given = (value for one in self.chosen for value in one.values)
        return next((value.text for value in given if value.parameter.name == parameter), None)

    @property
    def by_bytecode(self) -> bool:
        """Whether classes are rewritten, in any JVM, instead of HotSpot's joints being used."""
        asked = self.joining.value(table.ENGINE) == table.BYTECODE
        return asked or any(one.choice.by_bytecode for one in self.joining.chosen)

    @property
    def jvm_options(self) -> list[str]:
        """What the JVM must be started with, apart from the agent."""
        if self.by_bytecode:
            return list(table.BYTECODE_JVM_OPTIONS)
        joined = self.joining.chosen
        options = [option for one in joined for option in (*one.graft.jvm_options, *one.choice.jvm_options)]
        return list(dict.fromkeys(options))

    @property
    def agent_options(self) -> list[str]:
        """What the agent is told of the grafts that join (docs/formats.md, section 1)."""
        options = [option for one in self.joining.chosen for option in one.agent_options]
        return [*options, table.AGAINST.told(self.against)] if self.against and options else options

    def other_side(self, name: str) -> "Selection":
        """The selection with the choice `name` in place of the one made, for the other side of a comparison."""
        for at, one in enumerate(self.chosen):
            free = one.graft.reads is not None and ("=" in name or name == buffers.AUTO)
            if free or name in {choice.name for choice in one.graft.offered}:
                other = replace(one, choice=one.graft.choice(name))
                chosen = (*self.chosen[:at], other, *self.chosen[at + 1 :])
                _go_together(chosen)
                return replace(self, chosen=chosen)
        possible = [
            name
            for one in self.chosen
            for name in ([one.graft.metavar] if one.graft.reads else [choice.name for choice in one.graft.offered])
        ]
        raise WrongUsageError(f"--against {name}: expected one of {', '.join(possible)}")

    @property
    def label(self) -> str:
        """In a word: `non-temporal`."""
        return " and ".join(one.choice.name for one in self.chosen)

    def __str__(self) -> str:
        """In words: `non-temporal zeroing`, `windows zeroing (window 65536)`."""
        joining = {one.graft.name: one for one in self.joining.chosen}
        return " and ".join(str(joining.get(one.graft.name, replace(one, values=()))) for one in self.chosen)

    def as_json(self) -> dict[str, str]:
        """By name: the choices, then the values given for parameters."""
        values = {value.parameter.name: value.text for one in self.chosen for value in one.values}
        return {one.graft.name: one.choice.name for one in self.chosen} | values


def select(
    choices: Mapping[str, str], values: Mapping[str, int | str | Path] | None = None, against: str | None = None
) -> Selection:
    """The choices of grafts and the values of parameters, by their names, read.

    WrongUsageError where a value is wrong, or where nothing that was chosen takes it, nor the choice `against` of the
    other side of a comparison.
    """
    given = values or {}
    chosen = [
        # What is typed freely in its plainest form, so that the same design has the same name everywhere.
        Chosen(graft, graft.choice(choices[graft.name]))
        for graft in table.GRAFTS
        if graft.name in choices
    ]
    _go_together(chosen)
    names = {one.graft.name: one.choice.name for one in chosen}
    read: dict[str, list[Given]] = {}
    for graft in table.GRAFTS:
        for parameter in graft.parameters:
            if parameter.name in given:
                value = _read(graft, parameter, given[parameter.name], names, against)
                read.setdefault(graft.name, []).append(value)
    made = Selection(tuple(replace(one, values=tuple(read.get(one.graft.name, ()))) for one in chosen), None)
    if made.by_bytecode:
        _alone(made)
    elif only := made.value(ONLY.name):
        raise WrongUsageError(f"{ONLY.option} {only}: expected it together with --{ENGINE} {BYTECODE}")
    return made


def _go_together(chosen: Sequence[Chosen]) -> None:
    """WrongUsageError where one of them cannot join beside another."""
    for one in chosen:
        for other in chosen:
            if other.choice.joins and other.graft.name in one.choice.without:
                raise WrongUsageError(
                    f"{one.graft.option} {one.choice.name}: expected no {other.graft.option}, or "
                    f"{other.graft.option} {other.graft.stock.name}: {one.choice.why_without}; found "
                    f"{other.graft.option} {other.choice.name}"
                )


def _alone(selection: Selection) -> None:
    """WrongUsageError where something beside the engine bytecode needs HotSpot's joints."""
    found = [f"{one.graft.option} {one.choice.name}" for one in selection.joining.chosen if one.graft.name != ORDERING]
    values = [value for one in selection.joining.chosen for value in one.values]
    found += [
        f"{value.parameter.option} {value.text}"
        for value in values
        if value.parameter.name not in {ENGINE, ONLY.name, SEED.name}
    ]
    if found:
        raise WrongUsageError(
            f"--{ENGINE} {BYTECODE}: expected nothing beside it that joins HotSpot itself; found {' and '.join(found)}"
        )


def _read(
    graft: Graft, parameter: Parameter, value: int | str | Path, names: Mapping[str, str], against: str | None
) -> Given:
    parameter.check(value)
    if not parameter.taken_by(graft, {names.get(graft.name), against}):
        offered = {choice.name for choice in graft.offered}
        expected = " or ".join(name for name in parameter.choices if name in offered) or graft.metavar
        raise WrongUsageError(
            f"{parameter.option} {value}: {graft.option} {names.get(graft.name) or 'left out'} has no "
            f"{parameter.name}; expected {graft.option} {expected}, or no {parameter.option}"
        )
    if parameter.beside is not None and names.get(parameter.beside[0]) not in parameter.beside[1]:
        other, possible = parameter.beside
        raise WrongUsageError(
            f"{parameter.option} {value}: expected it together with --{other} {', '.join(possible)}; found "
            f"{names.get(other) or f'no --{other}'}"
        )
    return Given(parameter, str(Path(str(value)).absolute()) if isinstance(parameter.value, Place) else str(value))
