"""Counts fences, and the accesses they belong to, in AArch64 machine code: in what JVM TI's CompiledMethodLoad reports.

The categories are those of table 4.1 of the dissertation (volatile-by-default on AArch64: a load is `ldr; dmb ishld`, a
store is `str; dmb ish`), and what HotSpot uses in their place. Capstone decodes; code that it cannot decode counts as
such, because constants lie between functions.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import capstone
from capstone import arm64

INSTRUCTION_BYTES = 4
# What a method's own frame and HotSpot's thread structure are reached by (rthread, cpu/aarch64/register_aarch64.hpp):
# no other Java thread sees what is stored there. Not x29, the frame pointer, which C2 uses for anything.
PRIVATE_BASES = ("sp", "x28")


class Kind(Enum):
    """What an instruction is to the order of memory accesses."""

    DMB_ISH = "dmb ish"
    DMB_ISHLD = "dmb ishld"
    DMB_ISHST = "dmb ishst"
    OTHER_BARRIER = "other barrier"
    LDAR = "ldar"  # sequentially consistent acquire
    LDAPR = "ldapr"  # processor consistent acquire
    STLR = "stlr"
    LDAXR = "ldaxr"
    STLXR = "stlxr"
    ATOMIC_ACQUIRE_RELEASE = "casal, swpal, ldaddal, ..."
    ATOMIC = "another atomic"
    LOAD = "load"
    STORE = "store"
    BRANCH = "branch"
    OTHER = "other"
    UNKNOWN = "unknown"

    @property
    def ends_search(self) -> bool:
        """Whether a fence that comes after it cannot be that of an access before it."""
        return self not in {Kind.OTHER, Kind.UNKNOWN}


@dataclass(frozen=True)
class Found:
    """One instruction."""

    offset: int
    kind: Kind
    text: str
    base: str  # the register an access is relative to; empty for others

    @property
    def private(self) -> bool:
        return self.base in PRIVATE_BASES


FENCES = {Kind.DMB_ISH, Kind.DMB_ISHLD, Kind.DMB_ISHST}
DMB = {
    arm64.ARM64_BARRIER_ISH: Kind.DMB_ISH,
    arm64.ARM64_BARRIER_ISHLD: Kind.DMB_ISHLD,
    arm64.ARM64_BARRIER_ISHST: Kind.DMB_ISHST,
}
# By how the mnemonic begins; the first that fits counts. ldapur and stlur are the forms with an offset.
PREFIXES = (
    (("ldaxr", "ldaxp"), Kind.LDAXR),
    (("stlxr", "stlxp"), Kind.STLXR),
    (("ldapr", "ldapur"), Kind.LDAPR),
    (("ldar", "ldlar"), Kind.LDAR),
    (("stlr", "stlur", "stllr"), Kind.STLR),
)
ATOMICS = ("cas", "swp", "ldadd", "ldclr", "ldeor", "ldset", "ldsmax", "ldsmin", "ldumax", "ldumin")
PLAIN = (
    (("ldr", "ldur", "ldp", "ldnp", "ldxr", "ldxp"), Kind.LOAD),
    (("str", "stur", "stp", "stnp", "stxr", "stxp"), Kind.STORE),
)


def instructions(code: bytes) -> Iterator[Found]:
    decoder = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)
    decoder.detail = True
    for offset in range(0, len(code) - INSTRUCTION_BYTES + 1, INSTRUCTION_BYTES):
        decoded = next(decoder.disasm(code[offset : offset + INSTRUCTION_BYTES], offset, 1), None)
        if decoded is None:
            yield Found(offset, Kind.UNKNOWN, code[offset : offset + INSTRUCTION_BYTES].hex(), "")
            continue
        memory = [operand.mem.base for operand in decoded.operands if operand.type == arm64.ARM64_OP_MEM]
        base = decoded.reg_name(memory[0]) if memory else ""
        yield Found(offset, _kind(decoded, bool(memory)), f"{decoded.mnemonic} {decoded.op_str}".strip(), base)


def count(code: bytes) -> Counter[Kind]:
    return Counter(found.kind for found in instructions(code))


def not_volatile_by_default(code: bytes) -> list[Found]:
    """The plain loads and stores of shared memory that are not fenced as the last two rows of table 4.1 ask.

    Between an access and its fence there may be what works on registers (a reference is decoded), nothing else.
    """
    found = list(instructions(code))
    return [
        access
        for at, access in enumerate(found)
        if access.kind in {Kind.LOAD, Kind.STORE}
        and not access.private
        and _fence_after(found[at + 1 :])
        not in ({Kind.DMB_ISH} if access.kind is Kind.STORE else {Kind.DMB_ISH, Kind.DMB_ISHLD})
    ]


def _fence_after(rest: list[Found]) -> Kind | None:
    following = next((found.kind for found in rest if found.kind.ends_search), None)
    return following if following in FENCES else None


def _kind(decoded: capstone.CsInsn, reaches_memory: bool) -> Kind:
    name: str = decoded.mnemonic
    if name == "dmb":
        return DMB.get(decoded.operands[0].barrier, Kind.OTHER_BARRIER)
    if name in {"dsb", "isb"}:
        return Kind.OTHER_BARRIER
    if any(decoded.group(group) for group in (capstone.CS_GRP_JUMP, capstone.CS_GRP_CALL, capstone.CS_GRP_RET)):
        return Kind.BRANCH
    # What reaches no memory may load a constant from beside the code.
    return _access_kind(name) if reaches_memory else Kind.OTHER


def _access_kind(name: str) -> Kind:
    if name.startswith(ATOMICS):
        # The size, of bytes and halves, follows the order: casalb, swpalh.
        operation = next(prefix for prefix in ATOMICS if name.startswith(prefix))
        order = name.removeprefix(operation).removeprefix("p").rstrip("bh")
        return Kind.ATOMIC_ACQUIRE_RELEASE if order == "al" else Kind.ATOMIC
    return next((kind for prefixes, kind in PREFIXES + PLAIN if name.startswith(prefixes)), Kind.OTHER)


# --- What HotSpot prints of code (-XX:CompileCommand=print) when it has no disassembler: words in hexadecimal ---

_METHOD = re.compile(r"^Compiled method \((?:c1|c2)\).*?\s([\w.$]+::[\w$<>]+)(?: @ \d+)? \(\d+ bytes\)")
_TEMPLATE = re.compile(r"^(\w+)  \d+ \w+  \[0x[0-9a-f]+, 0x[0-9a-f]+\]")
_WORDS = re.compile(r"^  0x[0-9a-f]+: ((?:[0-9a-f]{4} [0-9a-f]{4}(?: \| )?)+)\s*$")
# How the interpreter reaches what is the thread's own, or never changes: the expression stack, the table of templates,
# the bytecode, local variables (cpu/aarch64/register_aarch64.hpp).
_INTERPRETERS_BASES = ("x20", "x21", "x22", "x24")


def printed(output: str) -> dict[str, bytes]:
    """The code of each method, `Class::method`, up to its stubs; of one that was compiled again, the last."""
    return _printed(output, _METHOD)


def templates(output: str) -> dict[str, bytes]:
    """The interpreter's code of each bytecode (-XX:+PrintInterpreter)."""
    return _printed(output, _TEMPLATE)


def _printed(output: str, head: re.Pattern[str]) -> dict[str, bytes]:
    codes: dict[str, bytes] = {}
    name, inside = "", False
    for line in output.splitlines():
        if named := head.match(line):
            name = named[1]
            codes[name] = b""
        elif line.startswith("[MachCode]"):
            inside = bool(name)
        elif line.startswith(("[Exception Handler]", "[Stub Code]", "[/MachCode]")):
            name, inside = "", False
        elif inside and (words := _WORDS.match(line)):
            codes[name] += bytes.fromhex(words[1].replace("|", "").replace(" ", ""))
    return codes


def around_accesses(template: bytes) -> list[tuple[str, str, str]]:
    """Of each field or element that a template of the interpreter accesses, what comes before and after it.

    Their address is made of two registers, as no other is but that of a card mark, which stores a byte of zeros.
    """
    found = [
        one
        for one in instructions(template)
        if one.kind not in {Kind.OTHER, Kind.UNKNOWN, Kind.BRANCH}
        and not one.private
        and one.base not in _INTERPRETERS_BASES
        and not one.text.startswith("strb wzr")
    ]
    kinds = ["", *[one.kind.value for one in found], ""]
    accesses = {Kind.LOAD, Kind.STORE}
    return [
        (kinds[at], kinds[at + 1], kinds[at + 2])
        for at, one in enumerate(found)
        if one.kind in accesses and re.search(r"\[x\d+, [xw]\d+", one.text)
    ]


def shared_accesses(code: bytes) -> list[str]:
    """The accesses that another thread may see, and the fences, in the order of the code."""
    ignored = {Kind.OTHER, Kind.UNKNOWN, Kind.BRANCH}
    found = list(instructions(code))
    return [
        one.kind.value
        for before, one in zip([None, *found], found, strict=False)
        if one.kind not in ignored and not one.private and not _touches_stack(before, one)
    ]


def _touches_stack(before: Found | None, access: Found) -> bool:
    """Far below the stack pointer, so that an overflow is noticed at a method's start."""
    return before is not None and before.text.startswith(f"sub {access.base}, sp, ")
