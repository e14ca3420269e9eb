"""Values of wrong types for every parameter of the public API: each call works or raises an error of Keypose."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import keypose as kp
from keypose.methods import METHODS

MOTION = kp.demo_motion(fps=10)[:14]
WALK = kp.demo_motion(fps=10)[5:30]
TABLE = np.random.default_rng(1).normal(size=(14, 3))
KEYED = kp.unbake(MOTION, [0, 5, 13])
SWINGS = kp.swings(kp.demo_motion(fps=20)[:60])
SELECTION = kp.select(MOTION, keys=4)
LADDER = kp.ladder(MOTION, max_keys=5)
BALANCE = kp.balance(MOTION)
PICTURE = kp.strip(MOTION, [0, 3])
REDUCED = kp.reduce_curves(range(14), TABLE, keys=4)
FEATURES = kp.Features(TABLE, 30.0)


def make_values() -> dict[str, Any]:
    """Return the wrong values by name; new ones, as a generator can be read once."""
    return {
        "None": None,
        "0-d array": np.array(3),
        "0-d text array": np.array("hips"),
        "empty array": np.array([]),
        "array": np.array([1, 2, 3]),
        "2-d array": np.zeros((2, 2)),
        "flags": np.array([True, False]),
        "objects": np.array([object(), None]),
        "nan": float("nan"),
        "inf": float("inf"),
        "huge int": 10**400,
        "negative": -1,
        "fraction": 0.5,
        "bytes": b"hips",
        "text": "nonsense",
        "empty text": "",
        "surrogate": "\ud800",
        "nul": "a\0b",
        "np.str_": np.str_("nonsense"),
        "nested list": [[1, [2]], 3],
        "empty list": [],
        "numbers": [0.5, 1e9],
        "nothings": [None],
        "object": object(),
        "lambda": lambda *_: None,
        "set": {1, 2},
        "dict": {"hips": object()},
        "numbered dict": {3: 3},
        "generator": (n for n in ("hips", 1)),
        "True": True,
        "complex": 1j,
        "date": np.datetime64("2020-01-01"),
    }


VALUE_NAMES = tuple(make_values())


@dataclass(frozen=True)
class Call:
    """A function, or a method of a new object, with valid arguments."""

    make: Callable[[], Callable[..., Any]]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    more: str = ""  # further parameters to test, separated by blanks; by default they are not passed


def call(function: Callable[..., Any], more: str = "", **arguments: Any) -> Call:
    """Return the call of a function that does not change anything."""
    return Call(lambda: function, arguments, more)


def edit(method: str, more: str = "", **arguments: Any) -> Call:
    """Return the call of a method of a new edit of keys."""
    return Call(lambda: getattr(kp.edit(KEYED), method), arguments, more)


def swing_edit(method: str, more: str = "", **arguments: Any) -> Call:
    """Return the call of a method of a new edit of swings."""
    return Call(lambda: getattr(SWINGS.edit(), method), arguments, more)


def open_library(**arguments: Any) -> None:
    """Open a library and close it."""
    kp.Library(**arguments).close()


FEATURE_OPTIONS = "fps features joints weights smoothing_s"
FIND_OPTIONS = "index at_s from_s to_s longer_s shorter_s wider_deg narrower_deg"
SWING_OPTIONS = "metric smoothing_s window_s min_duration_s rest_rad_per_s left_out translation_mm"
SIZES = "title width_px theme"
CALLS = {
    "ladder": call(kp.ladder, f"{FEATURE_OPTIONS} frames", motion=MOTION, method="salient", max_keys=5),
    "ladder of a table": call(kp.ladder, "features joints weights smoothing_s frames", motion=TABLE, fps=30),
    **{
        f"ladder, {name}": call(kp.ladder, " ".join(method.options), motion=MOTION, method=name)
        for name, method in METHODS.items()
    },
    "select": call(kp.select, "max_keys auto tolerance_mm joints frames pins extremes_first leading", motion=MOTION, method="salient", keys=4),
    "select automatically": call(kp.select, "max_keys joints weights frames pins min_gap_frames max_gap_frames loop cost", motion=MOTION, method="salient", auto=True),
    "select within": call(kp.select, "auto", motion=MOTION, tolerance_mm=500.0),
    "select within, in-betweens": call(
        kp.select, "interpolation measure objective weights loop joints", motion=MOTION, tolerance_mm=500.0, cost="inbetween",
    ),
    "breakdowns": call(kp.breakdowns, "max_keys pins joints", motion=MOTION, extremes=[0, 5, 13]),
    "farthest_search": call(kp.farthest_search, FEATURE_OPTIONS, motion=MOTION),
    "reduce_curves": call(
        kp.reduce_curves, "keys groups interpolation threads", times=range(14), values={"a": TABLE[:, 0], "b": TABLE[:, 1]}, tolerance=0.5,
    ),
    "reduce_curves of a table": call(kp.reduce_curves, "names", times=range(14), values=TABLE, keys=5),
    "ReducedCurve": call(
        kp.ReducedCurve, name="a", times=[0, 1], values=[0, 1], in_tangents=[0, 1], out_tangents=[1, 0], samples=[0, 13], max_error=0.1,
    ),
    "ReducedCurve.sample": call(REDUCED["0"].sample, times=[0, 0.5]),
    "ReducedCurves": call(
        kp.ReducedCurves, "tolerances", source=REDUCED.source, curves=REDUCED.curves, interpolation="bezier",
    ),
    "ReducedCurves[]": call(REDUCED.__getitem__, name="0"),
    "ReducedCurves.sample": call(REDUCED.sample, times=[0, 0.5]),
    "ReducedCurves.ladder": call(REDUCED.ladder, "max_keys", name="0"),
    "ReducedCurves.at": call(REDUCED.at, keys=4),
    "refine_table": call(kp.refine_table, f"{FEATURE_OPTIONS} frames", motion=MOTION),
    "unbake": call(
        kp.unbake,
        "interpolation rotation shared_tangents jump_penalty polish polish_weights smooth residual extremes threads",
        motion=MOTION, selection=[0, 5, 13],
    ),
    "unbake, keys": call(
        kp.unbake,
        "tolerance_mm auto max_keys joints weights pins excluded min_gap_frames max_gap_frames loop extremes_first leading method per",
        motion=MOTION, keys=4,
    ),
    "unbake within": call(
        kp.unbake, "interpolation measure objective weights loop joints auto", motion=MOTION, tolerance_mm=500.0,
    ),
    "rebake": call(kp.rebake, "timing", edited=KEYED, original_keyed=KEYED, residual=0.5),
    "score": call(kp.score, original=MOTION, other=KEYED),
    "balance": call(kp.balance, "contacts", motion=MOTION),
    "find_capture_faults": call(kp.find_capture_faults, motion=MOTION),
    "repair_capture": call(kp.repair_capture, motion=MOTION),
    "tips_over": call(kp.tips_over, "source min_duration_s worse_mm", before=BALANCE, after=BALANCE),
    "compare": call(
        kp.compare, "inbetweens curves fps frames jobs cache_folder on_clip",
        motions=MOTION, methods="uniform", removed_percent=80.0,
    ),
    "report": call(kp.report, "method tolerance_mm auto progress title", motions=MOTION, path="report.html", keys=3),
    "concatenate": call(kp.concatenate, motions=[MOTION, MOTION]),
    "demo_motion": call(kp.demo_motion, "seed", fps=1),
    "edit": call(kp.edit, keyed=KEYED),
    "swings": call(kp.swings, f"fallback fallback_deg {SWING_OPTIONS}", motion=MOTION, threshold=0.4),
    "swings_within": call(kp.swings_within, f"max_deg thresholds {SWING_OPTIONS}", motion=MOTION, max_mm=500),
    "plot_curves": call(
        kp.plot_curves, f"selection path reduced joints axes values saliency each_axis sigma_s panel_px {SIZES}", motion=MOTION
    ),
    "plot_errors": call(kp.plot_errors, f"path chosen unit label n_frames cliffs height_px {SIZES}", ladders=LADDER),
    "plot_path": call(
        kp.plot_path, f"reduced joint path view in_place height_px {SIZES}", motion=MOTION, reduced=MOTION, joint="hips"
    ),
    "timeline": call(kp.timeline, f"path keys joints actions row_px legend {SIZES}", swings=SWINGS),
    "strip": call(
        kp.strip,
        "path layout per_row view theme rank ghosts captions title height_px width_px size_px background scale",
        motion=MOTION, selection=[0, 5],
    ),
    "Picture.save": call(PICTURE.save, "scale", path="picture.svg"),
    "Picture.png": call(PICTURE.png, scale=0.1),
    "load": call(kp.load, "reference_pose asf gaps animation fps limits", path="clip.bvh"),
    "load_keyed": call(kp.load_keyed, "animation fps limits", path="clip.keys.json"),
    "load_swings": call(kp.load_swings, "limits", path="clip.swings.json"),
    "open_kps": call(kp.open_kps, "limits", source="clip.kps"),
    "save": call(kp.save, "reference_pose into reduce_tracks overwrite", motion=MOTION, path="out.bvh"),
    "save, kps": call(kp.save, "tolerance_mm lossless keyed swings", motion=MOTION, path="out.kps"),
    "Limits": call(kp.Limits, "joints depth frames bytes expansion"),
    "Motion": call(
        kp.Motion, "up metres_per_unit first_frame reference_pose notes tolerance_mm",
        name="walk", skeleton=MOTION.skeleton, fps=30, translations=MOTION.translations, rotations=MOTION.rotations,
    ),
    "Motion[]": call(MOTION.__getitem__, frames=3),
    "Motion.at_fps": call(MOTION.at_fps, fps=5),
    "Motion.at_frames": call(MOTION.at_frames, frames=[0, 1.5]),
    "Motion.joint": call(MOTION.joint, name="Hips"),
    "Motion.joints": call(MOTION.joints, names=["hands"]),
    "Skeleton": call(
        kp.Skeleton, "rotation_orders channels end_offsets end_joints",
        names=("a", "b"), parents=[-1, 0], offsets=np.zeros((2, 3)),
    ),
    "Pose": call(kp.Pose, translations=MOTION.translations[0], rotations=MOTION.rotations[0]),
    "FootContacts": call(kp.FootContacts, feet=("left",), in_contact=np.zeros((4, 1), bool)),
    "Features": call(kp.Features, "columns", values=TABLE, fps=30.0),
    "Features[]": call(FEATURES.__getitem__, frames=slice(3, 5)),
    "Selection": call(kp.Selection, "order", frames=[0, 3], n_frames=9, method="own"),
    "Ladder": call(
        kp.Ladder, "natural", method="own", n_frames=9, counts=[1, 2], frames=[0, 8], cost_values=[1.0, 0.0],
        is_nested=True,
    ),
    "Ladder.at": call(LADDER.at, keys=3),
    "Ladder.knee": call(LADDER.knee, "min_keys max_keys"),
    "Ladder.costs[]": call(LADDER.costs.__getitem__, keys=3),
    "Curves": call(kp.Curves, "in_tangents out_tangents", values=np.zeros((2, 3, 3))),
    "KeyedMotion": call(
        kp.KeyedMotion, "rotation_orders residual extremes up metres_per_unit first_frame reference_pose notes tolerance_mm",
        name="walk", skeleton=KEYED.skeleton, fps=30, n_frames=14, keys=KEYED.keys, translations=KEYED.translations,
        rotations=KEYED.rotations,
    ),
    "KeyedMotion.key_index": call(KEYED.key_index, frame=5),
    "KeyedMotion.pose": call(KEYED.pose, "residual", frame=5.5),
    "KeyedMotion.sample": call(KEYED.sample, "residual fps frames"),
    "Swings": call(
        kp.Swings, "paths contacts settings up metres_per_unit first_frame reference_pose notes tolerance_mm",
        name="walk", skeleton=SWINGS.skeleton, fps=30, n_frames=60, tracks=SWINGS.tracks,
        translations=SWINGS.translations,
    ),
    "Swings.play": call(SWINGS.play, "level fps"),
    "Swings.error": call(SWINGS.error, "per", motion=kp.demo_motion(fps=20)[:60]),
    "Swings.find": call(SWINGS.find, f"joints {FIND_OPTIONS}"),
    "Swings.track": call(SWINGS.track, joint="Head"),
    "Swings[]": call(SWINGS.__getitem__, joint="Head"),
    "Swings.simplify": call(SWINGS.simplify, level=0.5),
    "Swings.edit": call(SWINGS.edit, "capture"),
    "Swings.actions": call(SWINGS.actions, "capture"),
    "Edit.copy": edit("copy", "residual mirror", frame=5),
    "Edit.delete_key": edit("delete_key", frame=5),
    "Edit.insert_key": edit("insert_key", frame=7),
    "Edit.move_key": edit("move_key", "ripple", frame=5, to=7),
    "Edit.mirror": edit("mirror", "joints spread_s keep_feet", frame=5),
    "Edit.paste": edit("paste", "joints keep_position spread_s keep_feet", frame=5, pose=MOTION[3]),
    "Edit.reach": edit("reach", "to keep_rotation spread_s keep_feet", frame=5, end="LeftHand", by=(1, 0, 0)),
    "Edit.rotate": edit(
        "rotate", "euler_degrees order quaternion space spread_s keep_feet",
        frame=5, joint="Head", axis=(1, 0, 0), degrees=10,
    ),
    "Edit.rotate, angles": edit("rotate", "order", frame=5, joint="Head", euler_degrees=(1, 2, 3)),
    "Edit.shift": edit("shift", "to spread_s keep_feet", frame=5, by=(0, 1, 0)),
    "SwingEdit.copy": swing_edit("copy", "to mirror at_s", swing=SWINGS["LeftArm"][0], to="RightArm", replace=True),
    "SwingEdit.delete": swing_edit("delete", targets="Head"),
    "SwingEdit.find": swing_edit("find", f"joints {FIND_OPTIONS}"),
    "SwingEdit.find_tips": swing_edit("find_tips", "motion"),
    "SwingEdit.intensify": swing_edit("intensify", joints="Head", factor=1.2),
    "SwingEdit.lengthen": swing_edit("lengthen", "by_s factor anchor keep", targets="Head", by_frames=1),
    "SwingEdit.shorten": swing_edit("shorten", "by_s factor anchor keep", targets=SWINGS["LeftArm"][0], by_frames=1),
    "SwingEdit.limit_hinges": swing_edit("limit_hinges", "level"),
    "SwingEdit.plant_feet": swing_edit("plant_feet", "level"),
    "SwingEdit.play": swing_edit("play", "level fps keep_feet"),
    "SwingEdit.retime": swing_edit("retime", "joints from_s to_s keep", factor=1.1),
    "SwingEdit.scale": swing_edit("scale", "about", targets="Head", factor=1.1),
    "SwingEdit.set_angle": swing_edit("set_angle", "about", targets="Head", degrees=5),
    "SwingEdit.set_axis": swing_edit("set_axis", targets="Head", axis=(1, 0, 0)),
    "SwingEdit.shift": swing_edit("shift", "by_s", targets="Head", by_frames=1),
    "SwingEdit.turn_axis": swing_edit("turn_axis", targets="Head", about=(1, 0, 0), degrees=5),
    "Library": Call(lambda: open_library, {"location": "own.db"}, "blobs create busy_s limits"),
    "StreamingSaliency": call(
        kp.StreamingSaliency, "sigma_s cut_sigmas min_gap_s rank keys_per_cluster extremes lookahead_s period",
        columns=3, fps=30,
    ),
    "StreamingSaliency.push": Call(lambda: kp.StreamingSaliency(3, 30).push, {"frame": [1.0, 2.0, 3.0]}),
    "FarthestSearch.more": Call(lambda: kp.farthest_search(MOTION).more, {"n": 2}),
}  # fmt: skip

FILTERS = "action words tags min_duration_s max_duration_s skeleton"
ADD_OPTIONS = "tags source licence note tolerance_mm reference_pose asf gaps animation fps"
SEARCH_OPTIONS = f"limit joints mirrored deduplicate {FILTERS}"
LIBRARY_CALLS = {
    "actions": ({"clip": "walk"}, ""),
    "add": ({"content": MOTION}, "name tags source licence note tolerance_mm reference_pose fps"),
    "add files": ({"content": ["clip.bvh"]}, "name on_progress"),
    "ingest": ({"paths": []}, f"{ADD_OPTIONS} jobs engine on_progress tag_folders"),
    "clip": ({"clip": "walk"}, ""),
    "clips": ({}, f"{FILTERS} body_part sort limit skip"),
    "clips_named": ({"name": "walk"}, ""),
    "count": ({}, f"{FILTERS} body_part"),
    "delete_draft": ({"clip": "walk"}, ""),
    "describe": ({"clip": "walk"}, "source licence note"),
    "draft": ({"clip": "walk"}, ""),
    "empty_trash": ({"older_than_days": 30.0}, ""),
    "export": ({"folder": "exported"}, "clips"),
    "facets": ({}, f"{FILTERS} body_part"),
    "get": ({"clip": "walk"}, ""),
    "key_frames": ({"clip": "walk"}, ""),
    "original": ({"clip": "walk"}, ""),
    "pose_vector": ({"query": "walk"}, "frame"),
    "rebuild": ({}, "on_progress"),  # jobs start processes
    "remove": ({"clip": "nobody"}, ""),
    "rename": ({"clip": "nobody", "name": "other"}, ""),
    "retag": ({"clips": ["walk"]}, "add remove"),
    "restore": ({"clips": "nobody"}, ""),
    "save_draft": ({"clip": "walk", "data": "{}"}, "revision"),
    "search": ({"query": "walk"}, f"ranker {SEARCH_OPTIONS}"),
    "search_part": ({"query": "walk", "start": 2, "end": 12}, f"multiple {SEARCH_OPTIONS}"),
    "search_pose": ({"query": "walk"}, f"frame multiple pose_vector {SEARCH_OPTIONS}"),
    "strip": ({"clip": "walk"}, ""),
    "swings": ({"clip": "walk"}, ""),
    "tag": ({"clip": "walk", "tag_names": "slow"}, ""),
    "trash": ({"clips": "nobody"}, ""),
    "untag": ({"clip": "walk", "tag_names": "slow"}, ""),
    "verify": ({}, "fix drop_orphans"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a clip in several formats."""
    folder = tmp_path_factory.mktemp("wrong_types")
    for clip, name in (
        (MOTION, "clip.bvh"), (MOTION, "clip.kps"), (KEYED, "clip.keys.json"), (SWINGS, "clip.swings.json"),
    ):  # fmt: skip
        kp.save(clip, folder / name)
    return folder


@pytest.fixture(scope="module")
def library(folder: Path) -> Iterator[kp.Library]:
    """A library with two clips."""
    with kp.Library(folder / "clips.db") as library:
        library.add(WALK, name="walk")
        library.add(MOTION, name="stand")
        yield library


def library_method(library: kp.Library, name: str) -> Callable[..., Any]:
    """Return a method of a library; parameters that take several positional arguments get a single one."""
    method = getattr(library, name)
    parameters = inspect.signature(method).parameters.values()
    if all(each.kind is not each.VAR_POSITIONAL for each in parameters):
        return method  # type: ignore[no-any-return]
    return lambda **arguments: method(*arguments.values())


def find_raw_errors(function: Callable[[], Callable[..., Any]], arguments: Mapping[str, Any], name: str) -> list[str]:
    """Call ``function`` with every wrong value for the parameter ``name``; return the errors that are not Keypose's.

    The text of an error is one line.
    """
    raw_errors = []
    for value_name in VALUE_NAMES:
        try:
            function()(**{**arguments, name: make_values()[value_name]})
        except kp.KeyposeError as error:
            if "\n" in str(error):
                raw_errors.append(f"{value_name}: several lines: {error}")
        except Exception as error:
            raw_errors.append(f"{value_name}: {type(error).__name__}: {error}")
    return raw_errors


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_the_other_arguments_are_valid(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(folder)
    CALLS[name].make()(**CALLS[name].arguments)


PARAMETERS = [(name, each) for name, entry in CALLS.items() for each in (*entry.arguments, *entry.more.split())]


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
@pytest.mark.filterwarnings("ignore")
def test_values_of_wrong_types(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, parameter: str) -> None:
    monkeypatch.chdir(folder)
    assert find_raw_errors(CALLS[name].make, CALLS[name].arguments, parameter) == []


@pytest.mark.parametrize(
    ("name", "parameter"),
    [(name, each) for name, (arguments, more) in LIBRARY_CALLS.items() for each in (*arguments, *more.split())],
)
@pytest.mark.filterwarnings("ignore")
def test_values_of_wrong_types_for_a_library(
    folder: Path, library: kp.Library, monkeypatch: pytest.MonkeyPatch, name: str, parameter: str
) -> None:
    monkeypatch.chdir(folder)
    method = library_method(library, name.split()[0])
    assert find_raw_errors(lambda: method, LIBRARY_CALLS[name][0], parameter) == []


# Not called: a job count starts processes.
EXCEPTIONS = {"rebuild jobs"}


def missing_parameters(functions: Mapping[str, Callable[..., Any]], tested: set[str]) -> list[str]:
    """Return the parameters of ``functions``, such as "load path", that are not among the tested ones."""
    parameters = {
        f"{name} {each.name}"
        for name, function in functions.items()
        for each in inspect.signature(function).parameters.values()
        if each.name != "self" and each.kind is not each.VAR_KEYWORD
    }
    return sorted(parameters - tested - EXCEPTIONS)


def test_every_parameter_of_the_public_functions_is_tested() -> None:
    functions = {name: getattr(kp, name) for name in kp.__all__ if inspect.isfunction(getattr(kp, name))}
    tested = {f"{name.split(',')[0].split()[0]} {parameter}" for name, parameter in PARAMETERS}
    assert missing_parameters(functions, tested) == []


def test_every_parameter_of_a_library_is_tested() -> None:
    methods = {name: each for name, each in vars(kp.Library).items() if inspect.isfunction(each) and name[0] != "_"}
    entries = [(name.split()[0], {*arguments, *more.split()}) for name, (arguments, more) in LIBRARY_CALLS.items()]
    tested = {f"{name} {parameter}" for name, parameters in entries for parameter in parameters}
    tested |= {f"add {parameter}" for name, parameters in entries for parameter in parameters if name == "ingest"}
    assert missing_parameters(methods, tested) == []
