"""The page and the terminal: what stands there, and what can never get in."""

import html
import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from memgraft.experiment import advice
from memgraft.experiment.design import Side
from memgraft.experiment.metrics import MetricName
from memgraft.experiment.outcome import Outcome
from memgraft.report import facts, page, terminal
from memgraft.screen import Screen
from memgraft.tests import synthetic

HOSTILE = "</script><script>alert(1)</script>&\"'<img src=x onerror=alert(2)>$$x$$"


class Reader(HTMLParser):
    """Every start tag, every address, and the text outside scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text += data


def read(outcome: Outcome) -> tuple[str, Reader]:
    text = page.render(outcome, advice.warnings(outcome))
    reader = Reader()
    reader.feed(text)
    return text, reader


class TestPage:
    def test_the_verdict_is_on_top(self) -> None:
        outcome = synthetic.outcome(synthetic.launches(ratio=0.9))
        _, reader = read(outcome)
        body = " ".join(reader.text.split())
        assert body.index(facts.verdict(outcome)) < body.index("Both sides")

    def test_nothing_comes_from_elsewhere(self) -> None:
        text, reader = read(synthetic.outcome())
        for tag, attributes in reader.tags:
            assert tag not in ("link", "iframe", "img", "object", "embed", "base"), tag
            assert "src" not in attributes, (tag, attributes)
            assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert "default-src 'none'" in text
        assert "cdn.bokeh.org" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
        assert "@import" not in text.split("</style>")[0]

    def test_everything_measured_is_escaped(self) -> None:
        done = synthetic.launches()
        for launch in done:
            launch.iterations = synthetic.iterations(1.2345678, 4, workload=HOSTILE)
        for launch in done[1::2]:
            launch.jvms = [
                synthetic.summary(jvm={"version": HOSTILE, "feature": 1, "vendor": HOSTILE, "name": HOSTILE})
            ]
        text, reader = read(synthetic.outcome(done, command=["java", HOSTILE]))
        assert HOSTILE not in text
        assert html.escape("<img src=x onerror=alert(2)>") in text.replace("&#34;", "&quot;")
        assert not [tag for tag, _ in reader.tags if tag == "img"]
        # Scripts: Bokeh's library, its settings, the pictures as data and as code; none that came with a name.
        assert "alert(1)" not in "".join(re.findall(r"<script[^>]*>(.*?)</script>", text, flags=re.DOTALL))

    def test_what_was_compared_is_exact(self) -> None:
        _, reader = read(synthetic.outcome(command=["java", "-jar", "a b.jar"]))
        assert "java -jar 'a b.jar'" in reader.text
        assert "JAVA_TOOL_OPTIONS=-XX:+ZeroTLAB -agentpath:/a.so=zeroing=bulk,summary=/s" in reader.text
        assert "N 17.0.1 (V, G1 collector)" in reader.text
        assert "Fake CPU" in reader.text

    def test_the_grafts_figures(self) -> None:
        _, reader = read(synthetic.outcome())
        assert "8.00 in every launch" in reader.text  # GB/s
        assert "5.0 % in every launch" in reader.text  # direct cost

    def test_only_the_figures_that_are_there_are_explained(self) -> None:
        outcome = synthetic.outcome()
        _, reader = read(outcome)
        assert "Direct cost is" in reader.text
        assert "A request is foreign" not in reader.text
        of_buffers = {Side.GRAFTED: [("core=1m: requests", "9,000")], Side.BASELINE: []}
        _, reader = read(replace(outcome, zeroing=None, baseline_zeroing=None, done={"buffers": of_buffers}))
        assert "9,000" in reader.text
        assert "A request is foreign" in reader.text
        assert "Direct cost is" not in reader.text

    def test_pictures(self) -> None:
        text, _ = read(synthetic.outcome())
        assert text.count("<figure>") == 4
        without, _ = read(synthetic.outcome(synthetic.launches(iteration_count=0)))
        assert without.count("<figure>") == 3

    @pytest.mark.parametrize("metric", [MetricName.WALL, MetricName.ITERATION_WALL])
    def test_other_metrics(self, metric: MetricName) -> None:
        read(synthetic.outcome(metric=metric))

    def test_calibration(self) -> None:
        _, reader = read(synthetic.outcome(strategy="hot-path"))
        assert "both sides are the stock" in reader.text
        assert "What the graft did" not in reader.text

    def test_epochs(self) -> None:
        text, reader = read(synthetic.switched_outcome(launch_count=2))
        assert text.count("<figure>") == 3
        assert "1,200 seen, the first half of each JVM's warm-up; 600 counted" in reader.text
        assert "zeroing=windows,against=bulk" in reader.text
        assert "windows / bulk" in reader.text
        assert "The stock side runs" not in reader.text

    def test_against_another_strategy(self) -> None:
        _, reader = read(synthetic.outcome(synthetic.launches(0.9), against="non-temporal"))
        assert "bulk zeroing against non-temporal zeroing" in reader.text
        assert "bulk / non-temporal" in reader.text
        assert "grafted" not in reader.text.replace("grafted side", "")

    def test_many_pairs(self) -> None:
        read(synthetic.outcome(synthetic.launches(pairs=60)))

    def test_every_launch_is_in_the_table(self) -> None:
        text, _ = read(synthetic.outcome())
        rows = re.findall(r'<tr><td class="number">(\d+)</td>', text)
        assert rows == [str(number) for number in range(1, 21)]


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (0.9, "If zeroing cost nothing, fake would use 10.0 %"),
        (1.1, "Even if zeroing cost nothing, fake would use"),
        (1.0, "Zeroing does not matter to fake: if it cost nothing"),
    ],
)
def test_the_bound_in_a_sentence(ratio: float, expected: str) -> None:
    done = synthetic.launches(ratio, strategy="pause")
    for launch in done:
        launch.iterations = [i.model_copy(update={"worker_cpu_seconds": i.cpu_seconds}) for i in launch.iterations]
    assert facts.verdict(synthetic.outcome(done, strategy="pause", bound=True)).startswith(expected)


def test_a_bound_that_is_not_resolved() -> None:
    done = synthetic.launches(0.99, strategy="pause", spread=[0.9, 1.1, 0.95, 1.05])
    for launch in done:
        launch.iterations = [i.model_copy(update={"worker_cpu_seconds": i.cpu_seconds}) for i in launch.iterations]
    assert "might gain up to 10.9 %, or nothing" in facts.verdict(synthetic.outcome(done, strategy="pause", bound=True))


class TestTerminal:
    def shown(self, outcome: Outcome, width: int, *, brief: bool = False) -> str:
        file = io.StringIO()
        screen = Screen(file)
        screen.width = width
        terminal.show(outcome, advice.warnings(outcome), Path("/out/report.html"), screen, brief=brief)
        return file.getvalue()

    @pytest.mark.parametrize("width", [60, 80, 120, 200])
    def test_fits(self, width: int) -> None:
        text = self.shown(synthetic.outcome(), width)
        assert max(len(line) for line in text.splitlines()) <= width
        assert "What the graft did" in text
        assert "report: /out/report.html" in text

    def test_medians_stand_with_their_intervals(self) -> None:
        text = self.shown(synthetic.outcome(synthetic.launches(ratio=0.9)), 120)
        assert re.search(r"iteration-cpu +1\.23 s \[1\.23, 1\.23\] +1\.11 s \[1\.11, 1\.12\] +0\.900 \[", text)

    def test_brief(self) -> None:
        text = self.shown(synthetic.outcome(), 80, brief=True)
        assert "grafted / stock" not in text
        assert "No difference resolved" in text
