"""What hangs is ended and says where it was; what a test leaves behind is found."""

import subprocess
from pathlib import Path

import processes
import psutil
import pytest
from conftest import Jdk


def test_a_program_that_hangs_is_ended_with_its_stacks(
    distribution_jdk: Jdk, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Behind a shell, as most JVMs of the tests are; it waits for a line that never comes.
    java = f"'{distribution_jdk.java}' -Xmx64m -cp '{programs}' AllocateUntilTold"
    # On a busy machine it takes longer until it waits.
    for limit in (3, 30, 300):
        monkeypatch.setattr(processes, "LIMIT", limit)
        with pytest.raises(pytest.fail.Exception) as failed:
            processes.run(["sh", "-c", f"sleep 1000 | {java}; true"])
        told = str(failed.value)
        assert f"not ended within {limit} s" in told
        assert not [one for one in psutil.Process().children(recursive=True) if one.status() != psutil.STATUS_ZOMBIE]
        if "AllocateUntilTold.main" in told:
            return
    pytest.fail(f"the JVM did not say where its threads are: {told}")


def test_what_is_left_behind_is_found_and_ended() -> None:
    processes.adopt_orphans()
    with pytest.raises(pytest.fail.Exception) as failed, processes.nothing_left_behind(grace=0.1):
        # Its parent has ended: nobody's child but ours.
        subprocess.run(["sh", "-c", "sleep 1000 & true"], check=True)
    assert "sleep 1000" in str(failed.value)
    _, alive = psutil.wait_procs(psutil.Process().children(recursive=True), timeout=processes.GRACE)
    assert alive == []


def test_what_ends_with_the_test_is_not_left_behind() -> None:
    with processes.nothing_left_behind(), subprocess.Popen(["sleep", "1000"]) as process:
        process.kill()
