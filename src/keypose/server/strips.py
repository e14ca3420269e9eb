"""Strips stored in the library, in the colours of a theme."""

from __future__ import annotations

import re

from keypose.library.library import Library
from keypose.library.results_page.strips import sanitize_svg
from keypose.pictures.theme import find_theme
from keypose.server.error_responses import StripNotFound
from keypose.server.workers.worker_context import find_clip

_COLOUR = re.compile(r"var\(--kp-([a-z0-9_]+)\)")


def stored_strip(library: Library, digest: str, theme: str) -> bytes:
    """Return the strip of a clip as SVG: shapes and text only, whatever the database holds."""
    colours = find_theme(theme).colours
    find_clip(library, digest)
    picture = library.strip(digest)
    svg = None if picture is None else sanitize_svg(picture.svg)
    if svg is None:
        raise StripNotFound
    coloured = _COLOUR.sub(lambda match: colours.get(match[1], "none"), svg)
    return coloured.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).encode()
