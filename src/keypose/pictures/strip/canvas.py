"""From heights of the figure to px: how large a strip is, and where in it things are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from keypose.arrays import Floats, Frozen
from keypose.errors import OptionError
from keypose.options import number

HEIGHT_PX = 180.0
MARGIN_PX = 10.0
TITLE_PX = 24.0
CAPTION_PX = 30.0  # two lines
TICKS_PX = 20.0
CAPTION_WIDTH_PX, SPAN_WIDTH_PX = 44.0, 100.0  # of frame and time; from first to last
WIDEST_PX = 16_000.0
SMALLEST_PX, LARGEST_PX = 16.0, 20_000.0
TRIES = 5
LARGE_PX, LARGEST_TEXT = 320.0, 3.0  # from which height on letters grow with the picture, and up to what
LEAST_TALL = 0.9  # heights: poses that lie are not drawn larger than those that stand
WORTH = 0.66  # captions that make figures smaller than this, compared with none, are left out


@dataclass(frozen=True)
class Wish:
    """What was asked of the size."""

    height: float | None = None
    width: float | None = None  # at most
    exact: bool = False  # both are given, and the picture has them whatever is in it

    @staticmethod
    def of(height_px: float | None, width_px: float | None, size_px: tuple[float, float] | None) -> Wish:
        """The wish of these options, checked."""
        if size_px is not None:
            if height_px is not None or width_px is not None:
                raise OptionError("size_px and height_px or width_px cannot both be meant")
            if not isinstance(size_px, tuple | list) or len(size_px) != 2:
                raise OptionError(f"size_px={size_px!r}, expected (width, height)")
            width, height = (number("size_px", each, least=SMALLEST_PX, most=LARGEST_PX) for each in size_px)
            return Wish(height, width, exact=True)
        tall = None if height_px is None else number("height_px", height_px, least=SMALLEST_PX, most=LARGEST_PX)
        wide = None if width_px is None else number("width_px", width_px, least=SMALLEST_PX, most=LARGEST_PX)
        return Wish(tall, wide)


@dataclass(frozen=True, eq=False)
class Canvas(Frozen):
    """A picture of ``width`` x ``height`` px in which a height of the figure is ``scale`` px."""

    width: float
    height: float
    scale: float
    left: float  # px of x = 0
    floor: float  # px of y = 0
    bottom: float  # px where the figures' part of the picture ends, and captions begin
    tall: float  # px that the figures have
    captions: bool
    text: float  # how much larger than usual letters are
    offsets: Floats  # (F, 2) of the poses, in heights

    def x(self, heights: float) -> float:
        """Px from the left."""
        return self.left + self.scale * heights

    def y(self, heights: float) -> float:
        """Px from the top."""
        return self.floor - self.scale * heights


Place = Callable[[float, float], Floats]  # least width of a pose, and room between rows, in heights -> offsets (F, 2)
Extent = Callable[[Floats], Floats]  # offsets -> least and greatest x and y (2, 2) of all that is drawn


@dataclass(frozen=True)
class Needs:
    """What a strip has beside its poses: a title, captions of so many px, with so much more below their lines, rows."""

    title: bool
    captions: bool
    caption_px: float
    below: float = 0.0
    rows: int = 1


def fit(wish: Wish, place: Place, extent: Extent, needs: Needs) -> Canvas:
    """The canvas on which all poses have room; captions are dropped where they would make the poses small."""
    said = _fit(wish, place, extent, needs)
    asked = wish.height or HEIGHT_PX * needs.rows
    if not needs.captions or (wish.width is None and said.tall >= WORTH * asked):
        return said
    bare = _fit(wish, place, extent, replace(needs, captions=False, caption_px=0.0, below=0.0))
    return said if said.scale >= WORTH * bare.scale else bare


def _fit(wish: Wish, place: Place, extent: Extent, needs: Needs) -> Canvas:
    rows, captions = needs.rows, needs.captions
    asked = wish.height or HEIGHT_PX * rows
    margin, text = min(MARGIN_PX, 0.06 * asked / rows), min(max(1.0, asked / rows / LARGE_PX), LARGEST_TEXT)
    caption_px, lines = text * needs.caption_px, text * (CAPTION_PX + needs.below) * captions
    head, foot, between = margin + TITLE_PX * needs.title, 0.5 * margin + lines, 0.5 * margin + lines
    tall = max(8.0, asked - head - foot - (rows - 1) * between)
    wide = max(8.0, (wish.width or WIDEST_PX) - 2 * margin)
    scale = tall / LEAST_TALL
    for _ in range(TRIES):
        offsets = place(caption_px / scale, 0.0)
        (x0, y0), (x1, y1) = extent(offsets).tolist()
        fits = min(tall / max(y1 - y0, LEAST_TALL), wide / (x1 - x0))
        if fits >= 0.999 * scale:
            break
        scale = fits  # smaller poses, whose captions then need more of their heights
    least, scale = caption_px / scale, min(scale, fits)
    if rows > 1:
        offsets = place(least, between / scale)
        (x0, y0), (x1, y1) = extent(offsets).tolist()
    needed = max(scale * (x1 - x0), caption_px) + 2 * margin
    width = wish.width if wish.exact and wish.width else min(needed, wish.width or WIDEST_PX)
    height = asked if wish.exact else min(asked, head + foot + scale * max(y1 - y0, LEAST_TALL))
    bottom = height - foot - 0.5 * max(0.0, height - head - foot - scale * max(y1 - y0, LEAST_TALL))
    left = (width - scale * (x0 + x1)) / 2
    return Canvas(
        math.ceil(width), math.ceil(height), scale, left, bottom + scale * y0, bottom, tall, captions, text, offsets
    )
