"""``Picture``: SVG that can be saved, converted to PNG and displayed in a notebook."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from html import escape
from os import PathLike, fspath
from pathlib import Path

from keypose.errors import MissingExtra, OptionError
from keypose.formats.files import write_atomically
from keypose.validation import check_number

MAX_PIXELS = 1 << 26  # of a PNG: 256 MB during conversion
MIN_SCALE, MAX_SCALE = 0.01, 100.0  # pixels to a px
SUFFIXES = (".svg", ".png")


@dataclass(frozen=True)
class Picture:
    """An SVG picture of ``width`` x ``height`` px. ``save`` writes ``.svg`` or ``.png``; notebooks display it."""

    svg: str
    width: float
    height: float
    alt_text: str  # description for screen readers

    def __repr__(self) -> str:
        return f"Picture({self.width:.0f} x {self.height:.0f} px: {self.alt_text})"

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.svg.encode()).decode()
        return (f'<img alt="{escape(self.alt_text)}" width="{self.width:.0f}" height="{self.height:.0f}" '
                f'style="max-width:100%;height:auto" src="data:image/svg+xml;base64,{data}">')  # fmt: skip

    def png(self, scale: float = 2.0) -> bytes:
        """Return the picture as PNG with ``scale`` pixels per px; needs the extra ``png``."""
        factor = check_number("scale", scale, min_value=MIN_SCALE, max_value=MAX_SCALE)
        if self.width * self.height * factor * factor > MAX_PIXELS:
            raise OptionError(f"a PNG of {self.width * factor:.0f} x {self.height * factor:.0f} pixels, "
                              f"expected at most {MAX_PIXELS:,} in all: take a smaller scale")  # fmt: skip
        try:
            import font_source_sans_pro as fonts
            import resvg_py
        except ImportError:
            raise MissingExtra("PNG pictures need: pip install 'keypose[png]' (SVG needs nothing)") from None
        # Our own font first, so that pictures are equal on every machine; system fonts only for other scripts.
        files = [fonts.SourceSansPro, fonts.SourceSansProSemibold]
        pixels: bytes = resvg_py.svg_to_bytes(
            svg_string=self.svg,
            zoom=factor,
            skip_system_fonts=not _needs_other_fonts(self.svg),
            font_files=files,
            sans_serif_family="Source Sans Pro",
        )
        return bytes(pixels)

    def save(self, path: str | PathLike[str], *, scale: float = 2.0) -> Path:
        """Write an ``.svg``, or a ``.png`` with ``scale`` pixels per px, atomically."""
        target = picture_path(path)
        write_atomically(target, self.svg.encode() if target.suffix.lower() == ".svg" else self.png(scale))
        return target


def parse_size(svg: str) -> tuple[float, float]:
    """Return width and height in px of an SVG of ``svg.document``."""
    match = re.match(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"', svg)
    if match is None:
        raise OptionError(f"a picture that begins with {svg[:20]!r}, expected one of ours")
    return float(match[1]), float(match[2])


def picture_path(path: str | PathLike[str]) -> Path:
    """Return ``path`` if it has a suffix of a picture format; call it before any work is done."""
    target = Path(fspath(path))
    if target.suffix.lower() not in SUFFIXES:
        raise OptionError(f"{target}: a picture is written as one of {', '.join(SUFFIXES)}")
    return target


def _needs_other_fonts(svg: str) -> bool:
    return re.search(r"[^\u0000-\u024f\u2010-\u2026]", svg) is not None
