"""The cases of compare_results.py, which runs this file once in each of the two trees.

Cases use the names of the base commit. In the new tree, ``RenameProxy`` translates them by the table RENAMED of
compare_results.py, so that results of the old tree stay cached while names change.
"""

# ruff: noqa: B005, B023 - the runner calls each lambda before the loop goes on; lib.strip is no string method

from __future__ import annotations

import argparse
import base64
import builtins
import dataclasses
import gzip
import hashlib
import importlib.util
import json
import operator
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

Items = Iterator[tuple[str, Callable[[], Any]]]  # label and what computes the value
Case = Callable[[], Items]

CASES: dict[str, Case] = {}
SLOW = {"commands", "compare_all", "kps_clips", "library_workers", "load_files", "save_usd"}  # left out by --quick
DATA = Path()  # ../shared/data; set by main
SCRATCH = Path()  # a temporary folder, emptied after each case
FILES = Path()  # .kps files that stay, for the other tree to decode
RENAMED: dict[str, str] = {}  # old name -> new name; empty in the old tree
RENAMED_VALUES: dict[str, str] = {}
OLD_NAMES: dict[str, str] = {}  # the inverse of RENAMED, for names of classes
OLD_VALUES: dict[str, str] = {}

# Compared attributes of each type, in names of the base commit. Text for people (notes, explanations), times of day,
# durations of computations and paths are left out.
FIELDS_TEXT = """
Agreement: part query_start_s query_end_s start_s end_s cosine
Anatomy: names parts
Balance: name fps up centre_of_mass velocity extrapolated margin_mm extrapolated_margin_mm supported hulls corners
    level floor
Bar: kind start end start_s end_s angle_deg axis deg_per_s
Canonical: positions missing
Change: keyed first last missed
ChannelTable: values frame_time
Cliff: keys strength
Clip: hash name also_named tags source licence note fps n_frames duration_s n_joints skeleton suffix bytes within_mm
Column: joint channel
Costs: counts amounts
Curves: values arriving leaving
Damage: group start_s end_s loses_nothing
Description: clip windows
Draft: clip revision data
Facets: tags durations parts
Fault: kind fixed
Features: values fps columns
FootContacts: feet touching
Hinged: motion joints_held most_deg
Hit: name clip score start end start_s end_s query_start_s query_end_s mirrored also also_hashes why
Ingested: clips known failures
KeyedMotion: name skeleton fps n_frames keys translations rotations rotation_orders residual extremes up
    metres_per_unit first_frame reference_pose duration_s n_keys is_cubic
KeyedSpan: frames rotations
Ladder: method n_frames counts frames cost_values is_nested natural costs
Middle: method kind inbetweens removed_percent clips exact stored_values stored_percent mean_mm p95_mm max_mm mean_deg
    max_deg foot_slide_mm original_foot_slide_mm key_acceleration
Motion: name skeleton fps translations rotations up metres_per_unit first_frame reference_pose
NotAdded:
Path: joint keys curves
Planted: motion missed_mm legs_moved
Pose: translations rotations
RefineRow: joint frames keys_per_axis overlap keys removed
RefineTable: rows mean_keys mean_keys_per_axis mean_overlap mean_overlap_ratio mean_removed
Residual: turns shifts frames sources
Rest: joint start end rotation
Row: clip sha256 frames fps source_fps joints method kind inbetweens part removed_percent_asked keys_asked keys
    removed_percent stored_values stored_percent mean_mm p95_mm max_mm mean_deg max_deg foot_slide_mm
    original_foot_slide_mm key_acceleration
Score: mean_mm p95_mm max_mm mean_deg max_deg foot_slide_mm original_foot_slide_mm worst_frame worst_joint
    per_joint_mm per_frame_mm key_acceleration stored_values bytes
Selection: frames n_frames method order
Settings: threshold metric smoothing_s window_s least_s rest_rad_per_s fallback fallback_deg translation_mm left_out
Sheet: duration_s present parts starts_s ends_s axes angles
Size: swings rests keys left_out translation header raw_bytes ratio
Skeleton: names parents offsets rotation_orders channels end_offsets end_joints
SpanPair: query_start_s query_end_s start_s end_s unlikeness
Standing: foot start end start_s end_s
Stats: clips duration_s n_frames bytes skeletons tags
SweepRow: threshold error_deg n_swings n_keys bytes
Swing: joint start end start_rotation axis angle angle_deg end_rotation turn
SwingChange: swings first last joints played
Swings: name skeleton fps n_frames tracks places paths contacts settings up metres_per_unit first_frame reference_pose
    n_swings n_keys
Tally: total added known failed motion_s
Timeline: name fps n_frames duration_s rows contacts
TimelineRow: joint part left_out bars
Tip: start end worst before_mm after_mm fps
Track: joint mean_rotation starts ends start_rotations turns rest_starts rest_ends rest_rotations keyed
Why: spans centimetres swings
Windows: vectors starts_s ends_s weights usual
"""
FIELDS = {
    name: fields.split() for name, fields in re.findall(r"^(\w+):((?:.|\n    )*)", FIELDS_TEXT, flags=re.MULTILINE)
}
ERRORS = {"Conflict", "FileError", "FormatError", "KeyposeError", "LimitError", "MissingExtra", "ModelError",
          "OptionError", "UnknownJoint"}  # fmt: skip


# Names of both trees


class RenameProxy:
    """An object of Keypose under the names of the base commit; what it returns is wrapped as well."""

    __slots__ = ("_name", "_target")

    def __init__(self, target: Any, name: str) -> None:
        self._target = target
        self._name = name

    def __getattr__(self, name: str) -> Any:
        target = self._target
        owner = self._name if isinstance(target, type | ModuleType) else old_class(type(target))
        new = RENAMED.get(f"{owner}.{name}") or RENAMED.get(name, name)
        return wrap(operator.attrgetter(new)(target), f"{owner}.{name}")

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        translated = {RENAMED.get(f"{self._name}.{k}") or RENAMED.get(k, k): unwrap(v) for k, v in keywords.items()}
        return wrap(self._target(*map(unwrap, args), **translated))

    def __getitem__(self, key: Any) -> Any:
        return wrap(self._target[key])

    def __iter__(self) -> Iterator[Any]:
        return map(wrap, iter(self._target))

    def __len__(self) -> int:
        return len(self._target)

    def __contains__(self, item: Any) -> bool:
        return unwrap(item) in self._target

    def __enter__(self) -> Any:
        return wrap(self._target.__enter__())

    def __exit__(self, *exception: Any) -> Any:
        return self._target.__exit__(*exception)


def old_class(kind: type) -> str:
    """The name of a type, or of its nearest parent in FIELDS, at the base commit."""
    if "bars" in getattr(kind, "__dataclass_fields__", ()):
        return "TimelineRow"  # the base commit has two types named Row
    names = [OLD_NAMES.get(each.__name__, each.__name__) for each in kind.__mro__]
    return next((name for name in names if name in FIELDS), names[0])


def wrap(value: Any, name: str = "") -> Any:
    plain = None | bool | int | float | str | bytes | np.ndarray | np.generic | Path | BaseException | RenameProxy
    if isinstance(value, plain):
        return value
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return type(value)(map(wrap, value))
    if type(value) is dict:
        return {key: wrap(each) for key, each in value.items()}
    return RenameProxy(value, name)


def unwrap(value: Any) -> Any:
    if isinstance(value, RenameProxy):
        return value._target
    if isinstance(value, str):
        return RENAMED_VALUES.get(value, value)
    if type(value) in (tuple, list):
        return type(value)(map(unwrap, value))
    if type(value) is dict:
        return {key: unwrap(each) for key, each in value.items()}
    return value


def member(path: str) -> Any:
    """A documented member of a module below ``keypose``: ``member("keypose.swings.packed.pack")``."""
    module, _, name = RENAMED.get(path, path).rpartition(".")
    if path not in RENAMED:
        module, name = RENAMED.get(module, module), RENAMED.get(name, name)
    return wrap(getattr(importlib.import_module(module), name), path)


class Package:
    """``keypose`` itself, imported at first use."""

    def __getattr__(self, name: str) -> Any:
        return getattr(RenameProxy(importlib.import_module("keypose"), "kp"), name)


kp = Package()


# Results as flat tables of short strings


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]


def record(value: Any, path: str, out: dict[str, str]) -> None:
    """Put ``value`` into ``out``, one entry for each number, string and array in it."""
    if isinstance(value, RenameProxy):
        value = value._target
    if isinstance(value, np.ndarray):
        out[path] = f"{value.dtype.str}{list(value.shape)} {digest(np.ascontiguousarray(value).tobytes())}"
    elif value is None or isinstance(value, bool | np.bool_ | int | np.integer):
        out[path] = str(value)
    elif isinstance(value, float | np.floating):
        out[path] = f"{float(value)!r} {float(value).hex()}"
    elif isinstance(value, str):
        value = OLD_VALUES.get(value, value)
        out[path] = repr(value) if len(value) < 60 else f"str {len(value)} {digest(value.encode())}"
    elif isinstance(value, bytes):
        out[path] = f"bytes {len(value)} {digest(value)}"
    elif isinstance(value, Path):
        out[path] = value.name
    elif (name := old_class(type(value))) in FIELDS:
        for each in FIELDS[name]:
            record(getattr(RenameProxy(value, name), each), f"{path}.{each}", out)
    elif isinstance(value, dict):
        out[f"{path}#"] = str(len(value))
        for key, each in value.items():
            record(each, f"{path}[{key}]", out)
    elif isinstance(value, tuple | list):
        inner: dict[str, str] = {}
        for i, each in enumerate(value):
            record(each, f"{path}[{i}]", inner)
        out[f"{path}#"] = str(len(value))
        is_long = len(inner) == len(value) > 12  # of numbers and strings
        out.update({f"{path}[]": digest(json.dumps(inner).encode())} if is_long else inner)
    else:
        raise TypeError(f"{path}: FIELDS has no row for {type(value).__module__}.{type(value).__name__}")


def error_types(error: BaseException) -> str:
    """The type of an error and its parents at the base commit; types that are new since count as their parents."""
    names = [OLD_NAMES.get(each.__name__, each.__name__) for each in type(error).__mro__]
    return " ".join(name for name in names if name in ERRORS or name in dir(builtins)).removesuffix(
        " Exception BaseException object"
    )


def run_case(case: Case) -> dict[str, Any]:
    """The values of a case by path, and the messages of its errors, which are not compared."""
    values: dict[str, str] = {}
    messages: dict[str, str] = {}

    def run(label: str, compute: Callable[[], Any]) -> None:
        with warnings.catch_warnings(record=True) as records:
            warnings.simplefilter("always")
            try:
                results: dict[str, str] = {}
                record(compute(), label, results)
                values.update(results)
            except Exception as error:
                values[label] = f"error {error_types(error)}"
                messages[label] = "".join(traceback.format_exception(error)[-3:])
        count = sum(OLD_NAMES.get(w.category.__name__, w.category.__name__) == "FormatWarning" for w in records)
        if count:
            values[f"{label} warnings"] = str(count)

    def consume() -> None:
        for label, compute in case():
            run(label, compute)

    start = time.perf_counter()
    run("case", consume)
    return {"values": values, "messages": messages, "seconds": round(time.perf_counter() - start, 2)}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


# Files and pictures without what may change: text, names of JSON fields, identifiers


def drawing(picture: Any) -> dict[str, Any]:
    return {"svg": strip_text(picture.svg), "width": picture.width, "height": picture.height}


def strip_text(svg: str) -> str:
    """SVG without titles, texts that hold a letter, identifiers and classes."""
    svg = re.sub(r"<(title|desc|style)\b[^>]*>.*?</\1>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<text\b[^>]*>[^<]*[^\W\d_][^<]*(<tspan.*?)?</text>", "", svg, flags=re.DOTALL)
    return re.sub(r' (aria-[a-z]+|id|class|data-[a-z]+|href|role)="[^"]*"|url\(#[^)]*\)', "", svg)


def page(path: Path) -> dict[str, Any]:
    """The pictures, the numbers in tables and the data of players of an HTML page."""
    text = path.read_text("utf-8")
    data = [json.loads(each) for each in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)]
    return {
        "svg": [strip_text(each) for each in re.findall(r"<svg\b.*?</svg>", text, re.DOTALL)],
        "numbers": re.findall(r"<t[dh]\b[^>]*>([-+\d.,]+)</t[dh]>", text),
        "data": [[each for each in item.values() if not isinstance(each, dict)] for item in data],
    }


def gltf(path: Path) -> dict[str, Any]:
    """A glTF or GLB file without ``extras`` and ``asset``, whose names and words may change."""
    data = path.read_bytes()
    binary = b""
    if data[:4] == b"glTF":
        length = struct.unpack_from("<I", data, 12)[0]
        data, binary = data[20 : 20 + length], data[28 + length :]
    document = json.loads(data)
    document.pop("asset")
    for buffer in document["buffers"]:
        if "uri" in buffer:
            binary += base64.b64decode(buffer.pop("uri").partition(",")[2])

    def bare(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: bare(each) for key, each in item.items() if key != "extras"}
        return [bare(each) for each in item] if isinstance(item, list) else item

    return {key: json.dumps(bare(each)) for key, each in document.items()} | {"binary": binary}


def drop_notes(motion: Any) -> Any:
    """A copy whose notes, which a .kps file holds as text, are empty."""
    return wrap(dataclasses.replace(unwrap(motion), notes=()))


def save_file(value: Any, name: str, **options: Any) -> Path:
    path = SCRATCH / name
    kp.save(value, path, **options)
    return path


def save_kps(value: Any, name: str, **options: Any) -> dict[str, Any]:
    """The bytes of a .kps file, which stays for the other tree, and how they decode."""
    path = FILES / f"{name}.kps"
    kp.save(value, path, **options)
    return {"bytes": path.read_bytes()} | decode_kps(path)


def decode_kps(path: Path) -> dict[str, Any]:
    with kp.open_kps(path) as stored:
        facts = {n: getattr(stored, n) for n in
                 ("duration_s", "first_frame", "fps", "group_s", "has_frames", "has_keys", "has_swings", "lossless",
                  "metres_per_unit", "n_bytes", "n_frames", "n_groups", "n_joints", "name", "skeleton",
                  "reference_pose", "tolerance_mm", "up")}  # fmt: skip
        parts = {"channels": stored.channels(), "keyed": stored.keyed(), "swings": stored.swings(),
                 "motion": stored.motion(), "damage": stored.damage(), "sound": stored.sound()}  # fmt: skip
    return facts | parts


# Clips

CLIPS = {
    "walk": "cmu120/07_05_walk.bvh",
    "run": "cmu120/09_01.bvh",
    "kick": "cmu120/135_07_kicking.bvh",
    "cartwheel": "cmu120/49_06_cartwheel.bvh",
    "jump": "cmu120/swings/16_05.bvh",
    "throw": "cmu30/baseball_throw/124_01.bvh",
    "acclaim": "asf-amc/02_01.amc",
    "z_up": "formats/bvh/fair_zup_dab.bvh",
    "six_channels": "formats/bvh/blender_6ch-every-joint_alien.bvh",
    "mixed_orders": "formats/bvh/mixed-rotation-orders.bvh",
    "fingers": "formats/bvh/59joints_fingers_zup.bvh",
    "xsens": "formats/bvh/xsens-mvn_60fps.bvh",
    "man": "gltf/CesiumMan.glb",
    "fox": "gltf/Fox.glb",
    "markers": "c3d/optotrak.c3d",
    "arm": "usd/skinnedArm.usda",
}


@cache
def clip(name: str, fps: float | None = None, stop: int | None = None) -> Any:
    """A clip without notes, at ``fps``, up to frame ``stop``."""
    with warnings.catch_warnings():  # else they would count for the case that needs the clip first
        warnings.simplefilter("ignore")
        motion = drop_notes(kp.load(DATA / CLIPS[name]))
    motion = motion if fps is None else motion.at_fps(fps)
    return motion[:stop]


@cache
def keyed_walk() -> Any:
    return kp.unbake(clip("walk", 60), keys=16)


@cache
def jump_swings() -> Any:
    return kp.swings(clip("jump", 60))


@case
def environment() -> Items:
    yield "versions", lambda: [platform.python_version(), np.__version__]


# Reading


@case
def load_clips() -> Items:
    for name in CLIPS:
        yield name, lambda: kp.load(DATA / CLIPS[name])
        yield f"{name} notes", lambda: len(kp.load(DATA / CLIPS[name]).notes)
    for path in sorted(DATA.glob("malformed/*/*")):
        yield path.name, lambda: kp.load(path)


@case
def load_files() -> Items:
    for pattern in ("formats/*/*", "more-exporters/*", "cmu120/*.bvh", "cmu120/swings/*", "cmu30/*/*", "cmu30-more/0*",
                    "asf-amc/*", "asf-amc/mismatch/*", "c3d/*", "c3d/*/*", "gltf/*", "usd/*", "characters/*", "fbx/*",
                    "text/*"):  # fmt: skip
        paths = sorted(DATA.glob(pattern))
        yield f"{pattern} files", lambda: len(paths)
        for path in paths:
            yield f"{path.parent.name}/{path.name}", lambda: kp.load(path)


@case
def load_options() -> Items:
    for choice in ("keep", "drop", "auto", "wrong"):
        yield f"reference_pose {choice}", lambda: kp.load(DATA / CLIPS["walk"], reference_pose=choice)
    yield "asf", lambda: kp.load(DATA / "asf-amc/mismatch/02_01.amc", asf=DATA / "asf-amc/02.asf")
    yield "amc fps", lambda: kp.load(DATA / "asf-amc/09_06.amc", fps=60)
    for name in ("optotrak", "qualisys", "phasespace"):
        yield f"{name} gaps", lambda: kp.load(DATA / f"c3d/{name}.c3d", gaps="refuse")
    for animation in (0, 1, "Run", "Fly", 9):
        yield f"animation {animation}", lambda: kp.load(DATA / CLIPS["fox"], animation=animation, fps=30)
    for limit in ("joints", "depth", "frames", "bytes"):
        yield f"limit {limit}", lambda: kp.load(DATA / CLIPS["walk"], limits=kp.Limits(**{limit: 3}))
    yield "no file", lambda: kp.load(DATA / "none.bvh")
    yield "folder", lambda: kp.load(DATA)
    for path in sorted(DATA.glob("gltf/*")):
        yield f"keys of {path.name}", lambda: kp.load_keyed(path)
        yield f"keys of {path.name} at 24 fps", lambda: kp.load_keyed(path, fps=24)
    yield "keys of BVH", lambda: kp.load_keyed(DATA / CLIPS["walk"])
    yield "swings of BVH", lambda: kp.load_swings(DATA / CLIPS["walk"])


# Types


@case
def motion_methods() -> Items:
    for name in ("walk", "acclaim", "z_up", "mixed_orders", "six_channels", "fingers", "fox", "markers"):
        m = clip(name)[:200]
        for method in ("world_positions", "world_rotations", "end_positions", "euler_curves", "foot_contacts"):
            yield f"{name} {method}", lambda: getattr(m, method)()
        yield f"{name} facts", lambda: [m.n_frames, m.n_joints, m.duration_s]
        yield f"{name} height", lambda: [m.height, m.mm_per_unit]
        yield f"{name} at_fps", lambda: [m.at_fps(25), m.at_fps(48), m.at_fps(240)]
        yield f"{name} at_frames", lambda: m.at_frames([0, 0.25, 3.5, 7])
        yield f"{name} slices", lambda: [m[5:9], m[-3:], m[:1]]
        yield f"{name} concatenate", lambda: kp.concatenate([m[:10], m[20:30]])
        yield f"{name} anatomy", lambda: m.skeleton.anatomy
        yield f"{name} rest", lambda: [m.skeleton.rest_positions, m.skeleton.roots]
        yield f"{name} in arrays", lambda: kp.Motion("x", m.skeleton, 30.0, m.translations, m.rotations)
        for joints in ("hips", "left_hand", "arms", "major", "body", "fingers", "none"):
            yield f"{name} joints {joints}", lambda: m.joints(joints)
    yield "demo", lambda: [kp.demo_motion(), kp.demo_motion(fps=30, seed=3)]
    yield "step", lambda: clip("walk")[::2]
    yield "other joints", lambda: kp.concatenate([clip("walk"), clip("fox")])


@case
def keyed_methods() -> Items:
    k = keyed_walk()
    yield "poses", lambda: [k.poses, k.pose(12.5), k.pose(12.5, 0.6), k.key_index(int(k.keys[3]))]
    for residual in (0.0, 0.5, 1.0):
        yield f"sample {residual}", lambda: [k.sample(residual), k.sample(residual, fps=24)]
    yield "sample frames", lambda: k.sample(frames=[0, 1.5, 8])
    yield "curves", lambda: [k.translations.still(), k.rotations.n_channels, k.rotations.is_cubic]
    yield "no key", lambda: k.key_index(1)


@case
def score() -> Items:
    m = clip("walk", 60)
    yield "keyed", lambda: kp.score(m, keyed_walk())
    yield "selection", lambda: kp.score(m, kp.select(m, "farthest", keys=9))
    yield "motion", lambda: kp.score(m, m.at_fps(30).at_fps(60)[: m.n_frames])
    yield "other joints", lambda: kp.score(m, clip("fox"))
    yield "errors", lambda: member("keypose.metrics.position_errors_mm")(m, keyed_walk().sample())


@case
def balance() -> Items:
    for name in ("walk", "jump", "z_up", "fox", "markers"):
        yield name, lambda: kp.balance(clip(name)[:300])
    before, after = (kp.balance(clip("jump", 60)), kp.balance(jump_swings().play()))
    yield "support", lambda: [before.support(i) for i in range(0, before.n_frames, 10)]
    yield "tips", lambda: kp.tips_over(before, after)
    yield "more tips", lambda: kp.tips_over(before, after, least_s=0.02, worse_mm=5)
    yield "contacts", lambda: kp.balance(clip("jump", 60), contacts=clip("jump", 60).foot_contacts())


# Selection

METHODS = ("salient", "farthest", "spread", "synopsis", "saliency", "refine", "simplify", "decimate", "uniform")
# fmt: off
LADDER_OPTIONS: dict[str, list[dict[str, Any]]] = {
    "salient": [
        {"objective": "sum"}, {"cost": "integrated"}, {"cost": "integrated", "objective": "sum"},
        {"cost": "inbetween"}, {"cost": "inbetween", "interpolation": "linear"},
        {"cost": "inbetween", "measure": "mean", "objective": "sum"}, {"cost": "inbetween", "limit_mm": 30.0},
        {"cost": "inbetween", "top_only": True, "greatest_gap_frames": 40}, {"pins": (30, 88)}, {"pins": "contacts"},
        {"pins": ["contacts", 30]}, {"excluded": range(20, 60)}, {"least_gap_frames": 6}, {"greatest_gap_frames": 25},
        {"threads": 2}, {"loop": True}, {"wrong": 1},
    ],
    "synopsis": [{"candidates": "all"}],
    "saliency": [{"sigma_s": 0.1, "cut_sigmas": 3.0}, {"least_gap_s": 0.3}, {"rank": "joint"}, {"rank": "body"},
                 {"each_cluster": "all"}, {"extremes": "strict"}],
    "refine": [{"threshold": 0.4}, {"least_error": 0.1, "prominence": 0.3}, {"straight_range": 0.0, "jump": 0.5},
               {"straight_s": 0.5}],
    "decimate": [{"error": "squared"}],
}
COMMON_OPTIONS: list[dict[str, Any]] = [
    *({"features": name} for name in ("world", "root_matched", "unmatched", "parent_relative", "euler")),
    {"joints": ["left_hand", "feet"]}, {"weights": {"hands": 3, "head": 0}}, {"smoothing_s": 0.05},
    {"frames": (20, 120)},
]
# fmt: on


@case
def ladders() -> Items:
    m = clip("walk", 60)
    for method in METHODS:
        yield method, lambda: [kp.ladder(m, method, max_keys=30), kp.ladder(m, method)]
        yield f"{method} at", lambda: kp.ladder(m, method, max_keys=30).at(9)
        yield f"{method} cliffs", lambda: kp.ladder(m, method, max_keys=40).cliffs()
        yield f"{method} knee", lambda: kp.ladder(m, method, max_keys=40).knee(5, 30)


@case
def ladder_options() -> Items:
    m = clip("cartwheel", 60)
    for method in METHODS:
        for options in [*LADDER_OPTIONS.get(method, ()), *COMMON_OPTIONS]:
            yield f"{method} {options}", lambda: kp.ladder(m, method, max_keys=30, **options)
    cycle = kp.concatenate([clip("walk", 60)[:70], clip("walk", 60)[:1]])
    yield "loop", lambda: kp.ladder(cycle, loop=True, max_keys=9)
    yield "loop with pin", lambda: kp.ladder(cycle, loop=True, pins=(20,), cost="inbetween", max_keys=9)
    for name in CLIPS:
        for method in METHODS:
            yield f"{name} {method}", lambda: kp.ladder(clip(name)[:240], method, max_keys=24)


@case
def ladder_arrays() -> Items:
    random = np.random.default_rng(0)
    flat, joints = np.cumsum(random.normal(size=(90, 6)), 0), np.cumsum(random.normal(size=(70, 4, 3)), 0)
    for method in METHODS:
        yield f"{method} array", lambda: kp.ladder(flat, method, fps=60, max_keys=12)
        yield f"{method} joints", lambda: kp.ladder(joints, method, fps=60, max_keys=12)
        yield f"{method} features", lambda: kp.ladder(kp.Features(flat, 30.0), method, max_keys=12)
        yield f"{method} one frame", lambda: kp.ladder(flat[:1], method, fps=60)
    yield "edge costs", lambda: kp.ladder(kp.EdgeCosts(90, 20, random.random((90, 20))), "salient", max_keys=12)
    yield "nested", lambda: kp.Ladder.nested("own", 5, [2, 0, 4], [3.0, 2.0, 1.0])
    yield "paths", lambda: kp.Ladder.of_paths("own", 5, [2, 3], [0, 4, 0, 2, 4], [3.0, 2.0])
    yield "model errors", lambda: kp.Ladder.nested("own", 5, [2, 2, 4], [3.0, 2.0, 1.0])


@case
def select() -> Items:
    m = clip("walk", 60)
    for method in METHODS:
        yield f"{method} keys", lambda: kp.select(m, method, keys=12)
        yield f"{method} tolerance", lambda: kp.select(m, method, tolerance_mm=40.0)
        yield f"{method} auto", lambda: kp.select(m, method, auto=True)
        yield f"{method} natural", lambda: kp.select(m, method)
    yield "inbetween", lambda: kp.select(m, tolerance_mm=20.0, cost="inbetween")
    yield "breakdowns", lambda: kp.breakdowns(m, kp.select(m, keys=6, joints="hips"), joints="hands", max_keys=20)
    rows = ("name", "recipe", "joints", "has_own_count", "takes_edge_costs")
    yield "methods", lambda: [[getattr(row, each) for each in rows] for row in kp.methods()]


@case
def searches() -> Items:
    m = clip("kick", 60, 400)
    search = kp.farthest_search(m, joints="body")
    yield "more", lambda: [search.more(1), search.more(5), search.radius, search.keys]
    yield "selection", lambda: [search.selection(), search.ladder()]
    yield "refine table", lambda: kp.refine_table(m)
    yield "refine table options", lambda: kp.refine_table(m, joints="arms", threshold=0.3, frames=(10, 200))
    angles = m.euler_curves().reshape(m.n_frames, -1)[:, :27]
    for options in ({}, {"rank": "body", "least_gap_s": 0.1}, {"each_cluster": "all", "period": 360.0}):
        yield f"stream {options}", lambda: stream(angles, options)


def stream(values: np.ndarray, options: dict[str, Any]) -> list[Any]:
    streaming = kp.StreamingSaliency(values.shape[1], 60.0, **options)
    keys = [streaming.push(frame) for frame in values]
    return [streaming.greatest_delay_frames, keys, streaming.close(), streaming.n_frames]


# Keys and curves


# fmt: off
UNBAKE_OPTIONS: list[dict[str, Any]] = [
    {}, {"auto": True}, {"tolerance_mm": 15.0}, {"keys": 12}, {"keys": 12, "interpolation": "linear"},
    {"keys": 12, "interpolation": "natural"}, {"keys": 12, "rotation": "euler"},
    {"keys": 12, "rotation": "euler", "interpolation": "natural", "polish": False},
    {"keys": 12, "shared_tangents": True}, {"keys": 12, "jump_penalty": 0.01},
    {"keys": 12, "polish": False, "residual": False}, {"keys": 12, "polish_weights": {"feet": 5}},
    {"keys": 20, "pins": "contacts"}, {"keys": 14, "pins": (30, 50), "excluded": range(60, 80)},
    {"keys": 14, "joints": "arms", "weights": {"hands": 3}}, {"keys": 14, "measure": "mean", "objective": "sum"},
    {"keys": 14, "least_gap_frames": 5, "greatest_gap_frames": 30}, {"keys": 14, "threads": 2},
    {"tolerance_mm": 10.0, "interpolation": "linear"}, {"tolerance_mm": 10.0, "rotation": "euler"},
    {"tolerance_mm": 10.0, "max_keys": 5}, {"keys": 2000}, {"keys": 12, "auto": True}, {"loop": True, "keys": 8},
    {"keys": 12, "interpolation": "wrong"}, {"keys": 14, "method": "farthest"},
]
# fmt: on


@case
def unbake() -> Items:
    m = clip("walk", 60)
    for options in UNBAKE_OPTIONS:
        yield f"{options}", lambda: kp.unbake(m, **options)
    keys = kp.select(m, "farthest", keys=10)
    yield "selection", lambda: kp.unbake(m, keys, extremes=keys.frames[2:4])
    yield "frames", lambda: kp.unbake(m, range(0, m.n_frames, 20))
    yield "loop", lambda: kp.unbake(kp.concatenate([m[:70], m[:1]]), keys=7, loop=True)
    for name in CLIPS:
        yield name, lambda: kp.unbake(clip(name)[:150], keys=9)
        yield f"{name} tolerance", lambda: kp.unbake(clip(name)[:150], tolerance_mm=20.0)


def edited_walk() -> Any:
    edit = kp.edit(keyed_walk())
    keys = [int(frame) for frame in keyed_walk().keys]
    edit.rotate(keys[4], "left_upper_arm", axis=(0, 0, 1), degrees=30, space="world", spread_s=0.5)
    edit.move_key(keys[6], keys[6] + 2)
    edit.insert_key(keys[8] + 3)
    return edit


@case
def rebake() -> Items:
    original, edited = keyed_walk(), edited_walk().keyed
    for residual in (0.0, 0.7, 1.0, 1.5):
        yield f"residual {residual}", lambda: kp.rebake(edited, original, residual)
    for timing in ("auto", "keys", "frames"):
        yield f"timing {timing}", lambda: kp.rebake(edited_walk().undo(), original, timing=timing)
    yield "motion", lambda: kp.rebake(edited.sample(), original, residual=0.5)
    yield "glb", lambda: kp.rebake(kp.load_keyed(save_file(edited, "edited.glb")), original)
    yield "other joints", lambda: kp.rebake(clip("fox"), original)


@case
def edit() -> Items:
    for rotation in ("quaternion", "euler"):
        keyed = kp.unbake(clip("walk", 60), range(0, 259, 20), rotation=rotation)
        e = kp.edit(keyed)
        for label, act in {
            "rotate axis": lambda: e.rotate(80, "left_upper_arm", axis=(0, 0, 1), degrees=30, space="world"),
            "rotate euler": lambda: e.rotate(60, "neck", euler_degrees=(5, 9, -3), order="ZYX", spread_s=0.5),
            "rotate parent": lambda: e.rotate(60, "head", quaternion=(0.8, 0.6, 0, 0), space="parent"),
            "reach by": lambda: e.reach(100, "right_hand", by=(0, 2, 1), keep_rotation=True, spread_s=0.5),
            "reach to": lambda: e.reach(100, "left_hand", to=(50, 50, 50)),
            "shift": lambda: e.shift(120, by=(0.5, -0.4, 0), spread_s=0.5, keep_feet=True),
            "shift to": lambda: e.shift(140, to=(1.0, 16.0, 3.0)),
            "copy": lambda: [e.copy(90), e.copy(95.5, mirror=True, residual=1.0)],
            "paste": lambda: e.paste(160, e.copy(90, mirror=True), spread_s=0.3),
            "paste joints": lambda: e.paste(180, e.copy(150), joints="left_arm", keep_place=False),
            "mirror": lambda: e.mirror(200, joints=["arms", "head"]),
            "mirror all": lambda: e.mirror(200, keep_feet=True),
            "move key": lambda: e.move_key(220, 225),
            "move key ripple": lambda: e.move_key(225, 232, ripple=True),
            "insert key": lambda: e.insert_key(130),
            "delete key": lambda: e.delete_key(140),
            "undo": lambda: [e.undo(), e.undo(), e.redo(), e.last_range],
            "no key": lambda: e.rotate(81, "head", axis=(0, 0, 1), degrees=3),
            "no joint": lambda: e.rotate(80, "wing", axis=(0, 0, 1), degrees=3),
            "history": lambda: [len(e.history), e.keyed.sample(1.0), e.original],
        }.items():
            yield f"{rotation} {label}", act
    functions = "keypose.inbetween.editing"
    keyed = keyed_walk()
    yield "functions", lambda: member(f"{functions}.insert_key")(keyed, int(keyed.keys[3]) + 2)


# Swings


@case
def swings() -> Items:
    m = clip("jump", 60)
    sw = jump_swings()
    yield "swings", lambda: sw
    yield "play", lambda: [sw.play(), sw.play(0.3), sw.play(fps=100), sw.coarser(0.5).play()]
    yield "error", lambda: [sw.error(m), sw.error(m, per="angle")]
    yield "size", lambda: sw.size()
    yield "timeline", lambda: sw.timeline()
    yield "track", lambda: [sw["right_thigh"], sw.track("LeftArm").swings, sw.track("LeftArm").rests]
    yield "track samples", lambda: [sw.track("LeftArm").sample(np.arange(0, 50, 0.7)), sw.track("LeftArm").angles]
    for options in ({"joints": "right_leg", "longer_s": 0.2}, {"at_s": 1.0}, {"joints": "arms", "index": -1},
                    {"wider_deg": 30, "shorter_s": 0.5, "from_s": 0.5, "to_s": 2}, {"joints": "wing"}):  # fmt: skip
        yield f"find {options}", lambda: sw.find(**options)
    data = member("keypose.swings.packed.pack")(sw)
    yield "pack", lambda: [data, member("keypose.swings.packed.unpack")(data)]


@case
def swings_options() -> Items:
    m = clip("kick", 60, 400)
    for options in ({"threshold": 0.2}, {"metric": "cosine"}, {"smoothing_s": 0.1, "window_s": 0.2}, {"least_s": 0.3},
                    {"rest_rad_per_s": 0.5}, {"left_out": ["fingers", "head"]}, {"fallback": "keys"},
                    {"fallback": "keys", "fallback_deg": 1.0, "translation_mm": 5.0}, {"threshold": -1}):  # fmt: skip
        yield f"{options}", lambda: kp.swings(m, **options)
    yield "within degrees", lambda: kp.swings_within(m, max_deg=5)
    yield "within mm", lambda: kp.swings_within(m, max_mm=20, thresholds=(0.3, 0.6))
    yield "sweep", lambda: list(member("keypose.verbs.sweep")(m, (0.2, 0.4, 0.8)))
    for name in CLIPS:
        yield name, lambda: kp.swings(clip(name)[:150])


@case
def swing_edit() -> Items:
    m = clip("jump", 60)
    for capture in (None, m):
        e = jump_swings().edit(capture)
        for label, act in {
            "scale": lambda: e.scale(e.find("right_leg", wider_deg=20), 1.2),
            "scale about": lambda: e.scale(e.find("left_leg", wider_deg=20), 0.8, about="middle"),
            "set angle": lambda: e.set_angle(e.find("left_thigh", index=0), 10),
            "shift": lambda: e.shift(e.find("left_upper_arm", index=1), by_s=0.03),
            "lengthen": lambda: e.lengthen(e.find("left_forearm", index=1), factor=1.1),
            "shorten": lambda: e.shorten(e.find("left_forearm", index=1), by_frames=2, anchor="start", keep="speed"),
            "turn axis": lambda: e.turn_axis(e.find("right_thigh", index=0), about=(0, 1, 0), degrees=15),
            "set axis": lambda: e.set_axis(e.find("right_forearm", index=0), (0, 0.6, 0.8)),
            "delete": lambda: e.delete(e.find("left_forearm", shorter_s=0.6)),
            "copy": lambda: e.copy(e.find("right_upper_arm", index=0)[0], mirror=True, replace=True),
            "intensify": lambda: e.intensify("arms", 1.4),
            "retime part": lambda: e.retime("all", 1.5, from_s=0.5, to_s=1.2),
            "retime": lambda: e.retime("all", 1.25),
            "play": lambda: [e.play(), e.play(fps=30), e.play(keep_feet=False), e.play(keep_feet=True)],
            "play half": lambda: e.play(0.5),
            "planted": lambda: [e.planted(), e.hinged()],
            "tips": lambda: [len(e.tips()), len(e.last_change.tips), e.last_change.range],
            "undo": lambda: [e.undo(), e.undo(), e.redo()],
        }.items():
            yield f"{'swings' if capture is None else 'capture'} {label}", act


# fmt: off
WRONG_OPTIONS: dict[str, list[dict[str, Any]]] = {
    "ladder": [{"method": "wrong"}, {"max_keys": 0}, {"joints": "wing"}, {"weights": {"wing": 1}}, {"fps": -1.0},
               {"features": "wrong"}, {"smoothing_s": -1.0}, {"frames": (5, 2)}, {"pins": (9999,)}, {"cost": "wrong"},
               {"objective": "wrong"}, {"least_gap_frames": -1}, {"greatest_gap_frames": 0}, {"threads": 0}],
    "select": [{}, {"keys": 0}, {"keys": 3, "auto": True}, {"tolerance_mm": -1.0}, {"keys": 9999}],
    "unbake": [{"keys": 0}, {"keys": 9, "rotation": "wrong"}, {"keys": 9, "jump_penalty": -1.0},
               {"keys": 9, "polish_weights": {"wing": 1}}, {"selection": [5, 3]}, {"selection": [0, 9999]}],
    "swings": [{"metric": "wrong"}, {"window_s": -1.0}, {"least_s": -1.0}, {"fallback": "wrong"}, {"left_out": "wing"}],
    "swings_within": [{}, {"max_deg": -1.0}, {"max_mm": 1.0, "max_deg": 1.0}, {"max_deg": 1.0, "thresholds": ()}],
    "strip": [{"layout": "wrong"}, {"theme": "wrong"}, {"view": "wrong"}, {"per_row": 0}, {"height_px": -1.0},
              {"selection": [9999]}, {"size_px": (1, 1)}],
    "plot_curves": [{"values": "wrong"}, {"joints": "wing"}, {"width_px": 1.0}],
    "compare": [{"methods": "wrong"}, {"removed_percent": 200.0}, {"inbetweens": "wrong"}],
    "refine_table": [{"threshold": -1.0}], "farthest_search": [{"features": "wrong"}], "edit": [{}],
    "breakdowns": [{"extremes": [9999]}],
}
# fmt: on


@case
def wrong_options() -> Items:
    for function, rows in WRONG_OPTIONS.items():
        for options in rows:
            yield f"{function} {options}", lambda: getattr(kp, function)(clip("run"), **options)
    yield "fps", lambda: clip("run").at_fps(-1)
    yield "empty", lambda: clip("run")[5:5]
    yield "arrays", lambda: kp.Motion("x", clip("run").skeleton, 30.0, np.zeros((2, 3, 3)), np.zeros((2, 3, 4)))
    yield "undo", lambda: kp.edit(keyed_walk()).undo()


# Writing


@case
def save_motion() -> Items:
    for name in ("walk", "acclaim", "z_up", "six_channels", "mixed_orders", "fox", "markers", "arm"):
        m = clip(name)[:120]
        yield f"{name} bvh", lambda: save_file(m, "a.bvh").read_bytes()
        yield f"{name} bvh back", lambda: kp.load(SCRATCH / "a.bvh")
        yield f"{name} bvh reference pose", lambda: save_file(m, "b.bvh", reference_pose=True).read_bytes()
        yield f"{name} bvh.gz", lambda: gzip.decompress(save_file(m, "a.bvh.gz").read_bytes())
        yield f"{name} glb", lambda: gltf(save_file(m, "a.glb"))
        yield f"{name} glb back", lambda: [kp.load(SCRATCH / "a.glb"), kp.load_keyed(SCRATCH / "a.glb")]
        yield f"{name} gltf", lambda: gltf(save_file(m, "a.gltf"))
        yield f"{name} keys.json", lambda: kp.load_keyed(save_file(m, "a.keys.json"))
    for options in ({"tolerance_mm": 1.0}, {"lossless": True}, {"keyed": keyed_walk()}):
        yield f"kps option {list(options)}", lambda: save_file(clip("walk"), "a.bvh", **options)
    yield "no suffix", lambda: save_file(clip("walk"), "a")
    yield "no format", lambda: save_file(clip("walk"), "a.swings.json")
    yield "no folder", lambda: save_file(clip("walk"), "none/a.bvh")


@case
def save_usd() -> Items:
    for name in ("walk", "six_channels", "arm"):
        for suffix in ("usda", "usdc", "usda.gz"):
            yield f"{name} {suffix}", lambda: kp.load(save_file(clip(name)[:60], f"a.{suffix}"))
    yield "keyed", lambda: kp.load(save_file(keyed_walk(), "b.usda"))
    yield "fbx", lambda: save_file(clip("walk"), "a.fbx")
    yield "blend", lambda: save_file(keyed_walk(), "a.blend")


@case
def save_keyed() -> Items:
    m = clip("walk", 60)
    options = {"fitted": {}, "straight": {"interpolation": "linear"}, "euler": {"rotation": "euler"}}
    for label, each in options.items():
        keyed = kp.unbake(m, keys=12, **each)
        yield f"{label} glb", lambda: gltf(save_file(keyed, "k.glb"))
        yield f"{label} glb back", lambda: [kp.load_keyed(SCRATCH / "k.glb"), kp.load(SCRATCH / "k.glb")]
        for suffix in ("keys.json", "keys.json.gz"):
            yield f"{label} {suffix}", lambda: kp.load_keyed(save_file(keyed, f"k.{suffix}"))
            yield f"{label} {suffix} sampled", lambda: kp.load(SCRATCH / f"k.{suffix}")
        yield f"{label} bvh", lambda: save_file(keyed, "k.bvh").read_bytes()
        yield f"{label} bvh keys", lambda: kp.load_keyed(SCRATCH / "k.bvh.keys.json")
    yield "retimed keys.json", lambda: kp.load_keyed(save_file(edited_walk().keyed, "e.keys.json"))
    for suffix in ("swings.json", "swings.json.gz"):
        yield suffix, lambda: kp.load_swings(save_file(jump_swings(), f"s.{suffix}"))
        yield f"{suffix} played", lambda: kp.load(SCRATCH / f"s.{suffix}")
    near = kp.swings(clip("jump", 60), fallback="keys")
    yield "swings.json with keys", lambda: kp.load_swings(save_file(near, "n.swings.json"))
    yield "swings as bvh", lambda: save_file(jump_swings(), "s.bvh").read_bytes()
    yield "swings as glb", lambda: gltf(save_file(jump_swings(), "s.glb"))


@case
def kps() -> Items:
    walk = clip("walk", 60)
    for tolerance in (0.1, 1.0, 10.0):
        yield f"walk {tolerance}", lambda: save_kps(walk, f"walk-{tolerance}", tolerance_mm=tolerance)
    yield "walk lossless", lambda: save_kps(clip("walk"), "walk-lossless", lossless=True)
    yield "default", lambda: save_kps(clip("run"), "run")
    yield "keyed", lambda: save_kps(keyed_walk(), "walk-keyed")
    yield "euler", lambda: save_kps(kp.unbake(walk, keys=9, rotation="euler"), "walk-euler")
    yield "swings", lambda: save_kps(jump_swings(), "jump-swings")
    yield "all", lambda: save_kps(walk, "walk-all", keyed=keyed_walk(), swings=kp.swings(walk))
    yield "bad tolerance", lambda: save_kps(walk, "bad", tolerance_mm=-1.0)
    yield "both", lambda: save_kps(walk, "bad", tolerance_mm=1.0, lossless=True)
    with kp.open_kps(FILES / "walk-1.0.kps") as stored:
        yield "parts", lambda: [stored[1.0:2.5], stored.frames(40, 90), stored.frames(200)]
    data = (FILES / "walk-all.kps").read_bytes()
    for place in (0.001, 0.02, 0.3, 0.5, 0.9, 0.99):
        at = int(place * len(data))
        damaged = SCRATCH / f"damaged-{place}.kps"
        damaged.write_bytes(data[:at] + bytes([data[at] ^ 85]) + data[at + 1 :])
        yield f"damaged at {place}", lambda: read_damage(damaged)
        yield f"damaged at {place} load", lambda: kp.load(damaged)
        damaged.write_bytes(data[:at])
        yield f"cut at {place}", lambda: read_damage(damaged)


def read_damage(path: Path) -> list[Any]:
    with kp.open_kps(path) as stored:
        return [stored.damage(), stored.sound()]


@case
def kps_clips() -> Items:
    for name in CLIPS:
        m = clip(name)[:240]
        yield f"{name} 0.5", lambda: save_kps(m, f"{name}-0.5", tolerance_mm=0.5)
        yield f"{name} lossless", lambda: save_kps(m, f"{name}-exact", lossless=True)


# Pictures


@case
def strips() -> Items:
    m = clip("walk", 60)
    keys = kp.select(m, "farthest", keys=6)
    for layout in ("side", "time", "path", "expanded", "in-place"):
        yield layout, lambda: drawing(kp.strip(m, keys, layout=layout, ghosts=1, rank=True))
    for theme in ("dark", "page"):
        yield theme, lambda: drawing(kp.strip(m, keys, theme=theme, captions=False))
    yield "rows", lambda: drawing(kp.strip(m, range(0, 240, 15), per_row=6, title="Walk", background=False))
    yield "size", lambda: drawing(kp.strip(m, size_px=(320, 90)))
    yield "view", lambda: [drawing(kp.strip(m, [0, 40], view=view)) for view in ("front", "left", 30.0)]
    yield "keyed", lambda: drawing(kp.strip(keyed_walk(), height_px=120))
    for name in ("acclaim", "z_up", "fingers", "fox", "markers"):
        yield name, lambda: drawing(kp.strip(clip(name), [0, 12, 24]))


@case
def charts() -> Items:
    m = clip("walk", 60)
    keys = kp.select(m, keys=9)
    yield "timeline", lambda: drawing(kp.timeline(kp.swings(m), keys=keys))
    yield "timeline joints", lambda: drawing(kp.timeline(jump_swings(), joints=["legs"], theme="dark", row_px=20))
    yield "curves", lambda: drawing(kp.plot_curves(m, keys))
    yield "curves joints", lambda: drawing(kp.plot_curves(m, keys, joints="left_leg", saliency=False))
    yield "curves positions", lambda: drawing(kp.plot_curves(m, values="positions", joints=["left_hand"]))
    yield "errors", lambda: drawing(kp.plot_errors(kp.ladder(m, max_keys=40), chosen=12))
    some = ("farthest", "simplify", "uniform")
    yield "errors of methods", lambda: drawing(kp.plot_errors({n: kp.ladder(m, n, max_keys=30) for n in some}))
    errors = member("keypose.metrics.position_errors_mm")(m, keyed_walk().sample())
    heat_map = member("keypose.pictures.heat.heat_map")
    yield "heat map", lambda: drawing(heat_map(errors, m.skeleton, fps=m.fps, keys=keys))
    for label, value in {"motion": m, "keys": keys, "ladder": kp.ladder(m, max_keys=20), "swings": jump_swings(),
                         "score": kp.score(m, keyed_walk()), "keyed": keyed_walk()}.items():  # fmt: skip
        yield f"card of {label}", lambda: [strip_text(s) for s in re.findall(r"<svg.*?</svg>", value._repr_html_())]


@case
def report() -> Items:
    m = clip("walk", 60)
    yield "keys", lambda: page(kp.report(m, SCRATCH / "a.html", keys=12))
    yield "two clips", lambda: page(kp.report([m, clip("run")], SCRATCH / "b.html", method="farthest", keys=6))


@case
def compare() -> Items:
    options = {"methods": ("salient", "farthest", "uniform", "per-curve", "pca"), "removed_percent": (80.0, 95.0)}
    results = kp.compare([clip("run", 60), clip("throw")], curves=False, **options)
    yield "rows", lambda: results.rows
    yield "medians", lambda: results.middles()
    yield "page", lambda: page(kp.report(results, SCRATCH / "c.html"))["svg"]
    yield "csv", lambda: kp.Comparison.from_csv(results.to_csv(SCRATCH / "c.csv")).rows
    yield "parquet", lambda: results.to_parquet(SCRATCH / "c.parquet").exists()


@case
def compare_all() -> Items:
    results = kp.compare(clip("run"), inbetweens=("linear", "fitted", "polished"))
    yield "rows", lambda: results.rows
    yield "medians", lambda: results.middles()


# Library


def clip_folder() -> Path:
    """A folder of clips, one of them twice at different frame rates, and of files that are none."""
    folder = SCRATCH / "clips"
    for group, names in {"running": ("02_03", "09_01", "09_06"), "jumping": ("13_11", "16_05"),
                         "punching": ("02_05", "14_02"), "golf_swing": ("64_01",)}.items():  # fmt: skip
        (folder / group).mkdir(parents=True)
        for name in names:
            shutil.copy(DATA / f"cmu30/{group}/{name}.bvh", folder / group)
    shutil.copy(DATA / CLIPS["man"], folder)
    shutil.copy(DATA / CLIPS["markers"], folder)
    shutil.copy(DATA / "malformed/synthetic/nan-values.bvh", folder)
    kp.save(kp.load(DATA / "cmu30/running/09_01.bvh").at_fps(25), folder / "copy.bvh")
    return folder


@case
def library() -> Items:
    folder = clip_folder()
    with kp.Library(SCRATCH / "clips.db") as lib:
        yield "add", lambda: lib.add(folder, jobs=1, tags=("cmu",), source="studio", tag_folders=True)
        yield "add again", lambda: lib.ingest(folder, jobs=1)
        yield "add motion", lambda: lib.add(clip("jump", 60), name="forward jump", within_mm=1.0, note="a note")
        yield "add bytes", lambda: lib.add((DATA / CLIPS["xsens"]).read_bytes(), name="xsens")
        yield "add none", lambda: lib.add(folder / "none.bvh")
        yield "clips", lambda: [lib.clips(sort=sort) for sort in ("name", "longest", "shortest")]
        yield (
            "words",
            lambda: [[c.name for c in lib.clips(words)] for words in ("09", "running", "jump", "cmu 02", "x")],
        )
        some = {"tags": ["cmu"], "least_duration_s": 1.0, "most_duration_s": 4.0}
        yield "filters", lambda: [lib.clips(**some), lib.count(**some), lib.clips(part="left_leg", limit=3, skip=1)]
        yield "facets", lambda: [lib.facets(), lib.facets("running"), lib.tags(), lib.stats()]
        yield "clip", lambda: [lib.clip("09_01"), lib.get("09_01"), lib.original("09_01"), lib.key_frames("09_01")]
        yield "swings", lambda: lib.swings("09_01")
        yield "strip", lambda: drawing(lib.strip("09_01"))
        yield from searches_of(lib)
        yield "rename", lambda: [lib.rename("02_03", "jog"), lib.tag("jog", "good", "new"), lib.untag("jog", "new")]
        yield "describe", lambda: [lib.describe("jog", licence="CC0", note="x"), lib.named("jog")]
        yield "retag", lambda: lib.retag(["jog", "09_06"], add=["fast"], remove=["cmu"])
        yield "keep draft", lambda: [lib.keep_draft("jog", "{}"), lib.keep_draft("jog", "[]", revision=1)]
        yield "draft", lambda: [lib.draft("jog"), lib.draft("09_06"), lib.drop_draft("jog"), lib.draft("jog")]
        yield "draft conflict", lambda: lib.keep_draft("jog", "{}", revision=7)
        yield "throw away", lambda: [lib.throw_away("jog"), [c for c, _ in lib.thrown_away()], lib.count()]
        yield "restore", lambda: [lib.restore(lib.thrown_away()[0][0].hash), lib.forget_thrown_away(), lib.count()]
        yield "remove", lambda: [lib.remove("xsens"), lib.count()]
        yield "no clip", lambda: lib.clip("none")
        yield "export", lambda: {p.name: p.read_bytes() for p in sorted(lib.export(SCRATCH / "out", lib.clips("09")))}
        yield "verify", lambda: [lib.verify(), lib.rebuild(jobs=1)]
        yield "search again", lambda: lib.search("09_01", limit=4)
    yield "no library", lambda: kp.Library(SCRATCH / "none.db", create=False)


def searches_of(lib: Any) -> Items:
    m = clip("jump", 60)
    run = kp.load(DATA / "cmu30/running/09_01.bvh")
    for label, options in {"plain": {}, "no mirror": {"mirrored": False}, "copies": {"fold": False},
                           "joints": {"joints": "legs"}, "filters": {"tags": ["running"]}}.items():  # fmt: skip
        yield f"search {label}", lambda: [lib.search(m, **options), lib.search(run, **options)]
        yield f"search name {label}", lambda: lib.search("09_06", limit=5, **options)
        yield f"search part {label}", lambda: [lib.search_part(m, 40, 90, **options), lib.search_part(run, 4, 30)]
        yield (
            f"search pose {label}",
            lambda: [lib.search_pose(m, 60, **options), lib.search_pose("09_06", 9, **options)],
        )
    yield "search swings", lambda: lib.search(run, ranker="swings")
    yield "search several", lambda: [lib.search_part(run, 4, 24, several=True), lib.search_pose(run, 9, several=True)]
    yield "pose numbers", lambda: lib.search_pose("09_06", 9, numbers=lib.pose_numbers("09_06", 9))
    yield "search markers", lambda: lib.search(clip("markers"))


@case
def library_workers() -> Items:
    folder = clip_folder()
    with kp.Library(SCRATCH / "clips.db") as lib:
        yield "add", lambda: sorted(c.hash for c in lib.add(folder, jobs=2, source="studio").clips)
        yield "rebuild", lambda: lib.rebuild(jobs=2)
        yield "search", lambda: lib.search("09_06")


@case
def descriptors() -> Items:
    for name in ("walk", "z_up", "man", "markers", "xsens"):
        m = clip(name)[:400]
        yield f"{name} canonical", lambda: member("keypose.library.canonical.canonical")(m)
        yield f"{name} describe", lambda: member("keypose.library.descriptors.describe")(m)
        yield f"{name} mirrored", lambda: member("keypose.library.descriptors.describe")(m, mirrored=True)


# Command line


def command(*arguments: str | Path) -> dict[str, Any]:
    """The exit code of a command and the files that it leaves, under the rows "keypose --option" of RENAMED."""
    argv = [RENAMED.get(f"keypose {each}", str(each)) for each in arguments]
    before = set(SCRATCH.rglob("*"))
    done = subprocess.run([sys.executable, "-m", "keypose", *argv], cwd=SCRATCH, capture_output=True, text=True)
    results: dict[str, Any] = {"code": done.returncode}
    for path in sorted(set(SCRATCH.rglob("*")) - before):
        name = path.relative_to(SCRATCH).as_posix()
        if name.endswith((".keys.json", ".swings.json")):
            results[name] = (kp.load_keyed if name.endswith(".keys.json") else kp.load_swings)(path)
        elif path.suffix in (".bvh", ".kps"):
            results[name] = path.read_bytes()
        elif path.suffix in (".glb", ".html", ".svg"):
            reader = {".glb": gltf, ".html": page, ".svg": lambda p: strip_text(p.read_text())}[path.suffix]
            results[name] = reader(path)
    return results


@case
def commands() -> Items:
    walk = SCRATCH / "walk.bvh"
    kp.save(clip("walk", 60), walk)
    yield "convert", lambda: command("convert", walk, "c.glb", "--fps", "30", "--range", "10:90")
    yield "unbake", lambda: command("unbake", walk, "u.glb", "--keys", "12")
    yield (
        "unbake options",
        lambda: command(
            "unbake",
            walk,
            "v.bvh",
            "--keys",
            "9",
            "--pin",
            "contacts",
            "--least-gap-frames",
            "4",
            "--rotation",
            "euler",
        ),
    )
    yield "rebake", lambda: command("rebake", "u.glb", "r.bvh", "--from", "u.keys.json", "--residual", "0.5")
    yield "compress", lambda: command("compress", walk, "w.kps", "--tolerance-mm", "2")
    yield "compress lossless", lambda: command("compress", walk, "x.kps", "--lossless")
    yield "restore", lambda: command("restore", "x.kps", "x.bvh")
    yield "restore part", lambda: command("restore", "w.kps", "y.glb", "--from-s", "1", "--to-s", "2")
    yield "verify", lambda: command("verify", "w.kps")
    yield (
        "swings",
        lambda: command("swings", walk, "--scale", "right_leg=1.2", "--intensify", "arms=0.6", "-o", "s.bvh"),
    )
    yield "swings file", lambda: command("swings", walk, "--threshold", "0.3", "-o", "t.swings.json")
    yield "keys", lambda: command("keys", walk, "--keys", "12")
    yield "strip", lambda: command("strip", walk, "p.svg", "--method", "farthest", "--keys", "6")
    yield "report", lambda: command("report", walk, "-o", "p.html", "--tolerance-mm", "20")
    yield "wrong option", lambda: command("unbake", walk, "z.glb", "--keys", "many")
    yield "no file", lambda: command("info", "none.bvh")
    yield "exists", lambda: command("convert", walk, "c.glb")


def main() -> int:
    global DATA, SCRATCH, FILES
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--cases", default="*")
    parser.add_argument("--tree", type=Path, help="the checkout whose keypose must be imported")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--files", type=Path, help="where .kps files go")
    parser.add_argument("--decode", type=Path, help="only decode the .kps files of this folder")
    parser.add_argument("--names", default="[{}, {}]", help="RENAMED and RENAMED_VALUES as JSON")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    patterns = options.cases.split(",")
    names = [name for name in CASES if any(fnmatch(name, each) for each in patterns)]
    names = [name for name in names if not (options.quick and name in SLOW)]
    if options.list:
        print("\n".join(names))
        return 0
    spec = importlib.util.find_spec("keypose")
    origin = Path(spec.origin) if spec and spec.origin else Path()
    if not origin.resolve().is_relative_to(options.tree.resolve() / "src"):
        print(f"{sys.executable} imports {origin}, expected a file below {options.tree}/src", file=sys.stderr)
        return 2
    for table, values in zip((RENAMED, RENAMED_VALUES), json.loads(options.names), strict=True):
        table.update(values)
    OLD_NAMES.update({new: old for old, new in RENAMED.items() if "." not in old and " " not in old})
    OLD_VALUES.update({new: old for old, new in RENAMED_VALUES.items()})
    DATA, FILES = options.data, options.files
    results = {}
    with tempfile.TemporaryDirectory(prefix="keypose-compare-") as scratch:
        os.chdir(scratch)
        if options.decode:
            paths = sorted(options.decode.glob("*.kps"))
            results["decode"] = run_case(lambda: ((path.stem, lambda: decode_kps(path)) for path in paths))
            names = []
        for name in names:
            SCRATCH = Path(scratch) / name
            SCRATCH.mkdir()
            results[name] = run_case(CASES[name])
            shutil.rmtree(SCRATCH)
    options.out.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
