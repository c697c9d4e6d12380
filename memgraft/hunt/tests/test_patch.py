"""Patches: where `volatile` goes, in sources as people write them."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from memgraft.formats.ordering import Accessor
from memgraft.hunt.patch import Declared, is_field, patch
from memgraft.hunt.patch import _files as files_of
from memgraft.hunt.suspects import Suspect


def declared(file: Path, before: str) -> Declared:
    """At the text before which it stands."""
    text = file.read_bytes().decode("utf-8")
    # As javac counts.
    offset = len(text[: text.index(before)].encode("utf-16-le")) // 2
    return Declared("a.A.f", file, offset, 1, ("f",))


@pytest.mark.parametrize(
    "source",
    [
        "class A {\n  int f;\n}\n",
        "class A {\r\n  int f;\r\n}\r\n",
        "class A { int f; }",
        "class A { /* \U0001f600 \u2028 \x0c */ int f; }\n",
    ],
)
def test_a_patch_applies(source: str, tmp_path: Path) -> None:
    file = tmp_path / "A.java"
    file.write_bytes(source.encode("utf-8"))
    made = patch([declared(file, "int f")])
    done = subprocess.run(["patch", "-p0", "--binary"], cwd="/", input=made.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode() + made
    assert file.read_bytes().decode("utf-8") == source.replace("int f", "volatile int f")


def test_two_fields_of_one_declaration_are_patched_once(tmp_path: Path) -> None:
    file = tmp_path / "A.java"
    file.write_text("class A {\n  int f, g;\n  long h;\n}\n")
    made = patch([declared(file, "int f"), declared(file, "int f"), declared(file, "long h")])
    assert made.count("+  volatile") == 2
    assert "+  volatile int f, g;\n" in made
    assert "+  volatile long h;\n" in made


def test_what_is_volatile_already_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "A.java"
    file.write_text("class A {\n  volatile int f;\n  int g;\n}\n")
    mended = replace(declared(file, "int f"), modifier="volatile")
    made = patch([mended, declared(file, "int g")])
    assert "volatile volatile" not in made
    assert "+  volatile int g;\n" in made


def test_nothing_to_patch() -> None:
    assert patch([]) == ""


@pytest.mark.parametrize(("name", "field"), [("a.A.f", True), ("a.A.f[]", False), ("a.A.f()", False), ("a.A.*", False)])
def test_what_a_declaration_can_make_volatile(name: str, field: bool) -> None:
    assert is_field(name) is field


def test_a_class_may_be_in_a_file_of_another_name(tmp_path: Path) -> None:
    """Stack frames tell."""
    folder = tmp_path / "org/example"
    folder.mkdir(parents=True)
    for name in ("Server.java", "Helper.java", "Other.java"):
        (folder / name).touch()
    frames = [
        "app//org.example.Helper$Inner.run(Server.java:7)",
        "org.example.HelperOther.run(Other.java:9)",
        "java.base/java.lang.Thread.run(Thread.java:840)",
    ]
    one = Accessor(thread="one", id=1, order=1, times=1, stack=frames)
    suspect = Suspect("org.example.Helper$Inner.f", loads=[one])
    assert list(files_of(suspect, [tmp_path / "none", tmp_path])) == [folder / "Helper.java", folder / "Server.java"]


def test_a_class_without_a_package(tmp_path: Path) -> None:
    (tmp_path / "Main.java").touch()
    assert list(files_of(Suspect("Main.f"), [tmp_path])) == [tmp_path / "Main.java"]
