"""One hit as a part of a page: picture, place in the clip, why, and what is known about the clip."""

from __future__ import annotations

from collections.abc import Sequence

from keypose.library.rankers.swings import Agreement
from keypose.library.results_page.bar import bar, says
from keypose.library.results_page.nouns import Found
from keypose.library.results_page.strips import drawing, is_of_the_page
from keypose.pictures.page import facts, folded, table, written
from keypose.pictures.picture import Picture
from keypose.pictures.shell import shell_line

LARGER = 1.6  # than a strip's own size, where there is room
TALLEST_PX = 200.0
LONGEST_NAME = 300
MOST_ALSO = 50  # near-duplicates by name
MOST_SWINGS = 12


def hit_item(found: Found, rank: int, where: str, *, pictured: bool) -> str:
    """The item of a list for one hit, the ``rank``-th; ``pictured``: with its strip and what agrees."""
    name = written(found.clip.name, LONGEST_NAME)
    score = _score(found)
    picture = strip_of(found.strip, len(found.key_frames), found.keys_within) if pictured else ""
    part = "" if found.part is None else f'<div class="part">{strip_of(found.part)}</div>'
    return (
        f'<li id="hit-{rank}" class="hit">\n<div class="head"><h3><span class="rank">{rank}</span> '
        f'<a href="#hit-{rank}">{name}</a></h3>{score}</div>\n'
        f'<div class="seen">{part}{picture}{bar(found)}</div>\n'
        f'<div class="said"><p>{written(says(found), 500)}.</p>{_why(found)}{_tags(found.clip.tags)}'
        f"{_also(found)}{_more(found, where, pictured)}</div>\n</li>\n"
    )


def strip_of(picture: Picture | None, n_keys: int = 0, kept: Sequence[int] = ()) -> str:
    """A strip in the page, poses outside of ``kept`` fainter; a picture that is no drawing is said to be none."""
    svg = None if picture is None else drawing(picture.svg, n_keys, kept)
    if picture is None or svg is None:
        return '<p class="strip none">no picture</p>'
    paper = "" if is_of_the_page(svg) else " paper"
    width_px = min(LARGER, TALLEST_PX / max(picture.height, 1.0)) * picture.width
    return f'<div class="strip{paper}" style="max-width:{width_px:.0f}px">{svg}</div>'


def _score(found: Found) -> str:
    if found.hit is None:
        return ""
    score = min(max(found.hit.score, 0.0), 1.0)
    return (f'<p class="score"><span class="gauge" aria-hidden="true"><span style="width:{100 * score:.0f}%"></span>'
            f"</span><span>score {score:.2f}</span></p>")  # fmt: skip


def _why(found: Found) -> str:
    hit = found.hit
    if hit is None:
        return ""
    told = []
    if hit.mirrored:
        told.append("with left and right exchanged")
    if hit.why.centimetres is not None:
        told.append(f"joints are {hit.why.centimetres:.1f} cm apart on average, on a figure of 1.7 m")
    elif hit.query_end_s > hit.query_start_s:
        told.append(f"like seconds {hit.query_start_s:.2f} to {hit.query_end_s:.2f} of the query")
    text = "; ".join(told)
    return f'<p class="why">{written(text[:1].upper() + text[1:], 500)}.</p>' if text else ""


def _tags(tags: Sequence[str]) -> str:
    items = "".join(f"<li>{written(tag)}</li>" for tag in tags)
    return f'<ul class="tags" aria-label="tags">{items}</ul>' if items else ""


def _also(found: Found) -> str:
    also = () if found.hit is None else found.hit.also
    if not also:
        return ""
    names = "".join(f"<li>{written(name, LONGEST_NAME)}</li>" for name in also[:MOST_ALSO])
    more = f"<li>and {len(also) - MOST_ALSO:,} more</li>" if len(also) > MOST_ALSO else ""
    return folded(f"{len(also)} more of the same take", f'<ul class="notes">{names}{more}</ul>')


def _more(found: Found, where: str, pictured: bool) -> str:
    clip = found.clip
    known = [
        ("length", f"{clip.n_frames:,} frames at {clip.fps:g} fps"),
        ("joints", f"{clip.n_joints:,}"),
        ("also named", ", ".join(clip.also_named)),
        ("source", clip.source),
        ("licence", clip.licence),
        ("note", clip.note),
        ("hash", clip.hash),
        ("its file", shell_line(("keypose", "library", "export", "found/", clip.hash[:16], "--library", where))),
    ]
    agreeing = _swings(found.hit.why.swings) if pictured and found.hit is not None else ""
    return folded("About the clip", facts([(name, value) for name, value in known if value])) + agreeing


def _swings(swings: Sequence[Agreement]) -> str:
    if not swings:
        return ""
    rows = [
        [one.part.replace("_", " "), f"{one.query_start_s:.2f} to {one.query_end_s:.2f}",
         f"{one.start_s:.2f} to {one.end_s:.2f}"]
        for one in swings[:MOST_SWINGS]
    ]  # fmt: skip
    some = f"the {MOST_SWINGS} longest of {len(swings)}" if len(swings) > MOST_SWINGS else str(len(swings))
    return folded(
        f"Swings that agree: {some}", table("Swings that agree, in seconds", ("part", "in the query", "here"), rows)
    )
