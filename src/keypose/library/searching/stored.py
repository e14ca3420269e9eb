"""What a shelf reads of the tables of a library."""

from __future__ import annotations

from collections.abc import Sequence

from keypose.library import analyses, analysis_rows
from keypose.library.descriptors import Description, Windows
from keypose.library.extra import sa
from keypose.library.parts import PartTrack
from keypose.library.rankers.sheets import Sheet
from keypose.library.searching.shelf import Chosen


class Stored:
    """Readers of the tables.

    Clips that another version has analysed are not searched until ``rebuild()``, those that were thrown away not until
    they are restored.
    """

    def changes(self, connection: sa.Connection) -> int:
        """What the library counts."""
        return analyses.changes_of(connection)

    def seals(self, connection: sa.Connection) -> dict[int, str]:
        """Of the clips that are searched."""
        return analysis_rows.searched_seals(connection)

    def searched(self, connection: sa.Connection, chosen: Chosen) -> Chosen:
        """Those of the ``chosen`` clips that are searched; where all are, the question stays what it was."""
        found: Chosen = analysis_rows.searched_of(connection, chosen)
        return found

    def descriptions(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, Description]:
        """Of clips with a body."""
        return analyses.descriptions_of(connection, ids)

    def tracks(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, PartTrack]:
        """Of clips with a body."""
        return analyses.tracks_of(connection, ids)

    def poses(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, Windows]:
        """Of clips with a body."""
        return analyses.poses_of(connection, ids)

    def sheets(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, Sheet]:
        """Of clips with a body."""
        return {n: sheet for n, sheet in self.some_sheets(connection, ids).items() if sheet.present.any()}

    def some_sheets(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, Sheet]:
        """Of all clips; empty where there is no body."""
        return analyses.sheets_of(connection, ids)
