"""A picture: SVG that can be saved, turned into pixels, and shown by a notebook."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from html import escape
from os import PathLike, fspath
from pathlib import Path

from keypose.errors import MissingExtra, OptionError
from keypose.formats.files import write_atomically
from keypose.options import number

MOST_PIXELS = 1 << 26  # of a PNG: 256 MB while it is made
LEAST_SCALE, MOST_SCALE = 0.01, 100.0  # pixels to a px
SUFFIXES = (".svg", ".png")


@dataclass(frozen=True)
class Picture:
    """An SVG picture of ``width`` x ``height`` px. ``save`` it as ``.svg`` or ``.png``; a notebook shows it."""

    svg: str
    width: float
    height: float
    says: str  # in words, for who cannot see it

    def __repr__(self) -> str:
        return f"Picture({self.width:.0f} x {self.height:.0f} px: {self.says})"

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.svg.encode()).decode()
        return (f'<img alt="{escape(self.says)}" width="{self.width:.0f}" height="{self.height:.0f}" '
                f'style="max-width:100%;height:auto" src="data:image/svg+xml;base64,{data}">')  # fmt: skip

    def png(self, scale: float = 2.0) -> bytes:
        """The picture in pixels, ``scale`` of them to a px; needs the extra ``png``."""
        factor = number("scale", scale, least=LEAST_SCALE, most=MOST_SCALE)
        if self.width * self.height * factor * factor > MOST_PIXELS:
            raise OptionError(f"a PNG of {self.width * factor:.0f} x {self.height * factor:.0f} pixels, "
                              f"expected at most {MOST_PIXELS:,} in all: take a smaller scale")  # fmt: skip
        try:
            import font_source_sans_pro as fonts
            import resvg_py
        except ImportError:
            raise MissingExtra("PNG pictures need: pip install 'keypose[png]' (SVG needs nothing)") from None
        # Our own font first, so that a picture is the same on every machine; others only for other scripts.
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
        """Writes an ``.svg``, or a ``.png`` with ``scale`` pixels to a px; all of it or nothing."""
        target = picture_path(path)
        write_atomically(target, self.svg.encode() if target.suffix.lower() == ".svg" else self.png(scale))
        return target


def size_of(svg: str) -> tuple[float, float]:
    """Width and height in px of a picture that ``svg.document`` made."""
    found = re.match(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"', svg)
    if found is None:
        raise OptionError(f"a picture that begins with {svg[:20]!r}, expected one of ours")
    return float(found[1]), float(found[2])


def picture_path(path: str | PathLike[str]) -> Path:
    """``path``, if its suffix is one that pictures have; to be asked before any work is done."""
    target = Path(fspath(path))
    if target.suffix.lower() not in SUFFIXES:
        raise OptionError(f"{target}: a picture is written as one of {', '.join(SUFFIXES)}")
    return target


def _needs_other_fonts(svg: str) -> bool:
    return re.search(r"[^\u0000-\u024f\u2010-\u2026]", svg) is not None
