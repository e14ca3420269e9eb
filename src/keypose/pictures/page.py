"""Self-contained HTML pages without external resources: document, tables, figures, facts. Text is escaped."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

from keypose.errors import OptionError
from keypose.pictures.svg import Picture, page_css
from keypose.validation import clean_line

__all__ = [
    "Cell",
    "Link",
    "Section",
    "code",
    "details",
    "escape_text",
    "facts",
    "figure",
    "notes",
    "page",
    "read_package_text",
    "table",
]


MAX_DEPTH = 5  # of nested sections; the title of the page is h1

MAX_NOTE_LENGTH = 500  # characters


@dataclass(frozen=True)
class Link:
    """A link to another file; ``path`` is relative to the page."""

    text: str
    path: Path

    def html(self) -> str:
        """Return the link as HTML."""
        href = quote(os.fsencode(self.path.as_posix()))
        return f'<a href="{href}">{escape_text(self.text)}</a>'


Cell = str | Link | float | int | None  # text is escaped, numbers are right-aligned, None is a dash


@dataclass(frozen=True)
class Section:
    """A section: ``title`` is plain text, ``body`` is HTML; ``subsections`` follow one heading level lower."""

    id: str  # letters, digits and hyphens; target of links
    title: str
    body: str
    subsections: tuple[Section, ...] = ()


def page(
    title: str,
    sections: Sequence[Section],
    *,
    intro: str = "",
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    footer: str = "",
    metadata: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return an HTML document that opens from disk without requests, prints, and has light and dark colours.

    ``intro`` is HTML between the title and the contents, ``foot`` HTML at the end. ``scripts`` and ``styles`` are
    JavaScript and CSS source, each included once; the content security policy allows only these scripts. ``metadata``
    are texts for programs, by name, at the start of the file. The same arguments always result in the same bytes.
    """
    _check_ids(sections)
    all_scripts = tuple(dict.fromkeys((read_package_text("keypose.pictures", "page.js"), *scripts)))
    all_styles = tuple(dict.fromkeys((page_css(), read_package_text("keypose.pictures", "page.css"), *styles)))
    for text, end in [(text, "</script") for text in all_scripts] + [(text, "</style") for text in all_styles]:
        if end in text.lower() or "<!--" in text:
            raise OptionError(f"a script or style with {end} or <!-- in it", expected="one that can stand in a page")
    data = "".join(f'<meta name="{name}" content="{escape(text)}">\n' for name, text in metadata.items())
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{data}'
        f'<meta http-equiv="Content-Security-Policy" content="{_content_security_policy(all_scripts)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape_text(title)}</title>\n<style>{''.join(all_styles)}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#content">Skip to the content</a>\n'
        f'<header class="top"><h1>{escape_text(title)}</h1>'
        '<button type="button" class="theme" hidden>Dark</button></header>\n'
        f'{_render_contents(sections)}<main id="content" tabindex="-1">\n{intro}'
        f"{''.join(_render_section(each, 2) for each in sections)}</main>\n"
        + (f'<footer class="footer">{footer}</footer>\n' if footer else "")
        + "".join(f"<script>{text}</script>\n" for text in all_scripts)
        + "</body>\n</html>\n"
    )


def read_package_text(package: str, name: str) -> str:
    """Return the text of a script or style file of ``package``."""
    return files(package).joinpath(name).read_text("utf-8")


def _content_security_policy(scripts: Sequence[str]) -> str:
    """Return a policy that forbids requests and all scripts but these, identified by hash."""
    digests = (hashlib.sha256(text.encode()).digest() for text in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
            f"base-uri 'none'; form-action 'none'")  # fmt: skip


def _render_contents(sections: Sequence[Section]) -> str:
    """Return links to the sections, or to the subsections of a single section."""
    entries = sections[0].subsections if len(sections) == 1 and sections[0].subsections else sections
    if len(entries) < 2:
        return ""
    links = "".join(f'<li><a href="#{each.id}">{escape_text(each.title)}</a></li>' for each in entries)
    return f'<nav class="contents" aria-label="Contents"><ol>{links}</ol></nav>\n'


def _render_section(section: Section, level: int) -> str:
    subsections = "".join(_render_section(each, level + 1) for each in section.subsections)
    heading = f'<h{level} id="{section.id}-title">{escape_text(section.title)}</h{level}>'
    kind = ' class="chapter"' if section.subsections else ""
    return (f'<section id="{section.id}"{kind} aria-labelledby="{section.id}-title">\n{heading}\n'
            f"{section.body}{subsections}</section>\n")  # fmt: skip


def _check_ids(sections: Sequence[Section]) -> None:
    ids = [each.id for each in _walk_sections(sections, 1)]
    for name, count in Counter(ids).items():
        if count > 1 or not is_id(name):
            raise OptionError(f"section id {name!r}", expected="one of its own of letters, digits and hyphens")


def _walk_sections(sections: Sequence[Section], depth: int) -> Iterator[Section]:
    if sections and depth > MAX_DEPTH:
        raise OptionError("sections within sections", expected=f"at most {MAX_DEPTH} levels")
    for each in sections:
        yield each
        yield from _walk_sections(each.subsections, depth + 1)


def is_id(text: str) -> bool:
    """Return whether ``text`` can be an id and the target of a link."""
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", text) is not None


def escape_text(text: str, max_length: int = 200) -> str:
    """Return ``text`` as HTML: cleaned, truncated to ``max_length`` characters, escaped."""
    return escape(clean_line(text, max_length))


def figure(picture: Picture, id: str, caption: str = "", more: str = "", *, max_scale: float = 1.0) -> str:
    """Return a figure with a picture of theme ``page`` and a caption; ``more`` is HTML below it, such as a table.

    Ids within the picture are prefixed by ``id``, so that pictures do not conflict. On narrow pages the picture is
    scaled down, on very narrow ones scrolled; on wide pages it is enlarged up to ``max_scale``.
    """
    if not is_id(id):
        raise OptionError(f"figure id {id!r}", expected="letters, digits and hyphens")
    below = f"<figcaption>{escape_text(caption, 1000)}</figcaption>" if caption else ""
    size = f"min-width:{min(picture.width, 600):.0f}px;max-width:{max_scale * picture.width:.0f}px"
    return (
        f'<figure id="{id}"><div class="wide">'
        f'<div class="picture" style="{size}">{_prefix_ids(picture.svg, id)}'
        f"</div></div>{below}{more}</figure>\n"
    )


def _prefix_ids(svg: str, prefix: str) -> str:
    """Prefix all ids. Text is not confused with attributes, as its quotes are escaped."""
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
        attribute = "" if isinstance(value, str | Link) else ' class="number"'
        text = (
            escape_text(value)
            if isinstance(value, str)
            else value.html()
            if isinstance(value, Link)
            else _format_cell(value, digits)
        )
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
    """Return HTML that is collapsed below ``summary``, also in print."""
    return f"<details><summary>{escape_text(summary)}</summary>\n{html}</details>\n"


def code(text: str) -> str:
    """Return a code block."""
    lines = "\n".join(escape_text(line, 2000) for line in text.split("\n"))
    return f"<pre><code>{lines}</code></pre>\n"


def format_shell_command(arguments: Iterable[str]) -> str:
    """Return ``arguments`` quoted for a shell.

    Arguments that cannot be displayed unchanged, such as names that are not UTF-8, are written as ``$'n\\xff.bvh'``,
    the syntax of bash and zsh.
    """
    return " ".join(
        shlex.quote(argument) if clean_line(argument, len(argument)) == argument else _escape_bytes(argument)
        for argument in arguments
    )


def _escape_bytes(argument: str) -> str:
    try:
        encoded = argument.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate that does not represent a byte of a name
        encoded = argument.encode("utf-8", "surrogatepass")
    plain = "".join(chr(b) if 32 <= b < 127 and chr(b) not in "'\\" else f"\\x{b:02x}" for b in encoded)
    return f"$'{plain}'"
