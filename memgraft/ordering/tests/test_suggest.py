"""Which methods are suggested to be relaxed, of which samples."""

import json
from collections import Counter
from pathlib import Path

import pytest

from memgraft.errors import CannotTakeError
from memgraft.ordering import suggest

HASH = "java.util.HashMap.get(Ljava/lang/Object;)Ljava/lang/Object;"


def sample(owner: str, name: str, descriptor: str, how: str = "JIT compiled") -> dict[str, object]:
    frame = {"method": {"type": {"name": owner}, "name": name, "descriptor": descriptor}, "type": how}
    return {"type": "jdk.ExecutionSample", "values": {"stackTrace": {"frames": [frame]}}}


def jfr(folder: Path, printed: str) -> Path:
    """A JDK's home whose jfr prints this."""
    tool = folder / "bin/jfr"
    tool.parent.mkdir()
    (folder / "printed").write_text(printed)
    tool.write_text(f"#!/bin/sh\ncat {folder}/printed\n")
    tool.chmod(0o755)
    return folder


def test_methods_are_counted_where_they_run(tmp_path: Path) -> None:
    events = [
        *[sample("java/util/HashMap", "get", "(Ljava/lang/Object;)Ljava/lang/Object;")] * 3,
        *[sample("org.example.Main", "run", "()V", "Inlined")] * 6,
        sample("org.example.Main", "begin", "()V", "Interpreted"),
        sample("org.example.Main$$Lambda/0x1234", "apply", "()V"),
        {"type": "jdk.ExecutionSample", "values": {"stackTrace": None}},
    ]
    home = jfr(tmp_path, json.dumps({"recording": {"events": events}}))
    (tmp_path / "one.jfr").touch()
    found = suggest.suggestions(tmp_path, 2, [tmp_path / "no jdk", home])
    assert [(s.method, s.share, s.of_jdk) for s in found] == [
        ("org.example.Main.run()V", 0.6, False),
        (HASH, 0.3, True),
    ]
    assert suggest.suggestions(tmp_path, 1, [home]) == found[:1]


def test_lines_can_be_a_file_of_relaxed() -> None:
    found = suggest.hottest(Counter({HASH: 1, "a.B.<init>(I)V": 3}), 5)
    program, first, jdk, second = suggest.lines(found)
    assert program.startswith("# of the program")
    assert first == "a.B.<init>(I)V  # 75.0 %"
    assert jdk.startswith("# of the JDK")
    assert second == f"{HASH}  # 25.0 %"
    assert suggest.lines([]) == []


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CannotTakeError, match=r"found none: the JVM was killed"):
        suggest.suggestions(tmp_path, 1, [])
    (tmp_path / "one.jfr").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotTakeError, match="expected the tool jfr of a JDK"):
        suggest.suggestions(tmp_path, 1, [tmp_path])
    with pytest.raises(CannotTakeError, match=r"cannot read one\.jfr"):
        suggest.suggestions(tmp_path, 1, [jfr(tmp_path, "no JSON")])
