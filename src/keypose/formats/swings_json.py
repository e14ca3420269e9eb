"""``.swings.json``: swings as lossless text that a person can read and edit.

docs/formats.md describes every field.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from keypose.arrays import Floats, Ints, freeze, runs
from keypose.errors import OptionError
from keypose.formats import json_common
from keypose.formats.base import Format, SaveOptions, Source
from keypose.formats.json_common import (
    build_header,
    decode_array,
    encode_array,
    format_document,
    has_format_name,
    read_shape,
)
from keypose.formats.json_document import JsonArray, JsonObject
from keypose.formats.orientation import split_reference_pose
from keypose.model import Curves, FootContacts, Motion
from keypose.options import LoadOptions
from keypose.swings import KeyedSpan, Path, Settings, Swings, Track
from keypose.swings.settings import FALLBACKS, METRICS, check_setting
from keypose.swings.swing import MAX_ANGLE

FIELDS = (*json_common.FIELDS, "settings", "joints", "paths", "contacts")
SETTINGS = tuple(field.name for field in fields(Settings))
_CHOICES = {"metric": METRICS, "fallback": FALLBACKS}

FORMAT_NAME = "keypose swings"
VERSION = 1
MIN_ENCODED_KEYS = 24  # so many keys on consecutive frames are encoded in base64


def read(source: Source, options: LoadOptions) -> Motion:
    """Return the motion that the swings play."""
    swings = _read_document(source)
    json_common.check_sampled_size(source, swings, options.fps)
    return split_reference_pose(swings.play(fps=options.fps), options.reference_pose)


def read_swings(source: Source, options: LoadOptions) -> Swings:
    """Return the swings."""
    return _read_document(source)


def _read_document(source: Source) -> Swings:
    json = json_common.parse_document(source, FORMAT_NAME, VERSION, FIELDS)
    head = json_common.read_header(json)
    names, joints = head["skeleton"].names, json.objects("joints")
    if len(joints) != len(names):
        raise json.member_error("joints", f"an array of {len(names)} objects, one for each joint")
    budget = _KeyBudget(source, head["n_frames"])
    return Swings(
        **head,
        settings=_read_settings(json.required_object("settings"), frozenset(names)),
        tracks=tuple(_read_track(entry, name, budget) for entry, name in zip(joints, names, strict=True)),
        translations=np.array([entry.row("translation", 3) for entry in joints]),
        paths=tuple(_read_path(entry, frozenset(names), budget) for entry in json.objects("paths")),
        contacts=_read_contacts(json, budget),
    )


@dataclass
class _KeyBudget:
    """Counts keys against the limits before they are decoded, as encoded keys need almost no space."""

    source: Source
    n_frames: int
    keys: int = 0

    def check(self, keys: int) -> None:
        self.keys += keys
        self.source.check_keys(self.keys, self.n_frames, 1)


def _read_settings(entry: JsonObject, names: frozenset[str]) -> Settings:
    entry.check_members(*SETTINGS)
    values: dict[str, Any] = {name: entry.values[name] for name in SETTINGS}
    for name, value in values.items():
        if name in _CHOICES:
            if not isinstance(value, str | None) or value not in _CHOICES[name]:
                choices = " or ".join("null" if word is None else repr(word) for word in _CHOICES[name])
                raise entry.member_error(name, choices)
        elif name == "left_out":
            values[name] = _read_excluded_joints(entry, names)
        else:
            values[name] = entry.non_negative(name)
            try:
                check_setting(name, values[name])
            except OptionError as error:
                assert isinstance(error.expected, str)
                raise entry.member_error(name, error.expected) from None
    return Settings(**values)


def _read_excluded_joints(entry: JsonObject, names: frozenset[str]) -> tuple[str, ...]:
    joints = entry.texts("left_out")
    for k, name in enumerate(joints):
        if name not in names:
            raise entry.element_error("left_out", k, name, "the name of a joint")
    return joints


def _read_track(entry: JsonObject, joint: str, budget: _KeyBudget) -> Track:
    if entry.values.get("joint") != joint:
        raise entry.member_error("joint", f"{joint!r}, as the joints are in the order of the skeleton")
    entry.check_members("joint", "translation", "mean_rotation", "swings", "rests", "keys")
    swings, rests = entry.objects("swings"), entry.objects("rests")
    starts, ends = _read_spans(swings, budget.n_frames, ("rotation", "rotation_vector"), min_length=1)
    rest_starts, rest_ends = _read_spans(rests, budget.n_frames, ("rotation",), min_length=0)
    return Track(
        joint,
        _read_rotation(entry, "mean_rotation"),
        starts,
        ends,
        np.array([_read_rotation(swing, "rotation") for swing in swings]).reshape(-1, 4),
        np.array([_read_rotation_vector(swing) for swing in swings]).reshape(-1, 3),
        rest_starts,
        rest_ends,
        np.array([_read_rotation(rest, "rotation") for rest in rests]).reshape(-1, 4),
        tuple(_read_keyed_span(span, budget) for span in entry.objects("keys")),
    )


def _read_spans(entries: JsonArray, n_frames: int, members: tuple[str, ...], *, min_length: int) -> tuple[Ints, Ints]:
    """Read the first and last frames of swings or rests, which are at least ``min_length`` frames apart."""
    spans = []
    for entry in entries:
        entry.check_members("start", "end", *members)
        spans.append(_read_span(entry, n_frames, min_length=min_length))
    table = np.array(spans, np.int32).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _read_span(entry: JsonObject, n_frames: int, *, min_length: int) -> tuple[int, int]:
    start, end = entry.integer("start"), entry.integer("end")
    if start >= n_frames - min_length:
        raise entry.member_error("start", f"a frame before {n_frames - min_length}")
    if not start + min_length <= end < n_frames:
        raise entry.member_error("end", f"a frame from {start + min_length} to {n_frames - 1}")
    return start, end


def _read_rotation(entry: JsonObject, key: str) -> Floats:
    rotation = entry.row(key, 4)
    json_common.check_unit_quaternions(entry, key, rotation)
    return rotation


def _read_rotation_vector(entry: JsonObject) -> Floats:
    rotation_vector = entry.row("rotation_vector", 3)
    if np.abs(rotation_vector).max() > MAX_ANGLE:
        raise entry.member_error("rotation_vector", f"an axis times an angle of at most {MAX_ANGLE:g} radians")
    return rotation_vector


def _read_keyed_span(entry: JsonObject, budget: _KeyBudget) -> KeyedSpan:
    frames, rotations = _read_keys(entry, "rotations", 4, budget)
    json_common.check_unit_quaternions(entry, "rotations", rotations)
    return KeyedSpan(frames, rotations)


def _read_path(entry: JsonObject, names: frozenset[str], budget: _KeyBudget) -> Path:
    joint = entry.values.get("joint")
    if not isinstance(joint, str) or joint not in names:
        raise entry.member_error("joint", "the name of a joint")
    if "in_tangents" not in entry and "out_tangents" not in entry:
        frames, values = _read_keys(entry, "values", 3, budget, "joint")
        return Path(joint, frames, Curves(values[:, None]))
    members = ("values", "in_tangents", "out_tangents")
    entry.check_members("joint", "frames", *members)
    budget.check(len(entry.array("frames")))
    frames = json_common.read_key_frames(entry, "frames", budget.n_frames)
    return Path(joint, frames, Curves(*(entry.rows(member, len(frames), 3)[:, None] for member in members)))


def _read_keys(entry: JsonObject, member: str, width: int, budget: _KeyBudget, *others: str) -> tuple[Ints, Floats]:
    """Read frames and the rows (K, width) of ``member`` at them; rows on every frame of a span are encoded."""
    if "start" not in entry:
        entry.check_members(*others, "frames", member)
        budget.check(len(entry.array("frames")))
        frames = json_common.read_key_frames(entry, "frames", budget.n_frames)
        return frames, entry.rows(member, len(frames), width)
    entry.check_members(*others, "start", "end", member)
    start, end = _read_span(entry, budget.n_frames, min_length=0)
    rows = entry.required_object(member)
    rows.check_members("shape", "crc32", "data")
    shape = read_shape(rows, width)
    if shape[0] != end - start + 1:
        raise rows.member_error("shape", f"[{end - start + 1}, {width}], one row for each frame from {start} to {end}")
    budget.check(shape[0])
    return np.arange(start, end + 1, dtype=np.int32), decode_array(rows, shape)


def _read_contacts(json: JsonObject, budget: _KeyBudget) -> FootContacts | None:
    if json.values["contacts"] is None:
        return None
    feet = json.objects("contacts")
    budget.source.check_size(budget.n_frames, len(feet))
    in_contact = np.zeros((budget.n_frames, len(feet)), bool)
    for f, foot in enumerate(feet):
        foot.check_members("foot", "in_contact")
        min_frame = 0
        for k, span in enumerate(foot.array("in_contact")):
            frames = span if isinstance(span, list) and all(type(frame) is int for frame in span) else ()
            if len(frames) != 2 or not min_frame <= frames[0] <= frames[1] < budget.n_frames:
                raise foot.element_error(
                    "in_contact",
                    k,
                    span,
                    f"the first and the last frame of a span, from {min_frame} to {budget.n_frames - 1}",
                )
            in_contact[frames[0] : frames[1] + 1, f] = True
            min_frame = frames[1] + 2  # adjacent spans would be one span
    return FootContacts(tuple(foot.raw_text("foot") for foot in feet), freeze(in_contact))


def write_swings(swings: Swings, suffix: str, options: SaveOptions) -> bytes:
    """Encode swings. The reference pose is a separate field, so it never becomes a frame."""
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


def _sniff(head: bytes) -> bool:
    return has_format_name(head, FORMAT_NAME)


FORMAT = Format(
    "Keypose swings",
    (".swings.json",),
    _sniff,
    read,
    gzip=True,
    read_swings=read_swings,
    write_swings=write_swings,
    media_type="application/json",
)
