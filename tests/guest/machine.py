"""The emulated machine of memgraft/guest for tests: what is missing for it skips a test, and says what."""

from pathlib import Path

import pytest

from memgraft.errors import CannotTakeError
from memgraft.guest import machine
from memgraft.guest.machine import OUTBOX, Done, Node, boot

__all__ = ["OUTBOX", "Done", "Node", "Root", "boot"]


class Root(machine.Root):
    """The guest's files."""

    def __init__(self, folder: Path) -> None:
        try:
            super().__init__(folder)
        except CannotTakeError as missing:
            pytest.skip(missing.message)
