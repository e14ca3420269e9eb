"""Reads the data for search from the tables of a library."""

from __future__ import annotations

from collections.abc import Sequence

from keypose.library import analysis_reader, analysis_rows
from keypose.library.descriptors import Description, Windows
from keypose.library.extra import sa
from keypose.library.part_search import PartTrack
from keypose.library.rankers.swing_table import SwingTable
from keypose.library.search.candidate_source import ClipQuery


class TableReader:
    """Reads the tables.

    Clips that another version has analysed are not searched until ``rebuild()``, clips in the trash not until they are
    restored.
    """

    def changes(self, connection: sa.Connection) -> int:
        """Return the change counter of the library."""
        return analysis_reader.load_change_count(connection)

    def checksums(self, connection: sa.Connection) -> dict[int, str]:
        """Return the checksums of the searchable clips."""
        return analysis_rows.load_searchable_checksums(connection)

    def restrict_to_searchable(self, connection: sa.Connection, clip_query: ClipQuery) -> ClipQuery:
        """Return a query for the searchable clips of ``clip_query``; unchanged if all clips are searchable."""
        restricted: ClipQuery = analysis_rows.restrict_to_searchable(connection, clip_query)
        return restricted

    def descriptions(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, Description]:
        """Return descriptions of clips with a body."""
        return analysis_reader.load_descriptions(connection, clip_ids)

    def tracks(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, PartTrack]:
        """Return tracks of clips with a body."""
        return analysis_reader.load_tracks(connection, clip_ids)

    def poses(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, Windows]:
        """Return poses of clips with a body."""
        return analysis_reader.load_poses(connection, clip_ids)

    def swing_tables(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, SwingTable]:
        """Return swing tables of clips with a body."""
        tables = self.swing_tables_by_id(connection, clip_ids)
        return {clip_id: table for clip_id, table in tables.items() if table.present.any()}

    def swing_tables_by_id(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, SwingTable]:
        """Return swing tables of all clips; empty without a body."""
        return analysis_reader.load_swing_tables(connection, clip_ids)
