"""Rows of clips without any bytes: for tests of what a database does with them."""

from __future__ import annotations

from keypose.library.extra import sa
from keypose.library.tables import blobs, clips

_TEXTS = ("source", "licence", "note", "suffix", "skeleton", "added_at", "seal")


def insert_clip(connection: sa.Connection, number: int, name: str = "x") -> None:
    """A clip of this number, as many seconds long."""
    connection.execute(sa.insert(blobs).values(hash=str(number), bytes=1))
    facts = {"fps": 1.0, "n_frames": 1, "n_joints": 1, "duration_s": float(number)}
    row = {"id": number, "hash": str(number), "blob": str(number), "name": name, **facts, **dict.fromkeys(_TEXTS, "x")}
    connection.execute(sa.insert(clips).values(row))
