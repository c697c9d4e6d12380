"""The address space as a Bokeh figure: a pixel a page, its colour the page's node (Tikir 2005, figures 5 and 6)."""

import numpy as np
from bokeh.models import ColumnDataSource, CustomJSHover, HoverTool, LinearColorMapper, Range1d
from bokeh.plotting import figure

from memgraft.report.figures import FAINT
from memgraft.watch import addresses, colours
from memgraft.watch.record import PageMap, Range, Start
from memgraft.watch.saving import Saving, saved

WIDTH = 1200
"""Screen pixels for which the height is chosen, so that a page is about square."""
HEIGHTS = (160, 720)

# What follows the names of a mapping in the hover's text: computed for the pixel below the pointer, which the server
# does not know. `special_vars` are Bokeh's: the pointer's place in the picture.
PIXEL = """
  const [column, row] = [Math.floor(special_vars.x), Math.floor(special_vars.y)];
  const {width, per_pixel, page_bytes, numbers} = layout.tags[0];
  const pixel = row * width + column;
  const {first_pixel, first_page} = strips.data;
  let at = -1;
  while (at + 1 < first_pixel.length && first_pixel[at + 1] <= pixel) at += 1;
  if (at < 0) return "";
  const page = first_page[at] + (pixel - first_pixel[at]) * per_pixel;
  const node = image.data.image[0][pixel] - 2;
  return `0x${(page * page_bytes).toString(16)}: ${node < 0 ? "not present" : "node " + numbers[node]}`;
"""


class Map:
    """The address space: a pixel a page, its colour the page's node."""

    def __init__(self, start: Start, saving: Saving) -> None:
        self.start = start
        self.image = ColumnDataSource(
            {"image": [np.zeros((1, 1), dtype=np.uint8)], "dw": [1], "dh": [1]}, name="map-source"
        )
        self.blocks = ColumnDataSource({name: [] for name in ("left", "top", "right", "bottom", "name", "at", "on")})
        self.strips = ColumnDataSource({"first_pixel": [], "first_page": []})
        self.figure = figure(
            height=HEIGHTS[0],
            sizing_mode="stretch_width",
            # No tool is active from the start, so that a phone scrolls past the picture.
            tools="pan,box_zoom,wheel_zoom,zoom_in,zoom_out,reset",
            active_drag=None,
            active_scroll=None,
            x_range=Range1d(start=0, end=1, bounds="auto"),
            y_range=Range1d(start=1, end=0, bounds="auto"),
            toolbar_location="above",
            background_fill_alpha=0,
            border_fill_alpha=0,
            outline_line_color=FAINT,
            min_border=0,
        )
        self.figure.axis.visible = False
        self.figure.grid.visible = False
        shown = colours.of_nodes(len(start.nodes))
        palette = [colours.ABSENT, colours.GAP, *shown]
        mapper = LinearColorMapper(palette=palette, low=-0.5, high=len(palette) - 0.5)
        self.figure.image("image", x=0, y=0, dw="dw", dh="dh", source=self.image, color_mapper=mapper)  # type: ignore[call-arg]
        areas = self.figure.quad(
            *("left", "right", "top", "bottom"), source=self.blocks, fill_alpha=0, line_alpha=0, hover_line_alpha=0
        )
        pixel = CustomJSHover(args={"layout": self.image, "strips": self.strips, "image": self.image}, code=PIXEL)
        self.figure.add_tools(
            HoverTool(
                renderers=[areas],
                tooltips=[("mapping", "@name"), ("from", "@at"), ("pages on", "@on"), ("here", "@left{custom}")],
                formatters={"@left": pixel},
                attachment="vertical",
            )
        )
        saved(self.figure, "map", saving)
        self.figure.toolbar_location = "above"
        self.figure.toolbar.autohide = False
        self._layout: addresses.Layout | None = None

    def show(self, layout: addresses.Layout, page_map: PageMap) -> None:
        page = self.start.page_bytes
        picture = addresses.paint(layout, page_map, self.start.numbers, page)
        # A byte a pixel where that is enough.
        picture = picture.astype(np.min_scalar_type(len(self.start.nodes) + addresses.FIRST_NODE))
        if layout != self._layout:
            self._place(layout)
        self.image.data = {"image": [picture], "dw": [layout.width], "dh": [layout.rows]}
        found = list(addresses.blocks(layout, page_map, page))
        self.blocks.data = {
            "left": [block.left for block in found],
            "right": [block.right for block in found],
            "top": [block.top for block in found],
            "bottom": [block.bottom for block in found],
            "name": [block.stretch.name or "(no name)" for block in found],
            "at": [_extent(block.stretch, page_map, page) for block in found],
            "on": [_counts(block.stretch, page_map) for block in found],
        }

    def _place(self, layout: addresses.Layout) -> None:
        self._layout = layout
        lowest, highest = HEIGHTS
        self.figure.height = min(max(lowest, layout.rows * WIDTH // layout.width), highest) + 40
        self.figure.x_range.update(
            start=0, end=layout.width, reset_start=0, reset_end=layout.width, bounds=(0, layout.width)
        )
        self.figure.y_range.update(
            start=layout.rows, end=0, reset_start=layout.rows, reset_end=0, bounds=(0, layout.rows)
        )
        self.strips.data = {
            "first_pixel": [strip.first_pixel for strip in layout.strips],
            "first_page": [float(strip.first_page) for strip in layout.strips],
        }
        self.image.tags = [
            {
                "width": layout.width,
                "per_pixel": layout.pages_per_pixel,
                "page_bytes": self.start.page_bytes,
                "numbers": self.start.numbers,
            }
        ]


def pages_on(page_map: PageMap, start: Start) -> list[int]:
    """How many pages of a map are not present, then how many are on each node."""
    found = dict.fromkeys([-1, *start.numbers], 0)
    for stretch in page_map.ranges:
        for node, cells in addresses.counts(stretch).items():
            found[node] += cells * page_map.cell_pages
    return list(found.values())


def _extent(stretch: Range, page_map: PageMap, page_bytes: int) -> str:
    pages = page_map.cell_pages * stretch.length
    return f"{stretch.start} to {stretch.address + pages * page_bytes:#x}"


def _counts(stretch: Range, page_map: PageMap) -> str:
    """`node 0: 400, node 1: 112, not present: 3`."""
    return ", ".join(
        f"{'not present' if node < 0 else f'node {node}'}: {cells * page_map.cell_pages:,}"
        for node, cells in sorted(addresses.counts(stretch).items(), key=lambda one: (one[0] < 0, one))
    )
