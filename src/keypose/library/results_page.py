"""Search results as one HTML page to view, send and print: the query on top, then the hits, nearest first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from xml.etree import ElementTree as ET

import keypose
from keypose.errors import OptionError, format_count
from keypose.library.records import Clip
from keypose.library.search.hits import Hit
from keypose.library.search.swing_overlap import SwingMatch
from keypose.pictures.page import (
    Section,
    code,
    details,
    escape_text,
    facts,
    format_shell_command,
    page,
    read_package_text,
    table,
)
from keypose.pictures.svg import THEMES, Picture

__all__ = ["MAX_HITS", "MAX_STRIPS", "PageHit", "PageQuery", "results_page"]


MIN_HITS_TO_FILTER = 6

STRIP_SCALE = 1.6  # relative to the strip's own size
MAX_HEIGHT_PX = 200.0
MAX_NAME_CHARS = 300
MAX_DUPLICATES = 50  # listed by name
MAX_SWINGS = 12

_BAR_WIDTH = 1000.0  # units of the view box, stretched to the available width
_MIN_SPAN_WIDTH = 6.0  # makes a short span visible
_TICK_WIDTH = 3.0

MAX_CHARS = 1 << 20  # of a strip
MAX_DEPTH = 12
FAINT = "outside"  # class of poses outside of the span
_SVG = "{http://www.w3.org/2000/svg}"
_SHAPES = frozenset(("svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "title"))
_ATTRIBUTES = frozenset(
    (
        *("width", "height", "viewBox", "role", "aria-label", "transform", "opacity", "fill", "fill-rule"),
        *("stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray"),
        *("font-family", "font-size", "font-weight", "text-anchor", "d", "points", "x", "y", "r", "rx", "ry"),
        *("x1", "y1", "x2", "y2", "cx", "cy"),
    )
)
_PAGE_COLOURS = {value: f"var(--kp-{name})" for name, value in THEMES["light"].colours.items()}
_PAINTS = {  # white is the paper colour as a fill, and a stripe as a line
    "fill": {**_PAGE_COLOURS, "#ffffff": "var(--kp-paper)"},
    "stroke": {**_PAGE_COLOURS, "#ffffff": "var(--kp-stripe)"},
}
_ALLOWED_COLOURS = frozenset(("none", *THEMES["page"].colours.values()))

MAX_HITS = 1000  # per page
MAX_STRIPS = 200  # per page, for the speed of browsers


def results_page(query: PageQuery, hits: Sequence[PageHit]) -> str:
    """Return one self-contained HTML page of at most ``MAX_HITS`` hits, the first ``MAX_STRIPS`` with pictures.

    The page makes no requests; texts and pictures from clips cannot inject anything.
    """
    if len(hits) > MAX_HITS:
        raise OptionError(
            f"{len(hits):,} for a page", option="hits", expected=f"at most {MAX_HITS:,}: take a smaller limit"
        )
    sections = [Section("query", "Query", strip_html(query.strip))] if query.strip is not None else []
    sections.append(Section("hits", "Hits", _hits_html(query, hits)))
    if query.command:
        sections.append(Section("again", "Reproduce this result", code(query.command)))
    package = "keypose.library"
    return page(
        query.title,
        sections,
        intro=_render_intro(query, hits),
        scripts=(read_package_text(package, "results_page.js"),),
        styles=(read_package_text(package, "results_page.css"),),
        footer=f"keypose {keypose.__version__}",
    )


def _render_intro(query: PageQuery, hits: Sequence[PageHit]) -> str:
    n_duplicates = sum(len(hit.hit.duplicates) for hit in hits if hit.hit is not None)
    count = f"{len(hits):,}" + (f", and {n_duplicates:,} more of the same takes" if n_duplicates else "")
    return facts([("hits", count), ("library", query.library), *query.facts])


def _hits_html(query: PageQuery, hits: Sequence[PageHit]) -> str:
    if not hits:
        return "<p>Nothing. Fewer words, tags or limits of duration leave more to find.</p>\n"
    items = "".join(
        hit_item(hit, rank, query.library, with_picture=rank <= MAX_STRIPS) for rank, hit in enumerate(hits, 1)
    )
    return f'{_intro_html(hits)}{_filter_html(len(hits))}<ol class="hits">\n{items}</ol>\n'


def _intro_html(hits: Sequence[PageHit]) -> str:
    sentences = []
    if any(hit.hit is not None for hit in hits):
        sentences.append("The nearest first; 1 is the same motion. A bar is a whole clip: the coloured part was found, "
                    "ticks are the key poses above it, and poses outside of the part are faint. Frames are START:END, "
                    "END not included.")  # fmt: skip
    if any(_is_ranked(hit) for hit in hits):
        sentences.append("The fainter a pose of a whole clip, the less it differs from the other key poses.")
    if any(hit.span_strip is not None for hit in hits):
        sentences.append("Poses beside a coloured line are those of the part itself.")
    if len(hits) > MAX_STRIPS:
        sentences.append(f"The first {MAX_STRIPS} have pictures.")
    return f'<p class="quiet">{" ".join(sentences)}</p>\n' if sentences else ""


def _is_ranked(page_hit: PageHit) -> bool:
    """Return whether some poses are more transparent because they are less important."""
    has_faint = 0 < len(page_hit.keys_within) < len(page_hit.key_frames)
    return page_hit.strip is not None and not has_faint and "<g opacity" in page_hit.strip.svg


def _filter_html(n_hits: int) -> str:
    """Return a filter box, which scripts make visible."""
    if n_hits < MIN_HITS_TO_FILTER:
        return ""
    return ('<p class="only" hidden><label>Show only <input type="search" autocomplete="off" spellcheck="false" '
            'placeholder="words of names and tags"></label> <output aria-live="polite"></output></p>\n')  # fmt: skip


def hit_item(page_hit: PageHit, rank: int, library: str, *, with_picture: bool) -> str:
    """Return the list item of one hit, the ``rank``-th; ``with_picture``: with its strip and agreeing swings."""
    name = escape_text(page_hit.clip.name, MAX_NAME_CHARS)
    score = _score_html(page_hit)
    picture = strip_html(page_hit.strip, len(page_hit.key_frames), page_hit.keys_within) if with_picture else ""
    span_strip = (
        "" if page_hit.span_strip is None else f'<div class="matching-span">{strip_html(page_hit.span_strip)}</div>'
    )
    return (
        f'<li id="hit-{rank}" class="hit">\n<div class="head"><h3><span class="rank">{rank}</span> '
        f'<a href="#hit-{rank}">{name}</a></h3>{score}</div>\n'
        f'<div class="pictures">{span_strip}{picture}{bar(page_hit)}</div>\n'
        f'<div class="text"><p>{escape_text(describe_span(page_hit), 500)}.</p>'
        f"{_reason_html(page_hit)}{_tags_html(page_hit.clip.tags)}"
        f"{_duplicates_html(page_hit)}{_details_html(page_hit, library, with_picture)}</div>\n</li>\n"
    )


def strip_html(picture: Picture | None, n_keys: int = 0, highlighted: Sequence[int] = ()) -> str:
    """Return a strip as HTML, with poses outside of ``highlighted`` fainter; a note if the picture is unsafe or
    missing."""
    svg = None if picture is None else sanitize_svg(picture.svg, n_keys, highlighted)
    if picture is None or svg is None:
        return '<p class="strip none">no picture</p>'
    paper = "" if uses_page_colours(svg) else " paper"
    width_px = min(STRIP_SCALE, MAX_HEIGHT_PX / max(picture.height, 1.0)) * picture.width
    return f'<div class="strip{paper}" style="max-width:{width_px:.0f}px">{svg}</div>'


def _score_html(page_hit: PageHit) -> str:
    if page_hit.hit is None:
        return ""
    score = min(max(page_hit.hit.score, 0.0), 1.0)
    return (f'<p class="score"><span class="gauge" aria-hidden="true"><span style="width:{100 * score:.0f}%"></span>'
            f"</span><span>score {score:.2f}</span></p>")  # fmt: skip


def _reason_html(page_hit: PageHit) -> str:
    hit = page_hit.hit
    if hit is None:
        return ""
    reasons = []
    if hit.mirrored:
        reasons.append("with left and right exchanged")
    if hit.details.joint_distance_cm is not None:
        reasons.append(f"joints are {hit.details.joint_distance_cm:.1f} cm apart on average, on a figure of 1.7 m")
    elif hit.query_end_s > hit.query_start_s:
        reasons.append(f"like seconds {hit.query_start_s:.2f} to {hit.query_end_s:.2f} of the query")
    text = "; ".join(reasons)
    return f'<p class="why">{escape_text(text[:1].upper() + text[1:], 500)}.</p>' if text else ""


def _tags_html(tags: Sequence[str]) -> str:
    items = "".join(f"<li>{escape_text(tag)}</li>" for tag in tags)
    return f'<ul class="tags" aria-label="tags">{items}</ul>' if items else ""


def _duplicates_html(page_hit: PageHit) -> str:
    duplicates = () if page_hit.hit is None else page_hit.hit.duplicates
    if not duplicates:
        return ""
    names = "".join(f"<li>{escape_text(name, MAX_NAME_CHARS)}</li>" for name in duplicates[:MAX_DUPLICATES])
    more = f"<li>and {len(duplicates) - MAX_DUPLICATES:,} more</li>" if len(duplicates) > MAX_DUPLICATES else ""
    return details(f"{len(duplicates)} more of the same take", f'<ul class="notes">{names}{more}</ul>')


def _details_html(page_hit: PageHit, library: str, with_picture: bool) -> str:
    clip = page_hit.clip
    clip_facts = [
        ("length", f"{format_count(clip.n_frames, 'frame', ',')} at {clip.fps:g} fps"),
        ("joints", f"{clip.n_joints:,}"),
        ("also named", ", ".join(clip.other_names)),
        ("source", clip.source),
        ("licence", clip.licence),
        ("note", clip.note),
        ("hash", clip.hash),
        (
            "its file",
            format_shell_command(("keypose", "library", "export", "found/", clip.hash[:16], "--library", library)),
        ),
    ]
    swings = _swings_html(page_hit.hit.details.swings) if with_picture and page_hit.hit is not None else ""
    return details("About the clip", facts([(name, value) for name, value in clip_facts if value])) + swings


def _swings_html(swings: Sequence[SwingMatch]) -> str:
    if not swings:
        return ""
    rows = [
        [match.body_part.replace("_", " "), f"{match.query_start_s:.2f} to {match.query_end_s:.2f}",
         f"{match.start_s:.2f} to {match.end_s:.2f}"]
        for match in swings[:MAX_SWINGS]
    ]  # fmt: skip
    count = f"the {MAX_SWINGS} longest of {len(swings)}" if len(swings) > MAX_SWINGS else str(len(swings))
    return details(
        f"Swings that agree: {count}", table("Swings that agree, in seconds", ("part", "in the query", "here"), rows)
    )


def bar(page_hit: PageHit) -> str:
    """Return the bar of a hit as HTML, with the times at its ends."""
    clip, hit = page_hit.clip, page_hit.hit
    last = max(1, clip.n_frames)
    shapes = f'<rect class="whole" x="0" y="4" width="{_BAR_WIDTH:g}" height="8"/>'
    if hit is not None:
        start, end = _BAR_WIDTH * hit.start / last, _BAR_WIDTH * hit.end / last
        width = min(_BAR_WIDTH, max(_MIN_SPAN_WIDTH, end - start))
        shapes += f'<rect class="span" x="{_clamp(start, width)}" y="0" width="{width:.1f}" height="16"/>'
    keys_in_span = set(page_hit.keys_within)
    for position, frame in enumerate(page_hit.key_frames):
        at = _clamp(_BAR_WIDTH * (frame + 0.5) / last - _TICK_WIDTH / 2, _TICK_WIDTH)
        css_class = "key in" if position in keys_in_span else "key"
        shapes += f'<rect class="{css_class}" x="{at}" y="2" width="{_TICK_WIDTH:g}" height="12"/>'
    return (
        f'<div class="bar"><svg viewBox="0 0 {_BAR_WIDTH:g} 16" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(describe_span(page_hit))}">{shapes}</svg>'
        f'<div class="ends" aria-hidden="true"><span>0 s</span><span>{clip.duration_s:.2f} s</span></div></div>'
    )


def describe_span(page_hit: PageHit) -> str:
    """Return the content of the bar as text."""
    clip, hit = page_hit.clip, page_hit.hit
    duration = f"{clip.duration_s:.2f} s"
    if hit is None:
        return f"{duration} long" + (f", with {len(page_hit.key_frames)} key poses" if page_hit.key_frames else "")
    if hit.end - hit.start <= 1:
        span = f"At {hit.start_s:.2f} s of {duration} (frame {hit.start})"
    elif hit.start == 0 and hit.end >= clip.n_frames:
        span = f"All of it: {duration} (frames 0:{clip.n_frames})"
    else:
        span = f"{hit.start_s:.2f} to {hit.end_s:.2f} s of {duration} (frames {hit.start}:{hit.end})"
    return span + _describe_keys(page_hit.keys_within, len(page_hit.key_frames))


def _describe_keys(keys_in_span: Sequence[int], n_keys: int) -> str:
    if not n_keys:
        return ""
    if len(keys_in_span) == n_keys:
        return f", with all {n_keys} key poses" if n_keys > 1 else ", with the key pose"
    if not keys_in_span:
        return ", between key poses"
    first, last = keys_in_span[0] + 1, keys_in_span[-1] + 1  # consecutive, as the span is contiguous
    which = f" {first}" if last == first else f"s {first} {'and' if last == first + 1 else 'to'} {last}"
    return f", with key pose{which} of {n_keys}"


def _clamp(x: float, width: float) -> str:
    return f"{min(max(x, 0.0), _BAR_WIDTH - width):.1f}"


def uses_page_colours(svg: str) -> bool:
    """Return whether a drawing uses the colours of the page, light or dark."""
    return "var(--kp-" in svg


def sanitize_svg(svg: str, n_keys: int = 0, highlighted: Collection[int] = (), *, rank: bool = True) -> str | None:
    """Return ``svg`` serialized again for a page; None if it contains anything but shapes and text.

    Its colours are replaced by those of the page if all of them belong to the light theme. Of ``n_keys`` poses those
    not at the indices ``highlighted`` get the class ``FAINT``; none if ``highlighted`` is empty. Without ``rank``, and
    where poses are ``FAINT``, less important poses are as opaque as others.
    """
    if len(svg) > MAX_CHARS or "<!" in svg or "<?" in svg:
        return None
    try:
        root = ET.fromstring(svg)
    except (ET.ParseError, ValueError):  # ValueError: invalid characters
        return None
    if root.tag != f"{_SVG}svg" or not _is_drawing(root, 0):
        return None
    faint = {k for k in range(n_keys) if k not in highlighted} if highlighted else set()
    if all(_has_colours_of_page(each) for each in root.iter()):
        for each in root.iter():
            each.attrib.update({paint: _paint(paint, each.attrib[paint]) for paint in _PAINTS if paint in each.attrib})
    if faint or not rank:
        for each in root.iter(f"{_SVG}g"):
            each.attrib.pop("opacity", None)
    return _serialize(root, n_keys if faint else 0, faint)


def _has_colours_of_page(element: ET.Element) -> bool:
    return all(_paint(paint, element.get(paint, "none")) in _ALLOWED_COLOURS for paint in _PAINTS)


def _paint(paint: str, colour: str) -> str:
    return _PAINTS[paint].get(colour, colour)


def _is_drawing(element: ET.Element, depth: int) -> bool:
    return (
        depth <= MAX_DEPTH
        and _name(element) in _SHAPES
        and all(name in _ATTRIBUTES and "url(" not in value.lower() for name, value in element.attrib.items())
        and all(_is_drawing(child, depth + 1) for child in element)
    )


def _name(element: ET.Element) -> str:
    return element.tag.removeprefix(_SVG) if element.tag.startswith(_SVG) else ""


def _serialize(element: ET.Element, n_keys: int, faint: Collection[int], extra_attributes: str = "") -> str:
    name = _name(element)
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in element.attrib.items())
    groups = [_name(child) == "g" for child in element]
    is_row = n_keys > 0 and name == "g" and len(groups) == n_keys and all(groups)  # a group for each pose
    inside = escape_text(element.text or "")
    for position, child in enumerate(element):
        class_attribute = f' class="{FAINT}"' if is_row and position in faint else ""
        inside += _serialize(child, n_keys, faint, class_attribute) + escape_text(child.tail or "")
    return (
        f"<{name}{attributes}{extra_attributes}>{inside}</{name}>"
        if inside
        else f"<{name}{attributes}{extra_attributes}/>"
    )


@dataclass(frozen=True)
class PageQuery:
    """The query of a search."""

    title: str  # of the page: "walk.bvh, frames 30:90"
    library: str  # its location
    strip: Picture | None = None
    facts: tuple[tuple[str, str], ...] = ()  # names and values of filters and options
    command: str = ""  # command that repeats the search


@dataclass(frozen=True)
class PageHit:
    """One hit with its pictures."""

    clip: Clip
    hit: Hit | None = None  # None: found by words
    key_frames: tuple[int, ...] = ()  # of the poses in ``strip``, in order
    strip: Picture | None = None
    span_strip: Picture | None = None  # poses of the matching span, if it is not the whole clip

    @property
    def keys_within(self) -> tuple[int, ...]:
        """Indices of the key poses in the matching span."""
        if self.hit is None:
            return ()
        return tuple(k for k, frame in enumerate(self.key_frames) if self.hit.start <= frame < self.hit.end)
