"""What a hunt found, on a terminal."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from memgraft.formats.ordering import Accessor
from memgraft.hunt.explain import Explanation, Step
from memgraft.hunt.finding import Confirmed, Finding, Model, Verdict
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
    for name, count in rows(finding):
        made.add_row(name, f"{count.failures:,}", f"{count.launches:,}", symptoms(count))
    screen.print(made)
    screen.print()
    screen.print(headline(finding), soft_wrap=True)
    if finding.verdict is Verdict.FOUND:
        for line in _details(finding):
            screen.print(line, soft_wrap=True)
    for line in (*provoked(finding), *finding.notes):
        screen.print(line, soft_wrap=True)


def rows(finding: Finding) -> Iterator[tuple[str, Count]]:
    """What was launched how often."""
    if finding.unprovoked is not None:
        yield "none: the stock", finding.unprovoked
        yield "none, made to fail more often", finding.stock
    else:
        yield "none: weak memory" if finding.weak else "none: the stock", finding.stock
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
    if finding.model is not None:
        yield "all suspects, weak memory", finding.model.everything
        yield "those found, weak memory", finding.model.found


def symptoms(count: Count) -> str:
    """The most frequent ones."""
    return "; ".join(symptom for symptom, _ in count.symptoms.most_common(2))


def headline(finding: Finding) -> str:
    """The verdict, in a sentence or two."""
    stock = finding.stock
    match finding.verdict:
        case Verdict.NEVER_FAILED:
            rate = highest_rate(0, stock.launches) if stock.launches else 1.0
            return (
                f"It never failed in {count_of(stock.launches, 'launch')}, so it fails in fewer than {percent(rate)} "
                "of them (95 %). There is nothing to hunt for until it fails more often: give it more work per launch, "
                f"or more time (--time){'' if finding.weak else ', or a weaker memory (--weak)'}."
            )
        case Verdict.NOT_ORDER:
            return (
                "This is not a missing volatile: it fails when every access is in order, too. Look for a wrong lock, a "
                "lost signal, an update that is not atomic, or an ordinary mistake."
            )
        case Verdict.TIMING:
            return (
                "This is not shown to be a missing volatile: it also stops failing when accesses only take longer. "
                "Order may matter or not; a failure that depends on time alone looks like this."
            )
        case Verdict.UNSTABLE:
            return f"Not reproduced: with {names_of(finding.cure)} in order it failed again in fresh launches."
        case Verdict.OUT_OF_TIME:
            return f"Out of time at: {finding.doing}. Go on with --resume, or give it more time (--time)."
        case Verdict.FOUND:
            return _found(finding, finding.confirmed)


def _found(finding: Finding, confirmed: Confirmed | None) -> str:
    what = "Missing volatile" if all(map(is_field, finding.lacking)) else "Missing order"
    if confirmed is None:
        return f"{what}: {names_of(finding.cure)}."
    them = "it" if len(finding.cure) == 1 else "them"
    return (
        f"{what}: {names_of(finding.cure)}. With {them} in order "
        f"{confirmed.ordered.failures} of {confirmed.ordered.launches} launches failed, without "
        f"{confirmed.stock.failures} of {confirmed.stock.launches} (p = {confirmed.chance:.1g})."
        f"{_of_the_model(finding.model, them) if finding.model else ''}"
    )


def _of_the_model(model: Model, them: str) -> str:
    """Where this machine needs less in order than the Java memory model."""
    if model.enough:
        return ""
    failed = f"with weak memory {model.found.failures} of {model.found.launches} launches failed with {them} in order"
    more = f"{names_of(model.more)} must be in order, too" if model.more else "what else it takes was not found"
    return f" That is enough on this machine and not by the Java memory model: {failed}; {more}."


def provoked(finding: Finding) -> Iterator[str]:
    """What all launches but the first ones have, so that it fails more often."""
    if finding.provocation:
        yield f"It fails more often like this, and all later launches are like this: {finding.provocation}."


def besides(finding: Finding) -> Iterator[str]:
    """What else was learnt of what was found."""
    if finding.verdict is not Verdict.FOUND:
        return
    for other in finding.alternatives:
        yield f"It would also vanish with {names_of(other)} in order instead."
    for conflict in finding.conflicts:
        if len(conflict) > 1 or len(finding.cure) > 1:
            yield f"It fails as soon as nothing but {names_of(conflict)} is left as it is."


def _details(finding: Finding) -> Iterator[str]:
    for name in sorted(finding.lacking):
        yield ""
        yield from _suspect(finding.suspect(name), finding.declared.get(name))
    if explanation := finding.explanation:
        yield ""
        yield from _explained(explanation)
    if others := list(besides(finding)):
        yield ""
        yield from others
    if finding.patch:
        yield ""
        yield finding.patch.rstrip("\n")


def _explained(explanation: Explanation) -> Iterator[str]:
    """A small program, a column for each thread, and what may happen."""
    yield f"What fits what was seen is {explanation.pattern}:"
    columns = [
        [f"thread {thread}", *(f"  {told}" for told in explained_steps(explanation, steps))]
        for thread, steps in explanation.threads
    ]
    width = max(map(len, columns[0])) + 4
    for left, right in zip_longest(*columns, fillvalue=""):
        yield f"  {left:{width}}{right}".rstrip()
    yield explanation.words


def explained_steps(explanation: Explanation, steps: Sequence[Step]) -> list[str]:
    """As in `stopped = ...   Server.java:12`."""
    told = [step.told(explanation.short(step.name)) for step in steps]
    width = max(map(len, told))
    places = [step.frame.place if step.frame else "" for step in steps]
    return [f"{words:{width}}   {place}".rstrip() for words, place in zip(told, places, strict=True)]


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


def names_of(names: Suspects) -> str:
    """In words."""
    return listed(sorted(names), "and")
