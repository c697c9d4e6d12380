"""What a hunt found, on a terminal."""

from collections.abc import Iterator, Sequence

from memgraft.formats.ordering import Accessor
from memgraft.hunt.finding import Confirmed, Finding, Verdict
from memgraft.hunt.patch import Declared, is_field
from memgraft.hunt.search import Suspects
from memgraft.hunt.sequential import highest_rate
from memgraft.hunt.suspects import CALLS, ELEMENTS, WHOLE_CLASS, Suspect, telling
from memgraft.hunt.trials import Count
from memgraft.screen import Screen, table
from memgraft.words import count_of, listed, percent

MOST_PLACES = 4
"""Of loads and of stores of one suspect."""
MOST_FRAMES = 3


def show(finding: Finding, screen: Screen) -> None:
    made = table("accesses in order", "failed", "launches", "how", right=("failed", "launches"))
    for name, count in _rows(finding):
        made.add_row(name, f"{count.failures:,}", f"{count.launches:,}", _symptoms(count))
    screen.print(made)
    screen.print()
    for line in (*_lines(finding), *finding.notes):
        screen.print(line, soft_wrap=True)


def _rows(finding: Finding) -> Iterator[tuple[str, Count]]:
    bare = "none: weak memory" if finding.weak else "none: the stock"
    yield bare, finding.stock
    if finding.consistent is not None:
        yield "all", finding.consistent
    if finding.delayed is not None:
        yield "none, only as slow", finding.delayed
    if finding.confirmed is not None:
        yield "none, again", finding.confirmed.stock
        yield "those found", finding.confirmed.ordered
        if finding.confirmed.delayed is not None:
            yield "those found, only as slow", finding.confirmed.delayed
    if finding.plain is not None:
        yield "the stock on this machine", finding.plain
    if finding.hotspot is not None:
        yield "all, by HotSpot's joints", finding.hotspot


def _symptoms(count: Count) -> str:
    return "; ".join(symptom for symptom, _ in count.symptoms.most_common(2))


def _lines(finding: Finding) -> Iterator[str]:
    stock = finding.stock
    match finding.verdict:
        case Verdict.NEVER_FAILED:
            rate = highest_rate(0, stock.launches) if stock.launches else 1.0
            yield (
                f"It never failed in {count_of(stock.launches, 'launch')}, so it fails in fewer than {percent(rate)} "
                "of them (95 %). There is nothing to hunt for until it fails more often: give it more work per launch, "
                f"or more time (--time){'' if finding.weak else ', or a weaker memory (--weak)'}."
            )
        case Verdict.NOT_ORDER:
            yield (
                "This is not a missing volatile: it fails when every access is in order, too. Look for a wrong lock, a "
                "lost signal, an update that is not atomic, or an ordinary mistake."
            )
        case Verdict.TIMING:
            yield (
                "This is not shown to be a missing volatile: it also stops failing when accesses only take longer. "
                "Order may matter or not; a failure that depends on time alone looks like this."
            )
        case Verdict.UNSTABLE:
            yield f"Not reproduced: with {_names(finding.cure)} in order it failed again in fresh launches."
        case Verdict.OUT_OF_TIME:
            yield f"Out of time at: {finding.doing}. Go on with --resume, or give it more time (--time)."
        case Verdict.FOUND:
            if finding.confirmed is not None:
                yield from _found(finding, finding.confirmed)


def _found(finding: Finding, confirmed: Confirmed) -> Iterator[str]:
    them = "it" if len(finding.cure) == 1 else "them"
    yield (
        f"{'Missing volatile' if all(map(is_field, finding.cure)) else 'Missing order'}: {_names(finding.cure)}. With "
        f"{them} in order {confirmed.ordered.failures} of {confirmed.ordered.launches} launches failed, without "
        f"{confirmed.stock.failures} of {confirmed.stock.launches} (p = {confirmed.chance:.1g})."
    )
    for name in sorted(finding.cure):
        yield ""
        yield from _suspect(finding.suspect(name), finding.declared.get(name))
    for other in finding.alternatives:
        yield ""
        yield f"It would also vanish with {_names(other)} in order instead."
    for conflict in finding.conflicts:
        if len(conflict) > 1 or len(finding.cure) > 1:
            yield f"It fails as soon as nothing but {_names(conflict)} is left as it is."
    if finding.patch:
        yield ""
        yield finding.patch.rstrip("\n")


def _suspect(suspect: Suspect, declared: Declared | None) -> Iterator[str]:
    place = f" (in {declared.file}, line {declared.line})" if declared else ""
    yield f"  {advice(suspect.name)}{place}"
    yield from _places("stored", suspect.stores)
    yield from _places("loaded", suspect.loads)


def advice(name: str) -> str:
    """What to do about one suspect."""
    if name.endswith(WHOLE_CLASS):
        shared = name.removesuffix(WHOLE_CLASS)
        return f"{shared}: threads share such an object without synchronization; use a lock, or a concurrent class"
    if name.endswith(ELEMENTS):
        method = name.removesuffix(ELEMENTS)
        return f"array elements in {method}: use an AtomicIntegerArray or its like, a VarHandle, or a lock"
    if name.endswith(CALLS):
        return f"calls in {name.removesuffix(CALLS)} that copy arrays, or access memory through handles: use a lock"
    return f"{name}: declare it volatile"


def _places(what: str, accessors: Sequence[Accessor]) -> Iterator[str]:
    for accessor in telling(accessors)[:MOST_PLACES]:
        frames = " < ".join(frame.partition("//")[2] or frame for frame in accessor.stack[:MOST_FRAMES])
        yield f"    {what} by thread {accessor.thread}: {frames}"
    if len(accessors) > MOST_PLACES:
        yield f"    {what} at {len(accessors) - MOST_PLACES:,} more places"


def _names(names: Suspects) -> str:
    return listed(sorted(names), "and")
