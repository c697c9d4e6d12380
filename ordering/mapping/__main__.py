"""Prints the tables of README.md: `python -m ordering.mapping`."""

import sys

from ordering.mapping.mappings import CANDIDATES
from ordering.mapping.verdicts import HEAD, example, judge_all, row


def main() -> int:
    verdicts = judge_all(CANDIDATES)
    unexpected = [verdict for verdict in verdicts if not verdict.as_expected]
    for isa in dict.fromkeys(candidate.isa for candidate in CANDIDATES):
        rows = [row(verdict) for verdict in verdicts if verdict.candidate.isa == isa]
        print("\n".join([HEAD.format(isa=isa), *rows, ""]))
    for verdict in unexpected:
        found = "sound" if verdict.sound else example(verdict)
        print(
            f"ordering.mapping: {verdict.candidate.isa}, {verdict.candidate.name}: unexpected: {found}", file=sys.stderr
        )
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
