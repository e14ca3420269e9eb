"""Write ``.swings.json``."""

from __future__ import annotations

from typing import Any

import numpy as np

from keypose.arrays import Floats, Ints, runs
from keypose.formats.base import SaveOptions
from keypose.formats.json_common.array_encoding import encode_array
from keypose.formats.json_common.header import build_header
from keypose.formats.json_common.layout import format_document
from keypose.model import FootContacts
from keypose.swings import KeyedSpan, Path, Settings, Swings, Track

FORMAT_NAME = "keypose swings"
VERSION = 1
MIN_ENCODED_KEYS = 24  # so many keys on consecutive frames are encoded in base64


def write_swings(swings: Swings, suffix: str, options: SaveOptions) -> bytes:
    """Encode swings. The reference pose is a field of its own, so it never becomes a frame."""
    return format_document(build_document(swings))


def build_document(swings: Swings) -> dict[str, Any]:
    """Return the JSON of swings."""
    translations = swings.translations.tolist()
    return build_header(FORMAT_NAME, VERSION, swings) | {
        "settings": _settings_json(swings.settings),
        "joints": [_joint_json(*pair) for pair in zip(swings.tracks, translations, strict=True)],
        "paths": [_path_json(path) for path in swings.paths],
        "contacts": _contacts_json(swings.contacts),
    }


def _settings_json(settings: Settings) -> dict[str, Any]:
    others = {"metric": settings.metric, "fallback": settings.fallback, "left_out": list(settings.left_out)}
    return {name: others[name] if name in others else float(value) for name, value in vars(settings).items()}


def _joint_json(track: Track, translation: list[float]) -> dict[str, Any]:
    swings = zip(
        track.starts.tolist(),
        track.ends.tolist(),
        track.start_rotations.tolist(),
        track.rotation_vectors.tolist(),
        strict=True,
    )
    rests = zip(track.rest_starts.tolist(), track.rest_ends.tolist(), track.rest_rotations.tolist(), strict=True)
    return {
        "joint": track.joint,
        "translation": translation,
        "mean_rotation": track.mean_rotation.tolist(),
        "swings": [
            {"start": start, "end": end, "rotation": q, "rotation_vector": vector} for start, end, q, vector in swings
        ],
        "rests": [{"start": start, "end": end, "rotation": q} for start, end, q in rests],
        "keys": [_keyed_span_json(span) for span in track.keyed],
    }


def _keyed_span_json(span: KeyedSpan) -> dict[str, Any]:
    return _keys_json(span.frames, "rotations", span.rotations)


def _path_json(path: Path) -> dict[str, Any]:
    curves = path.curves
    if curves.in_tangents is None or curves.out_tangents is None:
        return {"joint": path.joint} | _keys_json(path.keys, "values", curves.values[:, 0])
    return {
        "joint": path.joint,
        "frames": path.keys.tolist(),
        "values": curves.values[:, 0].tolist(),
        "in_tangents": curves.in_tangents[:, 0].tolist(),
        "out_tangents": curves.out_tangents[:, 0].tolist(),
    }


def _keys_json(frames: Ints, member: str, rows: Floats) -> dict[str, Any]:
    """Return rows of numbers at frames; many rows on consecutive frames are encoded, with first and last frame."""
    if len(frames) < MIN_ENCODED_KEYS or frames[-1] - frames[0] != len(frames) - 1:
        return {"frames": frames.tolist(), member: rows.tolist()}
    return {"start": int(frames[0]), "end": int(frames[-1]), member: encode_array(rows)}


def _contacts_json(contacts: FootContacts | None) -> list[dict[str, Any]] | None:
    """Return for each foot the first and last frames of its contacts."""
    if contacts is None:
        return None
    feet = []
    for foot, in_contact in zip(contacts.feet, np.asarray(contacts.in_contact, bool).T, strict=True):
        feet.append({"foot": foot, "in_contact": [[start, stop - 1] for start, stop in runs(in_contact)]})
    return feet
