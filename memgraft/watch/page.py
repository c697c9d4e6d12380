"""The live page: one document for each browser tab, with its own place in time; the history is everybody's.

`Page.tick` is called twice a second. It moves on where the page is playing, and hands the state to the figures.
"""

import re

from bokeh.document import Document
from bokeh.models import Column, InlineStyleSheet, LayoutDOM, Row
from bokeh.models.ui import UIElement
from bokeh.models.widgets import Button, Div, Slider, Toggle

from memgraft.version import version
from memgraft.watch import colours, facts
from memgraft.watch.figures import WINDOW, Contention, OverTime, Shares
from memgraft.watch.history import History
from memgraft.watch.jvm import JvmPanel, JvmSeries
from memgraft.watch.parts import part, template, words
from memgraft.watch.placement_map import Map, pages_on
from memgraft.watch.record import Start
from memgraft.watch.saving import Saving

TICK_MILLISECONDS = 500
RELOAD = "reload"
"""What the page's script waits for."""


CONTROL_RULES = """
.bk-btn, .bk-btn.bk-btn-default, .bk-btn.bk-active { font: inherit; font-size: .9rem; color: var(--ink);
  background: var(--box); border: 1px solid var(--line); box-shadow: none; padding: .25rem .7rem; }
.bk-btn:hover { border-color: var(--ink); }
.bk-btn:focus-visible { outline: 2px solid var(--unresolved); }
.noUi-target { background: var(--box); border-color: var(--line); box-shadow: none; }
.noUi-handle { background: var(--paper); border-color: var(--faint); box-shadow: none; }
"""


class Page:
    """One browser tab."""

    def __init__(self, document: Document, history: History, series: JvmSeries | None, websocket: str) -> None:
        self.document, self.history, self.series = document, history, series
        self.start = self._start()
        self.begun = history.begun
        self.position = -1
        """Of the interval shown; before the first one: -1."""
        self.newest = -1
        """The newest one at the last tick."""
        self.jvm_version = -1
        self.shown: tuple[object, ...] = ()
        self.quiet = False
        """Whether the slider is being set by the page itself."""
        saving = Saving()
        self.saving = saving
        self.map = Map(self.start, saving)
        self.over_time = OverTime(self.start, saving)
        self.shares = Shares(self.start, saving)
        self.now = Contention(self.start, "contention-now", saving)
        self.so_far = Contention(self.start, "contention-so-far", saving)
        self.jvm = JvmPanel(saving) if series is not None else None
        self.header, self.key, self.map_note, self.moment, self.numbers, self.about = (
            words(name) for name in ("header", "key", "map_note", "moment", "numbers", "about")
        )
        self._controls()
        self.about.text = part("rows", facts.about(self.start, history.tail.path, version()), "exact")
        for root in self._roots():
            document.add_root(root)
        document.title = f"memgraft watch: {facts.title(self.start)}"
        document.template = template("page.html.j2")
        document.template_variables.update(version=version(), with_jvm=self.jvm is not None, websocket=websocket)
        # The page says it in its own words.
        document.config.notify_connection_status = False
        self.tick()
        document.add_periodic_callback(self.tick, TICK_MILLISECONDS)

    def _start(self) -> Start:
        start = self.history.tail.start
        assert start is not None  # noqa: S101  the server waits for the first line before it shows a page
        return start

    def _controls(self) -> None:
        # Of a finished run the end is shown, of a live one what comes.
        self.playing = Toggle(
            label="",
            active=self.history.tail.end is None,
            name="playing",
            stylesheets=[InlineStyleSheet(css=CONTROL_RULES)],
        )
        self.playing.on_change("active", self._played)
        buttons: list[UIElement] = []
        for label, name, go in (
            ("First", "first", lambda: 0),
            ("Back", "back", lambda: self.position - 1),
            ("Forward", "forward", lambda: self.position + 1),
            ("Latest", "latest", lambda: len(self.history) - 1),
        ):
            button = Button(label=label, name=name, stylesheets=[InlineStyleSheet(css=CONTROL_RULES)])
            button.on_click(lambda go=go: self._go(go()))
            buttons.append(button)
        buttons.insert(2, self.playing)
        self.buttons = Row(children=buttons, name="buttons", spacing=4)
        self.slider = Slider(
            start=0,
            end=1,
            value=0,
            step=1,
            title="interval",
            name="interval",
            show_value=False,
            sizing_mode="stretch_width",
            stylesheets=[InlineStyleSheet(css=CONTROL_RULES)],
        )
        self.slider.title = None
        self.slider.on_change("value", self._slid)

    def _roots(self) -> list[LayoutDOM]:
        self.slider_root = Column(children=[self.slider], name="slider", sizing_mode="stretch_width")
        roots: list[LayoutDOM] = [
            *(self.header, self.buttons, self.slider_root, self.moment, self.key, self.map.figure, self.map_note),
            *(self.over_time.moves, self.shares.figure, self.over_time.shares, self.over_time.kernel, self.numbers),
            *(self.now.figure, self.so_far.figure, self.about),
        ]
        return roots + (self.jvm.roots() if self.jvm else [])

    # --- moving in time -----------------------------------------------------------------------------------------

    def _go(self, position: int) -> None:
        """To an interval that the reader chose; stays there."""
        self.playing.active = False
        self.position = min(max(position, 0), len(self.history) - 1)
        self._show()

    # What Bokeh calls has these names for its parameters, and no others.
    def _slid(self, attr: str, old: object, new: float) -> None:  # noqa: ARG002
        if not self.quiet and new != self.position:
            self._go(int(new))

    def _played(self, attr: str, old: object, new: bool) -> None:  # noqa: ARG002
        at_end = self.position >= len(self.history) - 1
        if self.playing.active and at_end and self.history.tail.end and len(self.history) > 1:
            # A replay, from the start.
            self.position = 0
        self._show()

    def tick(self) -> None:
        """Moves on to what has been read, or to the next interval."""
        if self.begun != self.history.begun:
            # Another run writes to the same file, with other nodes perhaps: the page's script loads the page again.
            if self.history.tail.start and self.header.tags != [RELOAD]:
                self.header.tags = [RELOAD]
            return
        if self.jvm and self.series and self.series.version != self.jvm_version:
            self.jvm_version = self.series.version
            self.jvm.show(self.series)
        was_newest, newest = self.newest, len(self.history) - 1
        self.newest = newest
        if self.position < 0 <= newest:
            self.position = newest
        elif self.playing.active and self.position < newest:
            # Who is at the end stays there; who replays goes on step by step.
            self.position = newest if self.position >= was_newest else self.position + 1
        elif self.playing.active and self.history.tail.end:
            self.playing.active = False
        self._show()

    # --- showing ------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        self._say()
        count = len(self.history)
        shown = (self.position, min(count, WINDOW) if count <= WINDOW else count)
        if self.position < 0 or shown == self.shown:
            return
        self.shown = shown
        state = self.history.at(self.position)
        self.quiet = True
        self.slider.update(end=max(1, count - 1), value=self.position, disabled=count < 2)  # noqa: PLR2004
        self.quiet = False
        first = min(max(0, self.position - WINDOW * 3 // 4), max(0, count - WINDOW))
        self.over_time.show([self.history.at(at) for at in range(first, min(first + WINDOW, count))], state)
        self.shares.show(state)
        self.now.show(state.accesses)
        self.so_far.show(state.accesses_so_far)
        self.numbers.text = part("rows", facts.numbers(self.start, state))
        self._show_map()

    def _show_map(self) -> None:
        found = self.history.map_at(self.position)
        counts: list[str | None] = [None] * (len(self.start.nodes) + 1)
        if found is None:
            note = "This record has no map of the pages up to here; `memgraft place --map` adds it."
        else:
            at, page_map = found
            layout = self.history.layout(page_map)
            self.map.show(layout, page_map)
            note = "" if at == self.position else f"The map is of interval {self.history.tail.intervals[at].number}."
            if layout.pages_per_pixel > 1:
                note += f" Each pixel is the first of {layout.pages_per_pixel:,} pages."
            counts = [f"{pages:,} pages" for pages in pages_on(page_map, self.start)]
        self.map_note.update(text=part("note", note), visible=bool(note))
        names = [f"node {number}" for number in self.start.numbers]
        shown = colours.of_nodes(len(names))
        self.key.text = part(
            "key",
            [
                {"name": name, "colour": colour, "count": count}
                for name, colour, count in zip(
                    [*names, "not present"], [*shown, "none"], [*counts[1:], counts[0]], strict=True
                )
            ],
        )

    def _say(self) -> None:
        """The words that may change without a new interval, too."""
        tail = self.history.tail
        state = self.history.at(self.position) if self.position >= 0 else None
        warnings = ["Reading the record ..."] if tail.behind else []
        sentence = facts.sentence(state, self.start.dry_run) if state else "Waiting for the first interval."
        self._set(
            self.header,
            part(
                "header",
                facts.title(self.start),
                sentence,
                facts.condition(tail),
                self.start.dry_run,
                str(tail.error or ""),
                warnings,
            ),
        )
        self._set_label("Pause" if self.playing.active else ("Play" if tail.end else "Follow"))
        if state:
            number, newest = state.interval.number, tail.intervals[-1].number
            when = f"{state.interval.at_ms / 1000:,.1f} s"
            still = "" if self.playing.active or self.position == len(self.history) - 1 else ", paused"
            self._set(self.moment, part("moment", f"interval {number} of {newest}, {when}{still}", self.playing.active))
            stem = f"memgraft-{re.sub(r'[^A-Za-z0-9._-]+', '-', self.start.program)}-{self.start.pid}-interval-{number}"
            what = f"{facts.title(self.start)}, interval {number}, {when} after the start: {sentence}"
            names = [f"node {number}" for number in self.start.numbers]
            key = list(zip(names, colours.of_nodes(len(names)), strict=True))
            tags = [{"stem": stem, "title": what, "key": key}]
            if self.header.tags != tags:
                self.header.tags = tags
                self.saving.rename(stem)

    @staticmethod
    def _set(div: Div, text: str) -> None:
        if div.text != text:
            div.text = text

    def _set_label(self, label: str) -> None:
        if self.playing.label != label:
            self.playing.label = label
