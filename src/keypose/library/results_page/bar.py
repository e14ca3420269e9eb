"""A clip as a bar: its length, its key poses, and the span that was found."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from keypose.library.results_page.nouns import Found

_LONG = 1000.0  # the bar's own units, stretched to the room that there is
_LEAST = 6.0  # of them, so that a short span is seen
_TICK = 3.0


def bar(found: Found) -> str:
    """The bar of a hit as HTML, with the times at its ends."""
    clip, hit = found.clip, found.hit
    last = max(1, clip.n_frames)
    shapes = f'<rect class="whole" x="0" y="4" width="{_LONG:g}" height="8"/>'
    if hit is not None:
        start, end = _LONG * hit.start / last, _LONG * hit.end / last
        width = min(_LONG, max(_LEAST, end - start))
        shapes += f'<rect class="span" x="{_within(start, width)}" y="0" width="{width:.1f}" height="16"/>'
    kept = set(found.keys_within)
    for place, frame in enumerate(found.key_frames):
        at = _within(_LONG * (frame + 0.5) / last - _TICK / 2, _TICK)
        look = "key in" if place in kept else "key"
        shapes += f'<rect class="{look}" x="{at}" y="2" width="{_TICK:g}" height="12"/>'
    return (
        f'<div class="bar"><svg viewBox="0 0 {_LONG:g} 16" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(says(found))}">{shapes}</svg>'
        f'<div class="ends" aria-hidden="true"><span>0 s</span><span>{clip.duration_s:.2f} s</span></div></div>'
    )


def says(found: Found) -> str:
    """What the bar shows, in words."""
    clip, hit = found.clip, found.hit
    long = f"{clip.duration_s:.2f} s"
    if hit is None:
        return f"{long} long" + (f", with {len(found.key_frames)} key poses" if found.key_frames else "")
    if hit.end - hit.start <= 1:
        span = f"At {hit.start_s:.2f} s of {long} (frame {hit.start})"
    elif hit.start == 0 and hit.end >= clip.n_frames:
        span = f"All of it: {long} (frames 0:{clip.n_frames})"
    else:
        span = f"{hit.start_s:.2f} to {hit.end_s:.2f} s of {long} (frames {hit.start}:{hit.end})"
    return span + _keys(found.keys_within, len(found.key_frames))


def _keys(within: Sequence[int], n_keys: int) -> str:
    if not n_keys:
        return ""
    if len(within) == n_keys:
        return f", with all {n_keys} key poses" if n_keys > 1 else ", with the key pose"
    if not within:
        return ", between key poses"
    first, last = within[0] + 1, within[-1] + 1  # they follow each other, since the span is one
    which = f" {first}" if last == first else f"s {first} {'and' if last == first + 1 else 'to'} {last}"
    return f", with key pose{which} of {n_keys}"


def _within(at: float, width: float) -> str:
    return f"{min(max(at, 0.0), _LONG - width):.1f}"
