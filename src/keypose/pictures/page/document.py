"""HTML document: head, contents, sections under headings, and a content security policy."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

from keypose.errors import OptionError
from keypose.pictures.page.elements import escape_text, is_id
from keypose.pictures.theme import page_css

MAX_DEPTH = 5  # of nested sections; the title of the page is h1


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
    lead: str = "",
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    foot: str = "",
) -> str:
    """Return an HTML document that opens from disk without requests, prints, and has light and dark colours.

    ``lead`` is HTML between the title and the contents, ``foot`` HTML at the end. ``scripts`` and ``styles`` are
    JavaScript and CSS source, each included once; the content security policy allows only these scripts. The same
    arguments give the same bytes.
    """
    _check_ids(sections)
    all_scripts = tuple(dict.fromkeys((read_package_text("keypose.pictures.page", "page.js"), *scripts)))
    all_styles = tuple(dict.fromkeys((page_css(), read_package_text("keypose.pictures.page", "page.css"), *styles)))
    for text, end in [(text, "</script") for text in all_scripts] + [(text, "</style") for text in all_styles]:
        if end in text.lower() or "<!--" in text:
            raise OptionError(f"a script or style with {end} or <!-- in it, expected one that can stand in a page")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_content_security_policy(all_scripts)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape_text(title)}</title>\n<style>{''.join(all_styles)}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#content">Skip to the content</a>\n'
        f'<header class="top"><h1>{escape_text(title)}</h1>'
        '<button type="button" class="theme" hidden>Dark</button></header>\n'
        f'{_render_contents(sections)}<main id="content" tabindex="-1">\n{lead}'
        f"{''.join(_render_section(each, 2) for each in sections)}</main>\n"
        + (f'<footer class="foot">{foot}</footer>\n' if foot else "")
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
            raise OptionError(f"section id {name!r}, expected one of its own of letters, digits and hyphens")


def _walk_sections(sections: Sequence[Section], depth: int) -> Iterator[Section]:
    if sections and depth > MAX_DEPTH:
        raise OptionError(f"sections within sections more than {MAX_DEPTH} deep")
    for each in sections:
        yield each
        yield from _walk_sections(each.subsections, depth + 1)
