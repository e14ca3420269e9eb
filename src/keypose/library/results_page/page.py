"""The page of a search: the query on top, then the hits, nearest first."""

from __future__ import annotations

from collections.abc import Sequence

import keypose
from keypose.errors import OptionError
from keypose.library.results_page.hits import hit_item, strip_html
from keypose.library.results_page.page_data import MAX_HITS, MAX_STRIPS, PageHit, PageQuery
from keypose.pictures.page import Section, code, facts, page, read_package_text

MIN_HITS_TO_FILTER = 6


def results_page(query: PageQuery, hits: Sequence[PageHit]) -> str:
    """Return one self-contained HTML page of at most ``MAX_HITS`` hits, the first ``MAX_STRIPS`` with pictures.

    The page makes no requests; texts and pictures from clips cannot inject anything.
    """
    if len(hits) > MAX_HITS:
        raise OptionError(f"a page of {len(hits):,} hits, expected at most {MAX_HITS:,}: take a smaller limit")
    sections = [Section("query", "Searched for", strip_html(query.strip))] if query.strip is not None else []
    sections.append(Section("hits", "Found", _hits_html(query, hits)))
    if query.command:
        sections.append(Section("again", "How to get this again", code(query.command)))
    package = "keypose.library.results_page"
    return page(
        query.title,
        sections,
        lead=_lead(query, hits),
        scripts=(read_package_text(package, "results.js"),),
        styles=(read_package_text(package, "results.css"),),
        foot=f"keypose {keypose.__version__}",
    )


def _lead(query: PageQuery, hits: Sequence[PageHit]) -> str:
    n_duplicates = sum(len(hit.hit.duplicates) for hit in hits if hit.hit is not None)
    count = f"{len(hits):,}" + (f", and {n_duplicates:,} more of the same takes" if n_duplicates else "")
    return facts([("found", count), ("in", query.library), *query.facts])


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
    if any(hit.span_strip is not None for hit in hits):
        sentences.append("Poses beside a coloured line are those of the part itself.")
    if len(hits) > MAX_STRIPS:
        sentences.append(f"The first {MAX_STRIPS} have pictures.")
    return f'<p class="quiet">{" ".join(sentences)}</p>\n' if sentences else ""


def _filter_html(n_hits: int) -> str:
    """Return a filter box, which scripts make visible."""
    if n_hits < MIN_HITS_TO_FILTER:
        return ""
    return ('<p class="only" hidden><label>Show only <input type="search" autocomplete="off" spellcheck="false" '
            'placeholder="words of names and tags"></label> <output aria-live="polite"></output></p>\n')  # fmt: skip
