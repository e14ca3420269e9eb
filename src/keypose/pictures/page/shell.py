"""The shell of a page: head, contents, sections under headings in order, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

from keypose.errors import OptionError
from keypose.pictures.page.pieces import is_id, written
from keypose.pictures.theme import page_css

DEEPEST = 5  # sections within sections: the title of the page is h1


@dataclass(frozen=True)
class Section:
    """A part of a page: ``title`` is any text, ``body`` is HTML; ``parts`` follow under headings one step lower."""

    id: str  # letters, digits and hyphens; others link to it
    title: str
    body: str
    parts: tuple[Section, ...] = ()


def page(
    title: str,
    sections: Sequence[Section],
    *,
    lead: str = "",
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    foot: str = "",
) -> str:
    """A whole HTML document that opens from disk, asks for nothing, prints, and is light or dark as the reader likes.

    ``lead`` is HTML between the title and the contents, ``foot`` HTML at the end. ``scripts`` and ``styles`` are texts
    of JavaScript and CSS that go into the page, each once; the page's policy runs these scripts and no others. The same
    arguments give the same bytes.
    """
    _check_ids(sections)
    codes = tuple(dict.fromkeys((part_of_package("keypose.pictures.page", "page.js"), *scripts)))
    looks = tuple(dict.fromkeys((page_css(), part_of_package("keypose.pictures.page", "page.css"), *styles)))
    for text, end in [(text, "</script") for text in codes] + [(text, "</style") for text in looks]:
        if end in text.lower() or "<!--" in text:
            raise OptionError(f"a script or style with {end} or <!-- in it, expected one that can stand in a page")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(codes)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{written(title)}</title>\n<style>{''.join(looks)}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#content">Skip to the content</a>\n'
        f'<header class="top"><h1>{written(title)}</h1>'
        '<button type="button" class="theme" hidden>Dark</button></header>\n'
        f'{_contents(sections)}<main id="content" tabindex="-1">\n{lead}'
        f"{''.join(_section(each, 2) for each in sections)}</main>\n"
        + (f'<footer class="foot">{foot}</footer>\n' if foot else "")
        + "".join(f"<script>{text}</script>\n" for text in codes)
        + "</body>\n</html>\n"
    )


def part_of_package(package: str, name: str) -> str:
    """The text of a file that comes with a package: a script or a style."""
    return files(package).joinpath(name).read_text("utf-8")


def _policy(scripts: Sequence[str]) -> str:
    """No address may be asked for, and no script may run but these, each known by its hash."""
    digests = (hashlib.sha256(text.encode()).digest() for text in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
            f"base-uri 'none'; form-action 'none'")  # fmt: skip


def _contents(sections: Sequence[Section]) -> str:
    """Links to the sections; to those within, where there is but one around them."""
    listed = sections[0].parts if len(sections) == 1 and sections[0].parts else sections
    if len(listed) < 2:
        return ""
    links = "".join(f'<li><a href="#{each.id}">{written(each.title)}</a></li>' for each in listed)
    return f'<nav class="contents" aria-label="Contents"><ol>{links}</ol></nav>\n'


def _section(section: Section, level: int) -> str:
    within = "".join(_section(each, level + 1) for each in section.parts)
    heading = f'<h{level} id="{section.id}-title">{written(section.title)}</h{level}>'
    kind = ' class="chapter"' if section.parts else ""
    return (f'<section id="{section.id}"{kind} aria-labelledby="{section.id}-title">\n{heading}\n'
            f"{section.body}{within}</section>\n")  # fmt: skip


def _check_ids(sections: Sequence[Section]) -> None:
    ids = [each.id for each in _all(sections, 1)]
    for name, times in Counter(ids).items():
        if times > 1 or not is_id(name):
            raise OptionError(f"section id {name!r}, expected one of its own of letters, digits and hyphens")


def _all(sections: Sequence[Section], depth: int) -> Iterator[Section]:
    if sections and depth > DEEPEST:
        raise OptionError(f"sections within sections more than {DEEPEST} deep")
    for each in sections:
        yield each
        yield from _all(each.parts, depth + 1)
