"""The NAS kernels as people run them: built at first use, from any folder."""

import json
from pathlib import Path

import pytest
from conftest import ROOT
from processes import run

KERNEL = ROOT / "bin/kernel"


def test_kernel_is_built_and_verifies(tmp_path: Path) -> None:
    link = tmp_path / "kernel"
    link.symlink_to(KERNEL)
    done = run([link, "cg", "--class", "S", "--threads", "2", "--json"], OMP_WAIT_POLICY="passive")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["kernel"] == "cg"
    assert result["threads"] == 2
    assert result["verified"] is True
    assert [value["what"] for value in result["compared"]] == ["zeta"]


@pytest.mark.parametrize("arguments", [["cg", "--class", "Z"], ["dc"], []])
def test_wrong_usage_is_one_line(arguments: list[str]) -> None:
    done = run([KERNEL, *arguments])
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith("memgraft-kernels: ")
    assert "expected" in done.stderr
