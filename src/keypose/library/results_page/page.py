"""The page of a search: what was asked for on top, then what was found, the nearest first."""

from __future__ import annotations

from collections.abc import Sequence

import keypose
from keypose.errors import OptionError
from keypose.library.results_page.hits import hit_item, strip_of
from keypose.library.results_page.nouns import MOST_FOUND, MOST_STRIPS, Asked, Found
from keypose.pictures.page import Section, code, facts, page, part_of_package

FEWEST_TO_FILTER = 6


def results_page(asked: Asked, found: Sequence[Found]) -> str:
    """One self-contained HTML page of at most ``MOST_FOUND`` hits; the first ``MOST_STRIPS`` of them with pictures.

    No request leaves it, and texts and pictures from clips stay what they are, whatever they hold.
    """
    if len(found) > MOST_FOUND:
        raise OptionError(f"a page of {len(found):,} hits, expected at most {MOST_FOUND:,}: take a smaller limit")
    sections = [Section("query", "Searched for", strip_of(asked.strip))] if asked.strip is not None else []
    sections.append(Section("hits", "Found", _hits(asked, found)))
    if asked.command:
        sections.append(Section("again", "How to get this again", code(asked.command)))
    here = "keypose.library.results_page"
    return page(
        asked.title,
        sections,
        lead=_lead(asked, found),
        scripts=(part_of_package(here, "results.js"),),
        styles=(part_of_package(here, "results.css"),),
        foot=f"keypose {keypose.__version__}",
    )


def _lead(asked: Asked, found: Sequence[Found]) -> str:
    n_also = sum(len(one.hit.also) for one in found if one.hit is not None)
    many = f"{len(found):,}" + (f", and {n_also:,} more of the same takes" if n_also else "")
    return facts([("found", many), ("in", asked.where), *asked.facts])


def _hits(asked: Asked, found: Sequence[Found]) -> str:
    if not found:
        return "<p>Nothing. Fewer words, tags or limits of duration leave more to find.</p>\n"
    items = "".join(hit_item(one, rank, asked.where, pictured=rank <= MOST_STRIPS) for rank, one in enumerate(found, 1))
    return f'{_said(found)}{_filter(len(found))}<ol class="hits">\n{items}</ol>\n'


def _said(found: Sequence[Found]) -> str:
    told = []
    if any(one.hit is not None for one in found):
        told.append("The nearest first; 1 is the same motion. A bar is a whole clip: the coloured part was found, "
                    "ticks are the key poses above it, and poses outside of the part are faint. Frames are START:END, "
                    "END not included.")  # fmt: skip
    if any(one.part is not None for one in found):
        told.append("Poses beside a coloured line are those of the part itself.")
    if len(found) > MOST_STRIPS:
        told.append(f"The first {MOST_STRIPS} have pictures.")
    return f'<p class="quiet">{" ".join(told)}</p>\n' if told else ""


def _filter(n_found: int) -> str:
    """A box to type in, for who has scripts."""
    if n_found < FEWEST_TO_FILTER:
        return ""
    return ('<p class="only" hidden><label>Show only <input type="search" autocomplete="off" spellcheck="false" '
            'placeholder="words of names and tags"></label> <output aria-live="polite"></output></p>\n')  # fmt: skip
