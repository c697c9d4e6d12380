"""Which of jcstress's samples tell whether a JVM is sequentially consistent, and by which outcomes."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

PREFIX = "org.openjdk.jcstress.samples."

SAMPLES: Mapping[str, frozenset[str]] = {
    # The outcomes that some interleaving of the actors' steps gives, in the notation of jcstress's console report.
    "JMMSample_01_AccessAtomicity.Integers": frozenset({"0", "-1"}),
    "JMMSample_01_AccessAtomicity.Longs": frozenset({"0", "-1"}),
    "JMMSample_02_WordTearing.JavaArrays": frozenset({"true, true"}),
    "JMMSample_03_Coherence.SameRead": frozenset({"0, 0", "0, 1", "1, 1"}),
    "JMMSample_03_Coherence.SameVolatileRead": frozenset({"0, 0", "0, 1", "1, 1"}),
    "JMMSample_04_PartialOrder.PlainReads": frozenset({"0, 0", "0, 1", "1, 1"}),
    "JMMSample_04_PartialOrder.AcquireReleaseGuard": frozenset({"0, 0", "0, 1", "1, 1"}),
    "JMMSample_04_PartialOrder.VolatileGuard": frozenset({"0, 0", "0, 1", "1, 1"}),
    "JMMSample_05_TotalOrder.PlainDekker": frozenset({"0, 1", "1, 0", "1, 1"}),
    "JMMSample_05_TotalOrder.AcqRelDekker": frozenset({"0, 1", "1, 0", "1, 1"}),
    "JMMSample_05_TotalOrder.VolatileDekker": frozenset({"0, 1", "1, 0", "1, 1"}),
    "JMMSample_06_Finals.PlainInit": frozenset({"-1", "8"}),
    "JMMSample_06_Finals.FinalInit": frozenset({"-1", "8"}),
}
"""Left out: samples whose outcomes are not about the order of accesses to fields and elements (lost updates, which
interleavings give, and numbers that do not lie at their own alignment)."""

SEEN_REORDERED = ("JMMSample_05_TotalOrder.PlainDekker", "JMMSample_05_TotalOrder.AcqRelDekker")
"""What x86's store buffers show on any JVM within a second."""


def matching(patterns: str) -> list[str]:
    """The samples that one of the patterns means: `*Dekker`, or a whole name."""
    return [name for name in SAMPLES if any(fnmatchcase(name, pattern) for pattern in patterns.split(","))]
