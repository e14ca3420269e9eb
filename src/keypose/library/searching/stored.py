"""What a shelf reads of the tables of a library."""

from __future__ import annotations

from collections.abc import Sequence

from keypose.library import analyses
from keypose.library.analysis import ANALYSIS_VERSION
from keypose.library.descriptors import Description, Windows
from keypose.library.extra import sa
from keypose.library.parts import PartTrack
from keypose.library.rankers.sheets import Sheet


class Stored:
    """Readers of the tables. Clips that another version has analysed are not searched until ``rebuild()``."""

    def changes(self, connection: sa.Connection) -> int:
        """What the library counts."""
        return analyses.changes_of(connection)

    def seals(self, connection: sa.Connection) -> dict[int, str]:
        """The seals of analyses of this version."""
        versions = analyses.versions_of(connection)
        return {n: seal for n, seal in analyses.kept_seals(connection).items() if versions.get(n) == ANALYSIS_VERSION}

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
        return {n: sheet for n, sheet in analyses.sheets_of(connection, ids).items() if sheet.present.any()}
