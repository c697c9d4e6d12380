"""setup/python: an environment that was installed once serves the next checkout, and stays what it was."""

import shutil
from pathlib import Path

from conftest import ROOT
from processes import run
from tiers import deep

INSTALLING = "memgraft: installing Python packages into .venv\n"


def checkout(folder: Path) -> Path:
    """One that needs no packages, so that pip has nothing to fetch."""
    shutil.copytree(ROOT / "setup", folder / "setup")
    (folder / "requirements").mkdir()
    for name in ("locked", "development"):
        (folder / f"requirements/{name}.txt").write_text("# none\n")
    tests = folder / "memgraft/tests"
    tests.mkdir(parents=True)
    (folder / "memgraft/__init__.py").touch()
    (tests / "template.py").write_text("def import_everything(): pass\n")
    return folder


def installed(folder: Path, cache: Path) -> str:
    """What was said; how it is then, is what is expected of every checkout."""
    done = run([folder / "setup/python", "development"], XDG_CACHE_HOME=str(cache))
    assert done.returncode == 0, done.stderr
    environment = folder / ".venv"
    where = run([environment / "bin/python", "-P", "-c", "import memgraft; print(memgraft.__file__)"], PYTHONPATH="")
    assert where.stdout == f"{folder}/memgraft/__init__.py\n"
    assert (environment / "bin/pip").read_text().startswith(f"#!{environment}/bin/python")
    return done.stderr


def contents(folder: Path) -> dict[Path, bytes]:
    files = [file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return {file: file.read_bytes() for file in files}


def test_an_environment_is_installed_once(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first, second = (checkout(tmp_path / name) for name in ("first", "the.second"))
    assert installed(first, cache) == INSTALLING
    assert installed(first, cache) == ""
    [kept] = (cache / "memgraft/python").iterdir()
    before = contents(kept) | contents(first / ".venv")
    assert installed(second, cache) == ""
    # Other versions are another environment.
    (second / "requirements/locked.txt").write_text("# none, either\n")
    assert installed(second, cache) == INSTALLING
    # A second checkout links to the first one's files, and writes to none of them.
    assert contents(kept) | contents(first / ".venv") == before
    assert installed(first, cache) == ""


@deep
def test_it_is_installed_where_nothing_can_be_kept(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.write_text("a file")
    assert installed(checkout(tmp_path / "only"), cache) == INSTALLING
