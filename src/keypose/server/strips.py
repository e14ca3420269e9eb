"""Strips that the library keeps, in the colours of a theme."""

from __future__ import annotations

import re

from keypose.library.library import Library
from keypose.library.results_page.strips import drawing
from keypose.pictures.theme import theme_of
from keypose.server.failing import NoStrip
from keypose.server.work.desk import clip_of

_COLOUR = re.compile(r"var\(--kp-([a-z0-9_]+)\)")


def stored_strip(library: Library, digest: str, theme: str) -> bytes:
    """The strip of a clip as an SVG file: shapes and words, and nothing else that a database may hold."""
    colours = theme_of(theme).colours
    clip_of(library, digest)
    picture = library.strip(digest)
    svg = None if picture is None else drawing(picture.svg)
    if svg is None:
        raise NoStrip
    painted = _COLOUR.sub(lambda found: colours.get(found[1], "none"), svg)
    return painted.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).encode()
