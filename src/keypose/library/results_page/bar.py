"""A clip as a bar: its length, its key poses, and the matching span."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from keypose.library.results_page.page_data import PageHit

_BAR_WIDTH = 1000.0  # units of the view box, stretched to the available width
_MIN_SPAN_WIDTH = 6.0  # makes a short span visible
_TICK_WIDTH = 3.0


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
    """Return what the bar shows, as text."""
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
