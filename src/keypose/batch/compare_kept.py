"""Finished clips of a comparison, one small file each: whole or not there at all, whatever ended the run."""

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
from keypose.batch.convert import make_folder
from keypose.errors import FileError, FormatError, ModelError
from keypose.formats import Limits
from keypose.formats.files import read_bytes, write_atomically
from keypose.verbs.comparing.rows import KINDS, Row, row_of
from keypose.verbs.comparing.settings import Settings

LAYOUT = 1  # of these files and of what the figures mean
SUFFIX = ".clip.json.gz"


@dataclass(frozen=True)
class Kept:
    """A folder of finished clips. What is damaged or made otherwise is not found, and measured anew."""

    folder: Path

    def key(self, digest: str, settings: Settings) -> str:
        """What the figures of a clip depend on: its frames, the settings, the program."""
        told = (LAYOUT, keypose.__version__, list(KINDS), digest, asdict(settings))
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()

    def rows(self, key: str) -> tuple[Row, ...] | None:
        """The rows that were kept under ``key``; None if there are none, or not whole."""
        try:
            document = json.loads(read_bytes(self._file(key), Limits()))
            told = document["rows"]
            if document["checksum"] != _checksum(key, told):
                return None
            return tuple(row_of(dict(zip(KINDS, row, strict=True))) for row in told) or None
        except (FileError, FormatError, ModelError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def keep(self, key: str, rows: tuple[Row, ...]) -> None:
        """Keeps the rows of a clip, all of them or none."""
        make_folder(self.folder)
        told = [list(astuple(row)) for row in rows]
        document = {"checksum": _checksum(key, told), "rows": told}
        write_atomically(self._file(key), gzip.compress(json.dumps(document, allow_nan=False).encode(), 6, mtime=0))

    def forget_all_but(self, keys: Collection[str]) -> None:
        """Removes what an earlier run with other clips or settings has left, and only what is called like it."""
        wanted = {self._file(key).name for key in keys}
        with suppress(OSError):
            for file in self.folder.glob(f"{'[0-9a-f]' * 64}{SUFFIX}"):
                if file.name not in wanted:
                    file.unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}{SUFFIX}"


def _checksum(key: str, told: list[list[Any]]) -> str:
    return hashlib.sha256((key + json.dumps(told)).encode()).hexdigest()
