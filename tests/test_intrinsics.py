"""Every intrinsic that HotSpot has is answered for in docs/intrinsics.md, and what is switched off there is."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest
from conftest import EACH_VERSION, ROOT, Jdk, jdk_called, memgraft

# HotSpot has the names one behind the other, each ended by a zero (classfile/vmIntrinsics.cpp); the first two:
FIRST = b"_hashCode\0_getClass\0"
NAME = re.compile(rb"(_[A-Za-z0-9_]+)\0")
OFF = "_encodeISOArray"


def intrinsics(jdk: Jdk) -> list[str]:
    """HotSpot's own list."""
    libjvm = (jdk.home / "lib/server/libjvm.so").read_bytes()
    assert libjvm.count(FIRST) == 1
    at = libjvm.index(FIRST)
    names = []
    while name := NAME.match(libjvm, at):
        names.append(name[1].decode())
        at = name.end()
    return names


def expanded(pattern: str) -> Iterator[str]:
    """Of `_{get,put}Int` both."""
    parts = [part.split(",") for part in re.split(r"[{}]", pattern)]
    return map("".join, product(*parts))


def documented_rows() -> list[list[str]]:
    rows = re.findall(r"^\| (`_.*?`) \|", (ROOT / "docs/intrinsics.md").read_text(), re.MULTILINE)
    return [[name for pattern in re.findall(r"`(.*?)`", row) for name in expanded(pattern)] for row in rows]


@pytest.mark.parametrize("jdk", EACH_VERSION)
def test_each_is_in_one_row(jdk: str) -> None:
    names = intrinsics(jdk_called(jdk))
    assert len(names) > 300
    rows = Counter(name for row in documented_rows() for name in row)
    assert {name: rows[name] for name in names if rows[name] != 1} == {}


def test_each_documented_one_is_there() -> None:
    there = {name for jdk in EACH_VERSION for name in intrinsics(jdk_called(jdk))}
    assert [name for row in documented_rows() for name in row if name not in there] == []


@pytest.mark.parametrize("jdk", EACH_VERSION)
def test_those_said_to_be_switched_off_are(jdk: str) -> None:
    flags = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+PrintFlagsFinal"]
    result = memgraft("run", "--ordering", "sc", "--", jdk_called(jdk).java, *flags, "-version")
    assert result.returncode == 0, result.stderr
    [off] = re.findall(r"^ *ccstrlist +DisableIntrinsic += +(\S+)", result.stdout, re.MULTILINE)
    [said] = [row for row in documented_rows() if OFF in row]
    assert sorted(off.split(",")) == sorted(said)
