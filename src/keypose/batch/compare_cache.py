"""Cache of the finished clips of a comparison: one small file each, written atomically."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import keypose
from keypose.api.compare import CompareOptions, Row
from keypose.api.compare.rows import COLUMN_TYPES, parse_row
from keypose.batch.convert import make_folder
from keypose.errors import FileError, FormatError, ModelError
from keypose.formats import Limits
from keypose.formats.files import read_bytes, write_atomically

LAYOUT = 1  # version of these files and of the meaning of their figures
SUFFIX = ".clip.json.gz"


@dataclass(frozen=True)
class CompareCache:
    """A folder of finished clips. Damaged entries, and those of other settings or versions, count as missing."""

    folder: Path

    def build_key(self, digest: str, settings: CompareOptions) -> str:
        """Return the hash of everything that the figures depend on: frames, settings, program version."""
        parts = (LAYOUT, keypose.__version__, list(COLUMN_TYPES), digest, asdict(settings))
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def load_rows(self, key: str) -> tuple[Row, ...] | None:
        """Return the rows cached under ``key``; None if they are missing or damaged."""
        try:
            document = json.loads(read_bytes(self._path(key), Limits()))
            values = document["rows"]
            if document["checksum"] != _checksum(key, values):
                return None
            return tuple(parse_row(dict(zip(COLUMN_TYPES, row, strict=True))) for row in values) or None
        except (FileError, FormatError, ModelError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def save_rows(self, key: str, rows: tuple[Row, ...]) -> None:
        """Cache the rows of a clip, atomically."""
        make_folder(self.folder)
        values = [list(astuple(row)) for row in rows]
        document = {"checksum": _checksum(key, values), "rows": values}
        write_atomically(self._path(key), gzip.compress(json.dumps(document, allow_nan=False).encode(), 6, mtime=0))

    def prune(self, keys: Collection[str]) -> None:
        """Remove cache files of earlier runs whose key is not in ``keys``; other files stay."""
        current_names = {self._path(key).name for key in keys}
        with suppress(OSError):
            for file in self.folder.glob(f"{'[0-9a-f]' * 64}{SUFFIX}"):
                if file.name not in current_names:
                    file.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{SUFFIX}"


def _checksum(key: str, values: list[list[Any]]) -> str:
    return hashlib.sha256((key + json.dumps(values)).encode()).hexdigest()
