"""Keeps what follows from the declarations of the agent's options (memgraft/grafts/table.py) as they are.

agent_options.py          exit code 1 where a file says something else
agent_options.py --write  writes them: stocks/hotspot/options/declared.h and the table in docs/formats.md
"""

import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memgraft.grafts.declarations import AgentOption, Alone, Levels, PowerOfTwo, Words  # noqa: E402
from memgraft.grafts.table import AGENT_OPTIONS, GRAFTS, Graft, Parameter  # noqa: E402
from memgraft.words import listed  # noqa: E402

HEADER = ROOT / "stocks/hotspot/options/declared.h"
FORMATS = ROOT / "docs/formats.md"
BEGIN = "<!-- Made by `make options` of memgraft/grafts/table.py. -->\n"
END = "<!-- End of what `make options` makes. -->\n"

# --- the agent's header ----------------------------------------------------------------------------------------------


def header() -> str:
    """Formatted as the other sources are."""
    groups = [*((graft.name, graft.agent_options) for graft in GRAFTS), ("agent", AGENT_OPTIONS)]
    text = "".join(
        [
            "// All options of this agent. `make options` makes this file of the declarations in\n",
            "// memgraft/grafts/table.py, from which the command line's options come as well.\n",
            "#pragma once\n\n#include <array>\n#include <string_view>\n\n",
            '#include "options/declaration.h"\n\nnamespace memgraft::hotspot::declared {\n\n',
            *(_constants(option) for _, options in groups for option in options),
            *(_group(name, options) for name, options in groups),
            "}  // namespace memgraft::hotspot::declared\n",
        ]
    )
    formatter = [Path(sys.executable).with_name("clang-format"), f"--assume-filename={HEADER}"]
    return subprocess.run(formatter, input=text, capture_output=True, text=True, check=True).stdout


def _constants(option: AgentOption) -> str:
    name = _constant(option.name)
    alone = [".alone = true"] if isinstance(option.value, Alone) else []
    fields = [f'.key = "{option.name}"', *alone, f'.usage = "{option.usage}"', f'.expected = "{option.expected}"']
    spans, words, kinds = "", "{}", "{}"
    numbers: list[str] = []
    match option.value:
        case Words():
            spans = _words(f"{name}Words", (*option.value.names, *option.value.instruments))
            words = f"{name}Words"
        case Levels():
            spans = _words(f"{name}Words", option.value.words) + _words(f"{name}Kinds", option.value.kinds)
            words, kinds = f"{name}Words", f"{name}Kinds"
            numbers = [f".most = {option.value.most}U", f".multiple = {option.value.multiple}"]
        case PowerOfTwo():
            numbers = [f".least = {option.value.least}", f".most = {option.value.most}"]
    if isinstance(option.default, int):
        numbers.append(f".by_default = {option.default}")
    fields += [f".words = {words}", f".kinds = {kinds}", *numbers]
    return f"{spans}inline constexpr Declaration {name}{{{', '.join(fields)}}};\n\n"


def _words(name: str, words: Iterable[str]) -> str:
    texts = ", ".join(f'"{word}"' for word in words)
    return f"inline constexpr auto {name} = std::to_array<std::string_view>({{{texts}}});\n"


def _group(name: str, options: Iterable[AgentOption]) -> str:
    """The first one asks for the graft."""
    constants = ", ".join(_constant(option.name) for option in options)
    return f"inline constexpr std::array {_constant(f'{name}-options')}{{{constants}}};\n\n"


def _constant(name: str) -> str:
    return f"k{''.join(part.capitalize() for part in name.split('-'))}"


# --- the table of the formats ----------------------------------------------------------------------------------------


def table() -> str:
    rows = ["| key | value | meaning | source |\n", "| --- | --- | --- | --- |\n"]
    for graft in GRAFTS:
        own, *others = graft.agent_options
        needs = f" Needs {_code(' '.join(graft.jvm_options))}." if graft.jvm_options else ""
        rows.append(_row(own, needs))
        rows += [_row(other, f" Only with {_companions(graft, other)}.") for other in others]
    return "".join([*rows, *(_row(option) for option in AGENT_OPTIONS)])


def _row(option: AgentOption, more: str = "") -> str:
    default = _code(str(option.default)) if _is_value(option, option.default) else option.default
    value = f"{_value(option)}; default: {default}" if option.default else _value(option)
    return f"| {_code(option.name)} | {value} | {option.help}.{more} | {option.source} |\n"


def _value(option: AgentOption) -> str:
    match option.value:
        case Words():
            return ", ".join(map(_code, option.value.names)) + (
                f"; to measure with: {', '.join(map(_code, option.value.instruments))}"
                if option.value.instruments
                else ""
            )
        case Levels():
            return option.value.expected.replace(option.value.form, _code(option.value.form))
        case _:
            return option.value.expected


def _is_value(option: AgentOption, default: int | str) -> bool:
    return isinstance(default, int) or (isinstance(option.value, Words) and option.value.right(default))


def _companions(graft: Graft, option: AgentOption) -> str:
    """What the agent takes it together with."""
    if not isinstance(option, Parameter):
        return _code(graft.name)
    beside = f" and {_one_of(*option.beside)}" if option.beside else ""
    return (_one_of(graft.name, option.choices) if option.choices else _code(graft.name)) + beside


def _one_of(key: str, values: Sequence[str]) -> str:
    return f"{_code(key)} of {listed([_code(value) for value in values], 'or')}"


def _code(text: str) -> str:
    return f"`{text}`"


def formats() -> str:
    """The document with the table in it."""
    before, begin, rest = FORMATS.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        marks = f"{BEGIN.strip()} and {END.strip()}"
        raise SystemExit(f"{FORMATS.name}: expected the lines {marks}, between which the table stands")
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def main() -> int:
    wanted = {HEADER: header(), FORMATS: formats()}
    stale = [file for file, made in wanted.items() if not file.is_file() or file.read_text(encoding="utf-8") != made]
    if sys.argv[1:] == ["--write"]:
        for file in stale:
            file.write_text(wanted[file], encoding="utf-8")
        return 0
    for file in stale:
        print(f"{file.name} is not what memgraft/grafts/table.py declares: run `make options`")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
