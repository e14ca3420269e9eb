"""One hit as HTML: picture, span, explanation, and metadata of the clip."""

from __future__ import annotations

from collections.abc import Sequence

from keypose.library.rankers.swing_overlap import SwingMatch
from keypose.library.results_page.bar import bar, describe_span
from keypose.library.results_page.page_data import PageHit
from keypose.library.results_page.strips import sanitize_svg, uses_page_colours
from keypose.pictures.page import details, escape_text, facts, table
from keypose.pictures.picture import Picture
from keypose.pictures.shell_command import format_shell_command

STRIP_SCALE = 1.6  # relative to the strip's own size
MAX_HEIGHT_PX = 200.0
MAX_NAME_CHARS = 300
MAX_DUPLICATES = 50  # listed by name
MAX_SWINGS = 12


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
    """Return a strip as HTML, poses outside of ``highlighted`` fainter; a note if the picture is unsafe or missing."""
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
        ("length", f"{clip.n_frames:,} frames at {clip.fps:g} fps"),
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
