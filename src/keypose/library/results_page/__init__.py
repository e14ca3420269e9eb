"""Search results as one HTML page to view, send and print: ``results_page``.

``strips.py`` sanitizes pictures, ``bar.py`` draws the span within the clip, ``hits.py`` one hit.
"""

from keypose.library.results_page.page import results_page
from keypose.library.results_page.page_data import MAX_HITS, MAX_STRIPS, PageHit, PageQuery

__all__ = ["MAX_HITS", "MAX_STRIPS", "PageHit", "PageQuery", "results_page"]
