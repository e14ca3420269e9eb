"""A page of its own: one HTML file with everything in it, which asks for nothing from outside.

``page`` is the shell; the others make what goes into it. All of them escape the text that they are given. Only ``body``
of a ``Section``, and what is said to be HTML, goes in as it is.
"""

from keypose.pictures.page.pieces import Cell, code, facts, figure, folded, notes, table, written
from keypose.pictures.page.shell import Section, page, part_of_package

__all__ = [
    "Cell",
    "Section",
    "code",
    "facts",
    "figure",
    "folded",
    "notes",
    "page",
    "part_of_package",
    "table",
    "written",
]
