"""Elements of a page: tables, figures, lists of facts, collapsible details. Text is escaped here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from keypose.errors import OptionError
from keypose.pictures.picture import Picture
from keypose.pictures.svg import clean

Cell = str | float | int | None  # text is escaped, numbers are right-aligned, None is a dash
MAX_NOTE_LENGTH = 500  # characters


def is_id(text: str) -> bool:
    """Return whether ``text`` can be an id and the target of a link."""
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", text) is not None


def escape_text(text: str, max_length: int = 200) -> str:
    """Return ``text`` as HTML: cleaned, truncated to ``max_length`` characters, escaped."""
    return escape(clean(text, max_length))


def figure(picture: Picture, id: str, caption: str = "", more: str = "", *, max_scale: float = 1.0) -> str:
    """Return a figure with a picture of theme ``page`` and a caption; ``more`` is HTML below it, such as a table.

    Ids within the picture are prefixed by ``id``, so that pictures do not conflict. On narrow pages the picture is
    scaled down, on very narrow ones scrolled; on wide pages it is enlarged up to ``max_scale``.
    """
    if not is_id(id):
        raise OptionError(f"figure id {id!r}, expected letters, digits and hyphens")
    below = f"<figcaption>{escape_text(caption, 1000)}</figcaption>" if caption else ""
    size = f"min-width:{min(picture.width, 600):.0f}px;max-width:{max_scale * picture.width:.0f}px"
    return (
        f'<figure id="{id}"><div class="wide">'
        f'<div class="picture" style="{size}">{_prefix_ids(picture.svg, id)}'
        f"</div></div>{below}{more}</figure>\n"
    )


def _prefix_ids(svg: str, prefix: str) -> str:
    """Prefix all ids. Text cannot be mistaken for attributes, since its quotes are escaped."""
    svg = re.sub(r' id="([^"]*)"', rf' id="{prefix}-\1"', svg)
    svg = re.sub(r'="url\(#([^")]*)\)"', rf'="url(#{prefix}-\1)"', svg)
    return re.sub(r' href="#([^"]*)"', rf' href="#{prefix}-\1"', svg)


def table(
    caption: str, head: Sequence[str], rows: Sequence[Sequence[Cell]], *, digits: int = 2, row_heads: bool = True
) -> str:
    """Return an accessible table: caption, column headers, and the first cell as header of its row.

    Floats get ``digits`` decimals; pass text for other formats.
    """
    heads = "".join(f'<th scope="col">{escape_text(name)}</th>' for name in head)
    body = "".join(f"<tr>{_row(row, digits, row_heads)}</tr>" for row in rows)
    return (
        f'<div class="wide"><table><caption>{escape_text(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>\n"
    )


def _row(row: Sequence[Cell], digits: int, row_heads: bool) -> str:
    cells = []
    for index, value in enumerate(row):
        is_number = not isinstance(value, str)
        attribute = ' class="number"' if is_number else ""
        text = escape_text(value) if isinstance(value, str) else _format_cell(value, digits)
        cells.append(
            f'<th scope="row"{attribute}>{text}</th>' if index == 0 and row_heads else f"<td{attribute}>{text}</td>"
        )
    return "".join(cells)


def _format_cell(value: float | int | None, digits: int) -> str:
    if value is None:
        return '<span aria-label="none">–</span>'
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}" if abs(value) < 1e9 else f"{value:.3g}"


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Return a definition list of names and values."""
    items = "".join(f"<div><dt>{escape_text(name)}</dt><dd>{escape_text(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="facts">{items}</dl>\n'


def notes(texts: Sequence[str], max_notes: int = 20) -> str:
    """Return a list of notes, each truncated; empty without notes."""
    if not texts:
        return ""
    items = "".join(f"<li>{escape_text(text, MAX_NOTE_LENGTH)}</li>" for text in texts[:max_notes])
    more = f"<li>and {len(texts) - max_notes:,} more</li>" if len(texts) > max_notes else ""
    return f'<ul class="notes">{items}{more}</ul>\n'


def details(summary: str, html: str) -> str:
    """Return HTML that is collapsed under ``summary``, also in print."""
    return f"<details><summary>{escape_text(summary)}</summary>\n{html}</details>\n"


def code(text: str) -> str:
    """Return a code block."""
    lines = "\n".join(escape_text(line, 2000) for line in text.split("\n"))
    return f"<pre><code>{lines}</code></pre>\n"
