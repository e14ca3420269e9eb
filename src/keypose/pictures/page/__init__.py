"""Self-contained HTML pages without external resources.

``page`` builds the document, the other functions its content. All escape the text they receive; only the ``body``
of a ``Section`` and parameters documented as HTML are inserted unchanged.
"""

from keypose.pictures.page.document import Section, page, read_package_text
from keypose.pictures.page.elements import Cell, code, details, escape_text, facts, figure, notes, table

__all__ = [
    "Cell",
    "Section",
    "code",
    "details",
    "escape_text",
    "facts",
    "figure",
    "notes",
    "page",
    "read_package_text",
    "table",
]
