"""Rows of clips without blobs, for tests of databases."""

from __future__ import annotations

from keypose.library.extra import sa
from keypose.library.tables import blobs, clips

_TEXTS = ("source", "licence", "note", "suffix", "skeleton", "added_at", "checksum")


def insert_clip(connection: sa.Connection, clip_id: int, name: str = "x") -> None:
    """Insert a clip of this id with a duration of as many seconds."""
    connection.execute(sa.insert(blobs).values(hash=str(clip_id), bytes=1))
    facts = {"fps": 1.0, "n_frames": 1, "n_joints": 1, "duration_s": float(clip_id)}
    row = {
        "id": clip_id,
        "hash": str(clip_id),
        "blob": str(clip_id),
        "name": name,
        **facts,
        **dict.fromkeys(_TEXTS, "x"),
    }
    connection.execute(sa.insert(clips).values(row))
