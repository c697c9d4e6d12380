"""The address space as a picture: which pixel is which page, left to right and top to bottom.

What is present is laid out in strips, one for each stretch of addresses without a large hole; long stretches begin a
new row, short ones share one. The places depend on all maps that were seen, so that a page keeps its pixel from
interval to interval.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgraft.watch.record import PageMap, Range

ABSENT = 0
"""The pixel of a page that is not present; that of a node's page is 2 and the node's position."""
GAP = 1
"""A pixel between strips."""
FIRST_NODE = 2

HOLE = 512
"""Pages without memory that end a strip: a reserved heap would be all hole."""
MOST_PIXELS = 1 << 21
"""Beyond that a pixel is the first of several pages."""
WIDTHS = ((1 << 12, 64), (1 << 14, 128), (1 << 16, 256), (1 << 18, 512))
"""Pixels of a row, up to so many pixels in all; powers of two, in which a program's strides show."""
WIDEST = 1024
STALE = 4
"""How many times larger the picture of all maps may be than that of the newest one."""
SEPARATOR = 2
"""Pixels between short strips in one row."""

Pages = NDArray[np.int64]


@dataclass(frozen=True)
class Strip:
    """A stretch of pages, and its place in the picture: its first pixel, counted along the rows."""

    first_page: int
    pages: int
    first_pixel: int


@dataclass(frozen=True)
class Layout:
    """Where every page is drawn."""

    strips: tuple[Strip, ...]
    width: int
    rows: int
    pages_per_pixel: int


@dataclass(frozen=True)
class Block:
    """A rectangle of the picture that belongs to one mapping; a mapping has up to three for each of its strips."""

    left: int
    top: int
    right: int
    bottom: int
    stretch: Range


class Extents:
    """Which pages were present in any map: rows of first page and the one behind the last, sorted and apart."""

    def __init__(self, page_bytes: int) -> None:
        self.page_bytes = page_bytes
        self.pages = np.empty((0, 2), dtype=np.int64)
        self.cell_pages = 1
        """Of the newest map."""

    def add(self, page_map: PageMap) -> None:
        """Takes in a map; forgets older ones where little of what they show is left."""
        new = _united(_present(page_map, self.page_bytes))
        union = _united(np.concatenate((self.pages, new)))
        self.pages = new if _size(union) > STALE * _size(new) + HOLE else union
        self.cell_pages = page_map.cell_pages

    def with_map(self, page_map: PageMap) -> Pages:
        """The same with a map that may have been forgotten."""
        return _united(np.concatenate((self.pages, _present(page_map, self.page_bytes))))


def _present(page_map: PageMap, page_bytes: int) -> Pages:
    first, pages, _ = _runs(page_map, page_bytes).T
    return np.column_stack((first, first + pages))


def _united(extents: Pages) -> Pages:
    """The same pages, and the small holes between them, in as few extents as possible."""
    if not len(extents):
        return extents
    extents = extents[np.argsort(extents[:, 0], kind="stable")]
    reached = np.maximum.accumulate(extents[:, 1])
    begins = np.flatnonzero(np.append(True, extents[1:, 0] >= reached[:-1] + HOLE))
    return np.column_stack((extents[begins, 0], reached[np.append(begins[1:] - 1, len(extents) - 1)]))


def _size(extents: Pages) -> int:
    return int((extents[:, 1] - extents[:, 0]).sum())


def lay_out(extents: Pages, cell_pages: int = 1) -> Layout:
    """Gives each extent its strip."""
    total = _size(extents)
    per_pixel = max(cell_pages, -(-total // MOST_PIXELS))
    pixels = -(-total // per_pixel)
    width = next((width for most, width in WIDTHS if pixels <= most), WIDEST)
    strips: list[Strip] = []
    free = 0
    for first, last in extents.tolist():
        # A pixel belongs to the same pages wherever an extent begins.
        begin = first - first % per_pixel
        pages = last - begin
        length = -(-pages // per_pixel)
        column = free % width
        if column and column + length > width:
            # In a row of its own, with an empty one in between.
            free += width - column + width
        strips.append(Strip(begin, pages, free))
        free += length
        if length >= width:
            free += -free % width + width
        elif free % width:
            free += min(SEPARATOR, width - free % width)
    last_pixel = max((s.first_pixel + -(-s.pages // per_pixel) for s in strips), default=1)
    return Layout(tuple(strips), width, -(-last_pixel // width), per_pixel)


def _runs(page_map: PageMap, page_bytes: int) -> NDArray[np.int64]:
    """Every run of present pages as first page, pages, node."""
    found = []
    for stretch in page_map.ranges:
        if not stretch.cells:
            continue
        nodes, cells = stretch.runs.T
        pages = cells * page_map.cell_pages
        first = stretch.address // page_bytes + np.cumsum(pages) - pages
        found.append(np.column_stack((first, pages, nodes))[nodes >= 0])
    return np.concatenate(found) if found else np.empty((0, 3), dtype=np.int64)


def paint(layout: Layout, page_map: PageMap, nodes: Sequence[int], page_bytes: int) -> NDArray[np.uint16]:
    """The picture: rows of pixels, the top one first. Pages that the layout has no place for are left out."""
    picture = np.full(layout.rows * layout.width, GAP, dtype=np.uint16)
    per_pixel = layout.pages_per_pixel
    for strip in layout.strips:
        picture[strip.first_pixel : strip.first_pixel + -(-strip.pages // per_pixel)] = ABSENT
    runs = _runs(page_map, page_bytes)
    if layout.strips and len(runs):
        firsts = np.array([strip.first_page for strip in layout.strips])
        at = np.searchsorted(firsts, runs[:, 0], side="right") - 1
        runs, at = runs[at >= 0], at[at >= 0]
        begin = runs[:, 0] - firsts[at]
        last = np.minimum(begin + runs[:, 1], np.array([strip.pages for strip in layout.strips])[at])
        # A pixel shows its first page.
        from_pixel, to_pixel = -(-begin // per_pixel), -(-last // per_pixel)
        lengths = np.maximum(to_pixel - from_pixel, 0)
        from_pixel += np.array([strip.first_pixel for strip in layout.strips])[at]
        steps = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        numbers, which = np.unique(runs[:, 2], return_inverse=True)
        values = np.array([FIRST_NODE + nodes.index(node) for node in numbers.tolist()], dtype=np.uint16)[which]
        picture[np.repeat(from_pixel, lengths) + steps] = np.repeat(values, lengths)
    return picture.reshape(layout.rows, layout.width)


def blocks(layout: Layout, page_map: PageMap, page_bytes: int) -> Iterator[Block]:
    """Where each mapping is in the picture."""
    for stretch in page_map.ranges:
        first = stretch.address // page_bytes
        last = first + page_map.cell_pages * stretch.length
        for strip in layout.strips:
            begin, end = max(first, strip.first_page), min(last, strip.first_page + strip.pages)
            if begin < end:
                pixel = strip.first_pixel + (begin - strip.first_page) // layout.pages_per_pixel
                behind = strip.first_pixel + -(-(end - strip.first_page) // layout.pages_per_pixel)
                yield from _rectangles(layout.width, pixel, behind, stretch)


def _rectangles(width: int, pixel: int, behind: int, stretch: Range) -> Iterator[Block]:
    """The pixels from `pixel` to before `behind`, as rectangles: a begun row, whole rows, and a last one."""
    top, left = divmod(pixel, width)
    last, right = divmod(behind, width)
    if top == last:
        yield Block(left, top, right, top + 1, stretch)
        return
    if left:
        yield Block(left, top, width, top + 1, stretch)
        top += 1
    if top < last:
        yield Block(0, top, width, last, stretch)
    if right:
        yield Block(0, last, right, last + 1, stretch)


def counts(stretch: Range) -> dict[int, int]:
    """How many cells of a mapping are on each node; -1: none."""
    nodes, which = np.unique(stretch.runs[:, 0], return_inverse=True)
    cells = np.zeros(len(nodes), dtype=np.int64)
    np.add.at(cells, which, stretch.runs[:, 1])
    return dict(zip(nodes.tolist(), cells.tolist(), strict=True))
