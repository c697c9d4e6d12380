"""The counting of fences in AArch64 code, on encodings from the Arm ARM and on what the cross assembler makes."""

import shutil
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("capstone", reason="no Capstone: setup/python development installs it")

from aarch64_fences import Kind, count, instructions, not_volatile_by_default

# Encodings of the Arm Architecture Reference Manual (DDI 0487), C6.2.
LDR = 0xB9400C20  # ldr w0, [x1, #12]
STR = 0xB9000C20  # str w0, [x1, #12]
LDR_OWN = 0xF9400BE0  # ldr x0, [sp, #16]
STR_THREAD = 0xF9008380  # str x0, [x28, #256]
LDR_LITERAL = 0x58000040  # ldr x0, #8
ADD = 0x8B020020  # add x0, x1, x2
ISH, ISHLD, ISHST = 0xD5033BBF, 0xD50339BF, 0xD5033ABF
DSB_SY = 0xD5033F9F
RET = 0xD65F03C0
CONSTANT = 0xFFFFFFFF  # no instruction


def code(*words: int) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def test_fences_and_plain_accesses_are_counted() -> None:
    assert count(code(LDR, ISHLD, STR, ISH, ISHST, DSB_SY, ADD, RET)) == Counter(
        [
            *[Kind.LOAD, Kind.DMB_ISHLD, Kind.STORE, Kind.DMB_ISH, Kind.DMB_ISHST],
            *[Kind.OTHER_BARRIER, Kind.OTHER, Kind.BRANCH],
        ]
    )


def test_what_is_no_instruction_is_said_to_be_unknown() -> None:
    assert count(code(CONSTANT, ISH)) == Counter([Kind.UNKNOWN, Kind.DMB_ISH])


def test_bytes_after_the_last_whole_instruction_are_left_out() -> None:
    assert count(code(ISH) + b"\xbf\x3b") == Counter([Kind.DMB_ISH])


def test_the_optimised_rows_of_the_table() -> None:
    assert not_volatile_by_default(code(LDR, ISHLD, STR, ISH)) == []
    # A reference is decoded before its fence, which may be a full one.
    assert not_volatile_by_default(code(LDR, ADD, ISH)) == []


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ((LDR, RET), LDR),
        ((LDR, ISHST), LDR),
        ((LDR, STR, ISH), LDR),
        ((LDR, RET, ISHLD), LDR),
        ((STR, RET), STR),
        ((ISH, STR), STR),
        ((STR, ISHST), STR),
        ((STR, ISHLD), STR),
    ],
)
def test_an_access_without_its_fence_is_found(words: tuple[int, ...], wrong: int) -> None:
    assert [found.offset for found in not_volatile_by_default(code(*words))] == [4 * words.index(wrong)]


def test_what_no_other_thread_sees_needs_no_fence() -> None:
    assert not_volatile_by_default(code(LDR_OWN, STR_THREAD, LDR_LITERAL, RET)) == []
    assert count(code(LDR_LITERAL)) == Counter([Kind.OTHER])


ASSEMBLY = {
    "ldar w0, [x1]": Kind.LDAR,
    "ldarb w0, [x1]": Kind.LDAR,
    "ldapr x0, [x1]": Kind.LDAPR,
    "ldapurh w0, [x1, #2]": Kind.LDAPR,
    "stlr x0, [x1]": Kind.STLR,
    "stlrh w0, [x1]": Kind.STLR,
    "stlurb w0, [x1, #3]": Kind.STLR,
    "ldaxr x0, [x1]": Kind.LDAXR,
    "stlxr w2, x0, [x1]": Kind.STLXR,
    "casal w0, w2, [x1]": Kind.ATOMIC_ACQUIRE_RELEASE,
    "casalb w0, w2, [x1]": Kind.ATOMIC_ACQUIRE_RELEASE,
    "caspal x0, x1, x2, x3, [x4]": Kind.ATOMIC_ACQUIRE_RELEASE,
    "swpal x0, x2, [x1]": Kind.ATOMIC_ACQUIRE_RELEASE,
    "ldaddalh w0, w2, [x1]": Kind.ATOMIC_ACQUIRE_RELEASE,
    "cas w0, w2, [x1]": Kind.ATOMIC,
    "casl w0, w2, [x1]": Kind.ATOMIC,
    "swpa x0, x2, [x1]": Kind.ATOMIC,
    "ldaddb w0, w2, [x1]": Kind.ATOMIC,
    "ldxr x0, [x1]": Kind.LOAD,
    "stxr w2, x0, [x1]": Kind.STORE,
    "ldrsb w0, [x1, x2]": Kind.LOAD,
    "ldr d0, [x1, x2, lsl #3]": Kind.LOAD,
    "ldur x0, [x1, #-8]": Kind.LOAD,
    "ldp x0, x2, [x1], #16": Kind.LOAD,
    "strb w0, [x1, #1]!": Kind.STORE,
    "stp q0, q1, [x1]": Kind.STORE,
    "dmb sy": Kind.OTHER_BARRIER,
    "isb": Kind.OTHER_BARRIER,
    "adrp x0, .": Kind.OTHER,
    "cbz x0, .": Kind.BRANCH,
    "bl .": Kind.BRANCH,
    "br x0": Kind.BRANCH,
    "prfm pldl1keep, [x1]": Kind.OTHER,
}


def test_every_form_that_the_assembler_makes(tmp_path: Path) -> None:
    assembler, copy = "aarch64-linux-gnu-as", "aarch64-linux-gnu-objcopy"
    if shutil.which(assembler) is None:
        pytest.skip(f"no {assembler}: package binutils-aarch64-linux-gnu (setup/packages test)")
    source = tmp_path / "forms.s"
    source.write_text("".join(f"{line}\n" for line in ASSEMBLY))
    assembled, plain = tmp_path / "forms.o", tmp_path / "forms.bin"
    subprocess.run([assembler, "-march=armv8.4-a", "-o", assembled, source], check=True)
    subprocess.run([copy, "-O", "binary", "--only-section=.text", assembled, plain], check=True)
    found = list(instructions(plain.read_bytes()))
    assert dict(zip(ASSEMBLY, (one.kind for one in found), strict=True)) == ASSEMBLY
