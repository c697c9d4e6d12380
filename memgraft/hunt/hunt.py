"""`memgraft hunt`: the phases of a hunt, one after the other."""

import json
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

from memgraft.errors import CannotTakeError, WrongUsageError
from memgraft.formats.ordering import Observed
from memgraft.hunt import provocations
from memgraft.hunt.finding import Confirmed, Finding, Model, Phase, Verdict
from memgraft.hunt.patch import find, is_field, patch
from memgraft.hunt.search import Found, Suspects, search
from memgraft.hunt.sequential import SequentialTest, chance_of_no_difference, lowest_rate
from memgraft.hunt.suspects import Observation
from memgraft.hunt.trials import (
    STOCK,
    Count,
    Kind,
    Launched,
    OutOfTimeError,
    Setting,
    Symptom,
    Trials,
    Watcher,
    java_of,
    prepare_folder,
    program_of,
)
from memgraft.hunt.turns import LASTING, LEAST, Turns
from memgraft.jvm.launch import Via
from memgraft.jvm.summaries import refusal_of
from memgraft.screen import dump, write_file
from memgraft.words import count_of, listed

FAILURES_WANTED = 10
"""Of the stock: enough that the rate is known within a factor of two or so."""
PROVOKED_AFTER = 20
"""Launches of the stock."""
SELDOM = 0.2
"""It fails in a smaller share of these."""
PROVOKED_LAUNCHES = 20
"""Of each way that is tried."""
PROVOKED_CHANCE = 0.05
"""It must fail more often than the stock, and by chance alone does so in at most this share of hunts, each way."""
STOCK_SHARE = 1 / 3
"""Of the hunt's time, at most, to learn how often the stock fails."""
HANG_SECONDS = 60.0
"""A launch that runs longer has failed, until it is known how long one takes that passes."""
HANG_TIMES = 10
HANG_LEAST_SECONDS = 10.0
"""From then on, so many times as long as the longest one, and at least this."""
CONFIRMED_WRONGLY = 0.0001
"""How often fresh launches confirm a set that cures nothing, at most."""
SEARCHES_MOST = 3
"""Where fresh launches contradict the set that a search has found, another one knows them, too."""
REMAINDER_WRONGLY = 0.05
"""How often a rarer failure that no order cures is looked for nevertheless, at most."""
REMAINDER_LAUNCHES = 200
"""At most, to learn how often it still fails."""

Said = Callable[[str], None]


@dataclass(frozen=True)
class Asked:
    """What was typed."""

    command: Sequence[str]
    via: Via
    symptom: Symptom
    seconds: float
    output: Path
    resume: bool = False
    weak: bool = False
    """With weak memory."""
    hang_fixed: bool = True
    """False: how long a launch may take follows from those that passed."""
    sources: Sequence[Path] = ()
    """Folders of Java sources, for the patch."""
    provoke: bool = True
    """Whether a program that fails seldom is launched so that it may fail more often."""


class Hunt:
    """One hunt."""

    def __init__(self, asked: Asked, say: Said, watcher: Watcher) -> None:
        program = program_of(asked.command, asked.via)
        prepare_folder(asked.output, asked.command, weak=asked.weak, resume=asked.resume)
        self._asked = asked
        self._say = say
        self._watcher = watcher
        self._trials = Trials(program, asked.symptom, asked.output, self._launched)
        self._bare = Setting(Kind.WEAK if asked.weak else Kind.STOCK)
        self._started = time.monotonic()
        self.finding = Finding(asked.command, asked.weak)

    def _setting(self, kind: Kind, names: Suspects = frozenset()) -> Setting:
        """With what makes it fail more often, like all others."""
        return Setting(kind, names, self._bare.provocation)

    def _in_order(self, names: Suspects) -> Setting:
        return self._setting(Kind.WEAK if self._asked.weak else Kind.ORDERED, names)

    def run(self) -> Finding:
        """All phases, or those for which there is time."""
        self._started = time.monotonic()
        self._trials.deadline = self._started + self._asked.seconds
        finding = self.finding
        try:
            finding.verdict = self._phases()
        except OutOfTimeError:
            finding.verdict = Verdict.OUT_OF_TIME
        finding.launches = self._trials.launches
        finding.seconds = time.monotonic() - self._started
        return finding

    def _phases(self) -> Verdict:
        finding, trials = self.finding, self._trials
        try:
            self._stock()
        finally:
            # Later launches of it are counted by themselves.
            finding.stock = deepcopy(trials.counts[self._bare])
        if finding.stock.failures == 0:
            return Verdict.NEVER_FAILED
        test = self._test_at_first
        if not self._asked.weak and not self._gone_in_order(self._setting(Kind.ALL), test):
            return Verdict.NOT_ORDER
        observation = finding.observation = self._observe()
        if self._asked.weak and not self._gone_in_order(self._in_order(observation.own), test):
            return Verdict.NOT_ORDER
        self._suspects(observation, test)
        if not self._asked.weak:
            timing, test = self._is_timing(test)
            if timing:
                return Verdict.TIMING
        return self._search(observation, test)

    def _is_timing(self, test: SequentialTest) -> tuple[bool, SequentialTest]:
        """Whether it takes no order, but only the time that this takes; and the test from now on."""
        control = self._setting(Kind.DELAYED, self.finding.suspects)
        self.finding.delayed = self._trials.counts[control]
        self._begin("a control: the same accesses take as long, and are not in order")
        if not self._trials.gone(control, test):
            return False, test
        return self._gone_by_turns(control, "only as slow", test, LASTING)

    def _gone_by_turns(
        self, setting: Setting, what: str, test: SequentialTest, lasting: float = 1.0
    ) -> tuple[bool, SequentialTest]:
        """Whether that makes the failure vanish, and not other work on the machine; and the test from now on."""
        strict = replace(test, lasting=lasting)
        self._begin(f"fresh launches, by turns: nothing in order, and {what}")
        turns = Turns(self._trials, self._bare, [setting])
        while turns.are_few or turns.gone(setting, strict) is None:
            turns.once()
        return turns.gone(setting, strict) is True, self._from_now_on(turns, test)

    @property
    def _test_at_first(self) -> SequentialTest:
        return SequentialTest(lowest_rate(self.finding.stock.failures, self.finding.stock.launches))

    def _stock_again(self, test: SequentialTest) -> SequentialTest:
        """The test by some more launches: what has kept it from failing may be over."""
        fresh = Count()
        while fresh.launches < LEAST:
            fresh.add(self._trials.once(self._bare), 0.0)
        return test.now(fresh.failures, fresh.launches)

    def _from_now_on(self, turns: Turns, test: SequentialTest) -> SequentialTest:
        """The test that whatever follows is judged by."""
        now = turns.now(test)
        if now.rate < test.rate:
            fresh, before = turns.counts[self._bare], self.finding.stock
            self.finding.notes.append(
                f"it fails less often than at the start of the hunt: {fresh.failures} of "
                f"{count_of(fresh.launches, 'launch')}, after {before.failures} of {before.launches}"
            )
        return now

    def _gone_in_order(self, everything: Setting, test: SequentialTest) -> bool:
        self._begin(f"all accesses in order: expecting {test.passes} launches in a row that pass, or failures")
        self.finding.consistent = self._trials.counts[everything]
        gone = self._trials.gone(everything, test)
        self._settle_hang()
        return gone

    def _settle_hang(self) -> None:
        """From now on a launch may take so long, where it is known how long one takes that passes."""
        longest = max((count.longest_pass for count in self._trials.counts.values()), default=0.0)
        if longest and not self._asked.hang_fixed:
            seconds = min(HANG_SECONDS, max(HANG_LEAST_SECONDS, HANG_TIMES * longest))
            self._trials.symptom = replace(self._trials.symptom, hang_seconds=seconds)

    def _begin(self, doing: str) -> None:
        self.finding.phases.append(Phase(doing, time.monotonic() - self._started))
        self._say(doing)

    def _launched(self, launched: Launched, count: Count) -> None:
        self.finding.phases[-1].launched.append(launched)
        self._watcher(launched, count)

    def _stock(self) -> None:
        """Until it is known how often the program fails by itself, or with what makes it fail more often."""
        what = "weak memory" if self._asked.weak else "the stock"
        self._begin(f"{what}: how often does it fail?")
        end = time.monotonic() + self._asked.seconds * STOCK_SHARE
        provoked = self._asked.weak or not self._asked.provoke
        while (count := self._trials.counts[self._bare]).failures < FAILURES_WANTED:
            if count.launches and self._is_over(end, self._bare):
                return
            if not provoked and count.launches >= PROVOKED_AFTER and count.failures < count.launches * SELDOM:
                provoked = True
                self._provoke(end)
                continue
            self._trials.once(self._bare)
            if self._asked.weak:
                self._settle_hang()

    def _is_over(self, end: float, setting: Setting) -> bool:
        """Whether there is no time for another launch. One of an earlier hunt takes none."""
        return time.monotonic() > end and not self._trials.has_earlier(setting)

    def _provoke(self, end: float) -> None:
        """Tries what may make it fail more often; from now on all launches have what helps most.

        What was not tried in full when the time is over does not count.
        """
        self._begin("it fails seldom: does anything make it fail more often?")
        trials, before = self._trials, self._trials.counts[self._bare]
        best, best_rate = self._bare, before.failures / before.launches
        for provocation in provocations.ALL:
            setting = replace(self._bare, provocation=provocation)
            count = trials.counts[setting]
            while count.launches < PROVOKED_LAUNCHES and not self._is_over(end, setting):
                trials.once(setting)
            if count.launches < PROVOKED_LAUNCHES:
                break
            if (
                chance_of_no_difference(count.failures, count.launches, before.failures, before.launches)
                < PROVOKED_CHANCE
            ):
                rate = count.failures / count.launches
                best, best_rate = (setting, rate) if rate > best_rate else (best, best_rate)
        if best != self._bare:
            self.finding.unprovoked = deepcopy(before)
            self.finding.provocation = best.provocation.what
            self._bare = best
        self._begin(f"{self.finding.provocation or 'nothing does'}: how often does it fail?")

    def _observe(self) -> Observation:
        """Which threads access what; kept, so that a hunt that goes on later looks for the same."""
        self._begin("observing: which threads access what?")
        kept = self._asked.output / "observed.json"
        observation = Observation()
        if kept.exists():
            observation.add(Observed.model_validate(json.loads(kept.read_text(encoding="utf-8"))))
            return observation
        jvms = self._trials.observe(self._bare.provocation)
        if refusal := refusal_of(jvms):
            raise refusal
        observed = [jvm.grafts.bytecode.observed for jvm in jvms if jvm.state == "ended" and jvm.grafts.bytecode]
        for one in observed:
            if one is not None:
                observation.add(one)
        missed = sum(jvm.grafts.bytecode.failed for jvm in jvms if jvm.grafts.bytecode)
        if missed:
            self.finding.notes.append(f"{count_of(missed, 'class')} could not be observed, and has no suspects")
        if not observed:
            raise CannotTakeError(
                "no JVM lived long enough to say what its threads access: it was killed, or it halted; expected one "
                "that ends by itself, or at SIGTERM"
            )
        write_file(kept, dump(observation.as_format().model_dump()))
        return observation

    def _suspects(self, observation: Observation, test: SequentialTest) -> None:
        """The smallest of the sets known beforehand that cures."""
        finding = self.finding
        choices = [
            (observation.shared, "what its threads were seen to share"),
            (observation.own, "all accesses in its own classes"),
        ]
        if not self._asked.weak:
            choices.append((observation.own | observation.jdk, "all accesses in its own classes and the JDK's"))
        for suspects, where in choices:
            if not suspects:
                continue
            finding.suspects, finding.where = suspects, where
            self._begin(f"{where}: {count_of(len(suspects), 'suspect')} in order")
            if suspects == choices[-1][0] or self._trials.gone(self._in_order(suspects), test):
                return

    def _search(self, observation: Observation, test: SequentialTest) -> Verdict:
        finding, trials = self.finding, self._trials

        def fails(plain: Suspects) -> bool:
            nonlocal test
            if test.rate < self._test_at_first.rate:
                test = self._stock_again(test)
            return not trials.gone(self._in_order(finding.suspects - plain), test)

        confirmed = None
        for _ in range(SEARCHES_MOST):
            self._begin(f"the smallest set of {count_of(len(finding.suspects), 'suspect')}")
            found = search(finding.suspects, fails, observation.rank, observation.weight)
            finding.cure, finding.conflicts, finding.alternatives = found.cure, found.conflicts, found.alternatives
            if not found.cure:
                timing, test = self._gone_by_turns(self._in_order(frozenset()), "with the agent in the JVM", test)
                if timing:
                    finding.notes.append("with the agent in the JVM and nothing in order it stops failing, too")
                    return Verdict.TIMING
                continue
            finding.confirmed, test = self._confirm(finding.cure, test)
            if self._is_gone(finding.confirmed.ordered, replace(test, wrongly_gone=CONFIRMED_WRONGLY)):
                confirmed = finding.confirmed
                break
            # A set that helps, and not enough: the next search knows the fresh launches, too.
        if confirmed is None:
            return Verdict.UNSTABLE
        # First all that it takes: a part of it may help only because it takes time.
        confirmed, test = self._what_remains(confirmed, observation, test)
        if confirmed.delayed is not None and self._is_gone(confirmed.delayed, test) and self._is_only_time(test):
            return Verdict.TIMING
        if not self._asked.weak:
            self._ask_the_other_engine(test)
            self._ask_the_model(observation, test)
        self._fix()
        return Verdict.FOUND

    def _is_only_time(self, test: SequentialTest) -> bool:
        """Whether time alone does what order does, where it seems so: by fresh launches that are enough to tell."""
        ordered, slow = self._in_order(self.finding.cure), self._setting(Kind.DELAYED, self.finding.cure)
        self._begin("fresh launches, by turns: nothing in order, the set found in order, and only as slow")
        turns = Turns(self._trials, self._bare, [ordered, slow])
        while turns.are_few or turns.only_time(ordered, slow, test) is None:
            turns.once()
        self.finding.confirmed = Confirmed(turns.counts[self._bare], turns.counts[ordered], turns.counts[slow])
        return turns.only_time(ordered, slow, test) is True

    def _what_remains(
        self, confirmed: Confirmed, observation: Observation, test: SequentialTest
    ) -> tuple[Confirmed, SequentialTest]:
        """Where it still fails now and then with the cure in order: what else it takes, if anything does.

        The fresh launches of all that it takes, and the test from now on.
        """
        finding = self.finding
        try:
            while confirmed.ordered.failures and finding.cure < finding.suspects:
                self._begin(f"it still fails now and then with {listed(sorted(finding.cure), 'and')} in order")
                found = self._besides(self._in_order, deepcopy(confirmed.ordered), observation)
                if found is None:
                    finding.notes.append("it still fails now and then, and does so with all suspects in order")
                    break
                more = finding.cure | found.cure
                confirmed, test = self._confirm(more, test)
                finding.cure, finding.confirmed, finding.alternatives = more, confirmed, ()
                finding.conflicts = [*finding.conflicts, *found.conflicts]
        except OutOfTimeError:
            finding.notes.append("it still fails now and then; there was no time left to look for what else it takes")
        return confirmed, test

    def _besides(
        self, setting: Callable[[Suspects], Setting], with_cure: Count, observation: Observation
    ) -> Found | None:
        """What else it takes, where it fails now and then with the cure in order; None: nothing among the suspects.

        `with_cure` are launches with the cure in order, which more are added to.
        """
        finding, trials = self.finding, self._trials
        while with_cure.failures < FAILURES_WANTED and with_cure.launches < REMAINDER_LAUNCHES:
            with_cure.add(trials.once(setting(finding.cure)), 0.0)
        rest = SequentialTest(lowest_rate(with_cure.failures, with_cure.launches))

        def fails(plain: Suspects) -> bool:
            return not trials.gone(setting(finding.suspects - plain), rest)

        # What is found then must be sure, and this need not.
        if not trials.gone(setting(finding.suspects), replace(rest, wrongly_gone=REMAINDER_WRONGLY)):
            return None
        found = search(finding.suspects - finding.cure, fails, observation.rank, observation.weight)
        return None if not found.cure or fails(finding.suspects - finding.cure - found.cure) else found

    def _fix(self) -> None:
        """Makes the patch, where there are sources."""
        finding, asked = self.finding, self._asked
        fields = [finding.suspect(name) for name in sorted(finding.lacking) if is_field(name)]
        if not asked.sources or not fields:
            return
        java = java_of(self._trials.program)
        try:
            for field in fields:
                if declared := find(field, asked.sources, java, self._trials.program.agent):
                    finding.declared[field.name] = declared
                    if declared.modifier:
                        finding.notes.append(
                            f"{declared.file} declares {field.name} {declared.modifier}: it is not the source of what "
                            "was launched"
                        )
                else:
                    finding.notes.append(
                        f"no Java source in {listed(list(map(str, asked.sources)), 'or')} declares {field.name}"
                    )
            finding.patch = patch(finding.declared.values())
        except CannotTakeError as error:
            finding.notes.append(str(error))

    def _ask_the_other_engine(self, test: SequentialTest) -> None:
        """Whether it makes the failure vanish, too, where it can join; the finding does not depend on it."""
        self._begin("the other engine: all accesses put in order by HotSpot's own joints")
        other = self._setting(Kind.HOTSPOT)
        try:
            self._trials.gone(other, test)
        except OutOfTimeError:
            self.finding.notes.append("there was no time left to ask the engine hotspot, too")
        except (CannotTakeError, WrongUsageError) as error:
            self.finding.notes.append(f"the engine hotspot could not be asked, too: {error}")
        if self._trials.counts[other].launches:
            self.finding.hotspot = self._trials.counts[other]

    def _ask_the_model(self, observation: Observation, test: SequentialTest) -> None:
        """Whether the cure would do where loads may get old values, too, and if not, what else it takes there.

        The finding does not depend on it.
        """
        finding, trials = self.finding, self._trials
        if not finding.suspects <= observation.own:
            # With weak memory the JDK's classes are as they were.
            return
        self._begin("the Java memory model: is that enough where loads may get old values?")
        if not self._asked.hang_fixed:
            # Weak memory takes its time.
            trials.symptom = replace(trials.symptom, hang_seconds=HANG_SECONDS)

        def weak(names: Suspects) -> Setting:
            return self._setting(Kind.WEAK, names)

        everything, with_cure = trials.counts[weak(finding.suspects)], trials.counts[weak(finding.cure)]
        try:
            if not trials.gone(weak(finding.suspects), test):
                finding.notes.append(
                    "with weak memory it fails with all suspects in order, too: whether what was found is enough by "
                    "the Java memory model is not known"
                )
                return
            self._settle_hang()
            finding.model = Model(everything, with_cure, enough=trials.gone(weak(finding.cure), test))
            if finding.model.enough:
                return
            found = self._besides(weak, deepcopy(with_cure), observation)
            if found is not None:
                finding.model = replace(finding.model, more=found.cure)
        except OutOfTimeError:
            finding.notes.append("there was no time left to ask what the Java memory model needs in order")
        except (CannotTakeError, WrongUsageError) as error:
            finding.notes.append(f"weak memory could not be tried: {error}")

    def _confirm(self, names: Suspects, test: SequentialTest) -> tuple[Confirmed, SequentialTest]:
        """Fresh launches, by turns; and the test from now on."""
        self._begin(f"fresh launches, by turns: nothing in order, and {count_of(len(names), 'suspect')} in order")
        strict = replace(test, wrongly_gone=CONFIRMED_WRONGLY)
        ordered = self._in_order(names)
        # With weak memory both sides take as long; what is of interest is whether this machine shows it, too.
        control = STOCK if self._asked.weak else self._setting(Kind.DELAYED, names)
        turns = Turns(self._trials, self._bare, [ordered, control])
        done = False
        while not done or turns.are_few:
            turns.once()
            controlled = self._asked.weak or turns.gone(control, test) is not None
            done = controlled and turns.gone(ordered, strict) is not None
        fresh = turns.counts
        if self._asked.weak:
            self.finding.plain = fresh[control]
        delayed = None if self._asked.weak else fresh[control]
        return Confirmed(fresh[self._bare], fresh[ordered], delayed), self._from_now_on(turns, test)

    @staticmethod
    def _is_gone(count: Count, test: SequentialTest) -> bool:
        return test.gone(count.failures, count.passes) is True
