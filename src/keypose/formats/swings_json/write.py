"""Swings to text."""

from __future__ import annotations

from typing import Any

import numpy as np

from keypose.arrays import Floats, Ints, runs
from keypose.formats.as_text.clip import clip_document
from keypose.formats.as_text.layout import text_of
from keypose.formats.as_text.packed import packed
from keypose.formats.base import WriteOptions
from keypose.model import FootContacts
from keypose.swings import KeyedSpan, Path, Settings, Swings, Track

FORMAT_NAME = "keypose swings"
VERSION = 1
MANY = 24  # so many keys on one frame after the other nobody reads: they are packed


def write_swings(swings: Swings, suffix: str, options: WriteOptions) -> bytes:
    """The whole text. The reference pose has a place of its own, so it never becomes a frame."""
    return text_of(document(swings))


def document(swings: Swings) -> dict[str, Any]:
    """The JSON of swings."""
    places = swings.places.tolist()
    return clip_document(FORMAT_NAME, VERSION, swings) | {
        "settings": _settings(swings.settings),
        "joints": [_joint(track, place) for track, place in zip(swings.tracks, places, strict=True)],
        "paths": [_path(path) for path in swings.paths],
        "contacts": _contacts(swings.contacts),
    }


def _settings(settings: Settings) -> dict[str, Any]:
    others = {"metric": settings.metric, "fallback": settings.fallback, "left_out": list(settings.left_out)}
    return {name: others[name] if name in others else float(value) for name, value in vars(settings).items()}


def _joint(track: Track, place: list[float]) -> dict[str, Any]:
    swings = zip(
        track.starts.tolist(), track.ends.tolist(), track.start_rotations.tolist(), track.turns.tolist(), strict=True
    )
    rests = zip(track.rest_starts.tolist(), track.rest_ends.tolist(), track.rest_rotations.tolist(), strict=True)
    return {
        "joint": track.joint,
        "place": place,
        "mean_rotation": track.mean_rotation.tolist(),
        "swings": [{"start": start, "end": end, "rotation": q, "turn": turn} for start, end, q, turn in swings],
        "rests": [{"start": start, "end": end, "rotation": q} for start, end, q in rests],
        "keys": [_keyed_span(span) for span in track.keyed],
    }


def _keyed_span(span: KeyedSpan) -> dict[str, Any]:
    return _keys(span.frames, "rotations", span.rotations)


def _path(path: Path) -> dict[str, Any]:
    curves = path.curves
    if curves.arriving is None or curves.leaving is None:
        return {"joint": path.joint} | _keys(path.keys, "values", curves.values[:, 0])
    return {
        "joint": path.joint,
        "frames": path.keys.tolist(),
        "values": curves.values[:, 0].tolist(),
        "arriving": curves.arriving[:, 0].tolist(),
        "leaving": curves.leaving[:, 0].tolist(),
    }


def _keys(frames: Ints, member: str, rows: Floats) -> dict[str, Any]:
    """Rows of numbers at frames; where there are many, and one on every frame, only the first and last are named."""
    if len(frames) < MANY or frames[-1] - frames[0] != len(frames) - 1:
        return {"frames": frames.tolist(), member: rows.tolist()}
    return {"start": int(frames[0]), "end": int(frames[-1]), member: packed(rows)}


def _contacts(contacts: FootContacts | None) -> list[dict[str, Any]] | None:
    """For each foot the first and last frames of the spans in which it stands."""
    if contacts is None:
        return None
    feet = []
    for foot, touching in zip(contacts.feet, np.asarray(contacts.touching, bool).T, strict=True):
        feet.append({"foot": foot, "touching": [[start, stop - 1] for start, stop in runs(touching)]})
    return feet
