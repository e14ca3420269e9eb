"""Size of a strip, and the mapping from heights of the figure to px."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from keypose.arrays import Floats, Frozen
from keypose.errors import OptionError
from keypose.validation import check_number

HEIGHT_PX = 180.0
MARGIN_PX = 10.0
TITLE_PX = 24.0
CAPTION_PX = 30.0  # two lines
TICKS_PX = 20.0
CAPTION_WIDTH_PX, SPAN_WIDTH_PX = 44.0, 100.0  # of one frame and time; of a range
MAX_WIDTH_PX = 16_000.0
MIN_SIZE_PX, MAX_SIZE_PX = 16.0, 20_000.0
MAX_ITERATIONS = 5
LARGE_PX, MAX_TEXT_SCALE = 320.0, 3.0  # text grows with pictures taller than this, up to this factor
MIN_HEIGHT = 0.9  # heights; lying poses are not enlarged beyond standing ones
MIN_CAPTIONED_SCALE = 0.66  # captions are omitted if they shrink figures below this share


@dataclass(frozen=True)
class SizeOptions:
    """Requested size in px."""

    height: float | None = None
    width: float | None = None  # maximum
    is_exact: bool = False  # the picture has exactly this width and height

    @staticmethod
    def parse(height_px: float | None, width_px: float | None, size_px: tuple[float, float] | None) -> SizeOptions:
        """Check the size options of ``strip`` and return them."""
        if size_px is not None:
            if height_px is not None or width_px is not None:
                raise OptionError("size_px and height_px or width_px cannot both be meant")
            if not isinstance(size_px, tuple | list) or len(size_px) != 2:
                raise OptionError(f"size_px={size_px!r}, expected (width, height)")
            width, height = (
                check_number("size_px", each, min_value=MIN_SIZE_PX, max_value=MAX_SIZE_PX) for each in size_px
            )
            return SizeOptions(height, width, is_exact=True)
        max_height = (
            None
            if height_px is None
            else check_number("height_px", height_px, min_value=MIN_SIZE_PX, max_value=MAX_SIZE_PX)
        )
        max_width = (
            None
            if width_px is None
            else check_number("width_px", width_px, min_value=MIN_SIZE_PX, max_value=MAX_SIZE_PX)
        )
        return SizeOptions(max_height, max_width)


@dataclass(frozen=True, eq=False)
class Canvas(Frozen):
    """A picture of ``width`` x ``height`` px with ``scale`` px per height of the figure."""

    width: float
    height: float
    scale: float
    left: float  # px of x = 0
    floor: float  # px of y = 0
    bottom: float  # px of the end of the figure area and start of captions
    figures_px: float  # height of the figure area in px
    has_captions: bool
    text_scale: float  # relative to the default text size
    offsets: Floats  # (F, 2) of poses, in heights

    def x(self, heights: float) -> float:
        """Return px from the left."""
        return self.left + self.scale * heights

    def y(self, heights: float) -> float:
        """Return px from the top."""
        return self.floor - self.scale * heights


PlaceFunction = Callable[
    [float, float], Floats
]  # minimum width of a pose, space between rows, in heights -> offsets (F, 2)
ExtentFunction = Callable[[Floats], Floats]  # offsets -> min and max x and y (2, 2)


@dataclass(frozen=True)
class Decorations:
    """Space used beside the poses: title, captions of ``caption_px`` width with extra px below, rows."""

    has_title: bool
    has_captions: bool
    caption_px: float
    extra_caption_px: float = 0.0
    n_rows: int = 1


def fit_canvas(size: SizeOptions, place: PlaceFunction, extent: ExtentFunction, decorations: Decorations) -> Canvas:
    """Return a canvas that fits all poses; captions are dropped if they would make the poses small."""
    captioned = _fit_canvas(size, place, extent, decorations)
    height = size.height or HEIGHT_PX * decorations.n_rows
    if not decorations.has_captions or (size.width is None and captioned.figures_px >= MIN_CAPTIONED_SCALE * height):
        return captioned
    without_captions = replace(decorations, has_captions=False, caption_px=0.0, extra_caption_px=0.0)
    bare = _fit_canvas(size, place, extent, without_captions)
    return captioned if captioned.scale >= MIN_CAPTIONED_SCALE * bare.scale else bare


def _fit_canvas(size: SizeOptions, place: PlaceFunction, extent: ExtentFunction, decorations: Decorations) -> Canvas:
    rows, captions = decorations.n_rows, decorations.has_captions
    height_limit = size.height or HEIGHT_PX * rows
    margin, text_scale = (
        min(MARGIN_PX, 0.06 * height_limit / rows),
        min(max(1.0, height_limit / rows / LARGE_PX), MAX_TEXT_SCALE),
    )
    caption_px, lines = (
        text_scale * decorations.caption_px,
        text_scale * (CAPTION_PX + decorations.extra_caption_px) * captions,
    )
    head, foot, between = margin + TITLE_PX * decorations.has_title, 0.5 * margin + lines, 0.5 * margin + lines
    figures_px = max(8.0, height_limit - head - foot - (rows - 1) * between)
    max_width = max(8.0, (size.width or MAX_WIDTH_PX) - 2 * margin)
    scale = figures_px / MIN_HEIGHT
    for _ in range(MAX_ITERATIONS):
        offsets = place(caption_px / scale, 0.0)
        (x0, y0), (x1, y1) = extent(offsets).tolist()
        fitting_scale = min(figures_px / max(y1 - y0, MIN_HEIGHT), max_width / (x1 - x0))
        if fitting_scale >= 0.999 * scale:
            break
        scale = fitting_scale  # captions of smaller poses need more of their heights
    min_width, scale = caption_px / scale, min(scale, fitting_scale)
    if rows > 1:
        offsets = place(min_width, between / scale)
        (x0, y0), (x1, y1) = extent(offsets).tolist()
    content_width = max(scale * (x1 - x0), caption_px) + 2 * margin
    width = size.width if size.is_exact and size.width else min(content_width, size.width or MAX_WIDTH_PX)
    height = height_limit if size.is_exact else min(height_limit, head + foot + scale * max(y1 - y0, MIN_HEIGHT))
    bottom = height - foot - 0.5 * max(0.0, height - head - foot - scale * max(y1 - y0, MIN_HEIGHT))
    left = (width - scale * (x0 + x1)) / 2
    return Canvas(
        math.ceil(width),
        math.ceil(height),
        scale,
        left,
        bottom + scale * y0,
        bottom,
        figures_px,
        captions,
        text_scale,
        offsets,
    )
