"""checks/agent_options.py: a file that says something else than the declarations is found; nothing is lost in it."""

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """On copies of what it writes."""
    spec = importlib.util.spec_from_file_location("agent_options", ROOT / "checks/agent_options.py")
    assert spec
    assert spec.loader
    made: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    for name in ("HEADER", "FORMATS"):
        copy = tmp_path / getattr(made, name).name
        shutil.copy(getattr(made, name), copy)
        setattr(made, name, copy)
    # Beside the header, so that the formatter knows the style.
    shutil.copy(ROOT / ".clang-format", tmp_path)
    monkeypatch.setattr("sys.argv", ["agent_options.py"])
    return made


def test_both_are_as_declared(check: Any) -> None:
    assert check.main() == 0


@pytest.mark.parametrize(("file", "old", "new"), [("HEADER", "1048576", "2097152"), ("FORMATS", "`32768`", "`65536`")])
def test_another_bound_or_default_is_found_and_mended(
    check: Any, file: str, old: str, new: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = getattr(check, file)
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new))
    assert check.main() == 1
    assert f"{path.name} is not what memgraft/grafts/table.py declares: run `make options`" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["agent_options.py", "--write"])
    assert check.main() == 0
    assert path.read_text() == before


@pytest.mark.parametrize("mark", ["BEGIN", "END"])
def test_a_document_without_its_marks_is_left_as_it_is(check: Any, mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without = check.FORMATS.read_text().replace(getattr(check, mark), "")
    check.FORMATS.write_text(without)
    monkeypatch.setattr("sys.argv", ["agent_options.py", "--write"])
    with pytest.raises(SystemExit, match="between which the table stands"):
        check.main()
    assert check.FORMATS.read_text() == without
