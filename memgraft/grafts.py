"""Every graft, declared once: its option, its choices, and what a JVM needs to take it.

The options of `run` and `compare`, their help and completion, the JVM options, the agent options and the checks of
`doctor` all follow from the table GRAFTS.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """One value of a graft's option."""

    name: str
    help: str
    joins: bool = True
    """False: the runtime already does this by itself, so nothing is loaded and nothing is set."""


@dataclass(frozen=True)
class Graft:
    """One family of designs; its option is `--NAME` and its agent option `NAME=CHOICE`."""

    name: str
    help: str
    choices: tuple[Choice, ...]
    jvm_options: tuple[str, ...]
    """What HotSpot must be started with for the joint to be there."""

    @property
    def option(self) -> str:
        return f"--{self.name}"

    def choice(self, name: str) -> Choice:
        return next(choice for choice in self.choices if choice.name == name)


GRAFTS = (
    Graft(
        name="zeroing",
        help="How fresh heap memory becomes zero.",
        choices=(
            Choice("hot-path", "the stock's own: compiled code zeroes each object as it allocates", joins=False),
            Choice("bulk", "a whole TLAB at once, with ordinary stores, when a thread gets it"),
            Choice("non-temporal", "a whole TLAB at once, with stores that bypass the caches"),
        ),
        # Makes HotSpot hand out TLABs that are zeroed as a whole and lets compiled code rely on it (JDK 9 to 25).
        jvm_options=("-XX:+ZeroTLAB",),
    ),
)

Selection = Mapping[str, str]
"""Graft name to the choice made on the command line; a graft that was not named is absent."""


def usage() -> str:
    """The options as they are typed, for messages: `--zeroing hot-path|bulk|non-temporal`."""
    return ", ".join(f"{g.option} {'|'.join(c.name for c in g.choices)}" for g in GRAFTS)


def joining(selection: Selection) -> dict[str, str]:
    """The part of the selection for which something has to join the runtime."""
    return {g.name: selection[g.name] for g in GRAFTS if g.name in selection and g.choice(selection[g.name]).joins}


def jvm_options(selection: Selection) -> list[str]:
    """What the JVM must be started with for this selection, apart from the agent."""
    joined = joining(selection)
    return list(dict.fromkeys(option for g in GRAFTS if g.name in joined for option in g.jvm_options))


def agent_options(selection: Selection) -> list[str]:
    """`KEY=VALUE` for each graft that joins (docs/formats.md, format 1)."""
    return [f"{name}={choice}" for name, choice in joining(selection).items()]


def describe(selection: Selection) -> str:
    """In words: `non-temporal zeroing`."""
    return " and ".join(f"{selection[g.name]} {g.name}" for g in GRAFTS if g.name in selection)
