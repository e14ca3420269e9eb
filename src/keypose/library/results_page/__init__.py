"""What a search found, as one page to look at, send and print: ``results_page``.

``strips.py`` lets only drawings into it, ``bar.py`` shows where in a clip something is, ``hits.py`` draws one hit.
"""

from keypose.library.results_page.nouns import MOST_FOUND, MOST_STRIPS, Asked, Found
from keypose.library.results_page.page import results_page

__all__ = ["MOST_FOUND", "MOST_STRIPS", "Asked", "Found", "results_page"]
