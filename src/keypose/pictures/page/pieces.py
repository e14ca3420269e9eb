"""What goes into a page: tables, figures, lists of facts, text that unfolds. Text is escaped here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from keypose.errors import OptionError
from keypose.pictures.picture import Picture
from keypose.pictures.svg import clean

Cell = str | float | int | None  # of a table: text is escaped, numbers are set to the right, None is a dash
LONGEST_NOTE = 500  # characters


def is_id(text: str) -> bool:
    """Whether ``text`` can be an id and the target of a link."""
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", text) is not None


def written(text: str, longest: int = 200) -> str:
    """Any text as HTML that shows it: cleaned, cut to ``longest`` characters, escaped."""
    return escape(clean(text, longest))


def figure(picture: Picture, id: str, caption: str = "", more: str = "", *, larger: float = 1.0) -> str:
    """A picture of the theme ``page`` in the page itself, with a caption; ``more`` is HTML below it, such as its table.

    Ids within the picture become its own, so that several pictures do not get in each other's way. Where the page is
    narrower than the picture it is scaled down, and on very narrow ones scrolled; where there is room it is ``larger``.
    """
    if not is_id(id):
        raise OptionError(f"figure id {id!r}, expected letters, digits and hyphens")
    below = f"<figcaption>{written(caption, 1000)}</figcaption>" if caption else ""
    size = f"min-width:{min(picture.width, 600):.0f}px;max-width:{larger * picture.width:.0f}px"
    return (
        f'<figure id="{id}"><div class="wide">'
        f'<div class="picture" style="{size}">{_own_ids(picture.svg, id)}'
        f"</div></div>{below}{more}</figure>\n"
    )


def _own_ids(svg: str, prefix: str) -> str:
    """An attribute cannot be imitated by text: its quotes are escaped there."""
    svg = re.sub(r' id="([^"]*)"', rf' id="{prefix}-\1"', svg)
    svg = re.sub(r'="url\(#([^")]*)\)"', rf'="url(#{prefix}-\1)"', svg)
    return re.sub(r' href="#([^"]*)"', rf' href="#{prefix}-\1"', svg)


def table(
    caption: str, head: Sequence[str], rows: Sequence[Sequence[Cell]], *, digits: int = 2, row_heads: bool = True
) -> str:
    """A table that a screen reader can read out: a caption, heads of columns, and the first cell as head of its row.

    Fractions get ``digits`` decimals; for others give text.
    """
    heads = "".join(f'<th scope="col">{written(name)}</th>' for name in head)
    body = "".join(f"<tr>{_row(row, digits, row_heads)}</tr>" for row in rows)
    return (
        f'<div class="wide"><table><caption>{written(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>\n"
    )


def _row(row: Sequence[Cell], digits: int, row_heads: bool) -> str:
    cells = []
    for place, value in enumerate(row):
        is_number = not isinstance(value, str)
        look = ' class="number"' if is_number else ""
        text = written(value) if isinstance(value, str) else _shown(value, digits)
        cells.append(f'<th scope="row"{look}>{text}</th>' if place == 0 and row_heads else f"<td{look}>{text}</td>")
    return "".join(cells)


def _shown(value: float | int | None, digits: int) -> str:
    if value is None:
        return '<span aria-label="none">–</span>'
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}" if abs(value) < 1e9 else f"{value:.3g}"


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Names and what they are, as a list."""
    items = "".join(f"<div><dt>{written(name)}</dt><dd>{written(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="facts">{items}</dl>\n'


def notes(texts: Sequence[str], most: int = 20) -> str:
    """A list of remarks, each cut to a sane length; empty without any."""
    if not texts:
        return ""
    shown = "".join(f"<li>{written(text, LONGEST_NOTE)}</li>" for text in texts[:most])
    more = f"<li>and {len(texts) - most:,} more</li>" if len(texts) > most else ""
    return f'<ul class="notes">{shown}{more}</ul>\n'


def folded(summary: str, html: str) -> str:
    """HTML that unfolds under ``summary``; in print it stays folded."""
    return f"<details><summary>{written(summary)}</summary>\n{html}</details>\n"


def code(text: str) -> str:
    """Lines to copy."""
    lines = "\n".join(written(line, 2000) for line in text.split("\n"))
    return f"<pre><code>{lines}</code></pre>\n"
