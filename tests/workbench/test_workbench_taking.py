"""What is taken away has the very bytes that the verbs write."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_workbench_edits import keys_draft, some_swings, swings_draft

import keypose as kp
from keypose.errors import MissingExtra, OptionError
from keypose.formats import writable_suffixes
from keypose.workbench import Bench, Wanted, facts_of, safe_stem, take_away
from keypose.workbench.names import LONGEST, unique
from keypose.workbench.taking import formats

FRAMES = (0, 31, 60, 88, 119)
DENSE = (".bvh", ".glb", ".gltf", ".usda", ".usdc", ".kps", ".keys.json")
SPARSE = DENSE
HAS_BPY = importlib.util.find_spec("bpy") is not None


def saved(what: Any, path: Path, **options: Any) -> bytes:
    kp.save(what, path, **options)
    return path.read_bytes()


@pytest.mark.parametrize("suffix", DENSE)
def test_a_capture_leaves_as_save_writes_it(bench: Bench, tmp_path: Path, suffix: str) -> None:
    taken = take_away(bench, Wanted(suffix))
    assert taken.data == saved(bench.motion, tmp_path / f"other{suffix}")
    assert taken.name == f"{safe_stem(bench.motion.name)}{suffix}"


@pytest.mark.parametrize("suffix", SPARSE)
def test_keys_leave_as_save_writes_them(bench: Bench, tmp_path: Path, suffix: str) -> None:
    taken = take_away(bench, Wanted(suffix, frames=FRAMES))
    assert taken.data == saved(kp.unbake(bench.motion, FRAMES), tmp_path / f"other{suffix}")
    straight = take_away(bench, Wanted(suffix, frames=FRAMES, interpolation="linear"))
    assert straight.data != taken.data


def test_so_many_keys_leave_as_the_method_chooses_them(bench: Bench, tmp_path: Path) -> None:
    gap = bench.motion.n_frames - 1
    chosen = kp.select(bench.motion, "salient", keys=6, cost="inbetween", greatest_gap_frames=gap, top_only=False)
    taken = take_away(bench, Wanted(".keys.json", keys=6))
    assert taken.data == saved(kp.unbake(bench.motion, chosen), tmp_path / "x.keys.json")


@pytest.mark.parametrize("suffix", SPARSE)
def test_an_edit_leaves_as_its_keys(bench: Bench, tmp_path: Path, suffix: str) -> None:
    draft = keys_draft({"op": "rotate", "frame": 60, "joint": "head", "euler_degrees": [0, 30, 0]})
    by_hand = kp.edit(kp.unbake(bench.motion, FRAMES))
    by_hand.rotate(60, "head", euler_degrees=(0, 30, 0))
    assert take_away(bench, Wanted(suffix, draft=draft)).data == saved(by_hand.keyed, tmp_path / f"x{suffix}")
    shown = take_away(bench, Wanted(suffix, draft=replace(draft, residual=0.5))).data
    what = by_hand.keyed if suffix == ".keys.json" else by_hand.keyed.sample(0.5)
    assert shown == saved(what, tmp_path / f"y{suffix}")


def test_swings_leave_as_swings_or_as_what_they_play(bench: Bench, tmp_path: Path) -> None:
    assert take_away(bench, Wanted(".swings.json")).data == saved(kp.swings(bench.motion), tmp_path / "a.swings.json")
    step = some_swings(bench)[0]
    by_hand = kp.swings(bench.motion).edit(bench.motion)
    by_hand.scale(by_hand.swings[step["joint"]][1], 1.4)
    draft = swings_draft(step)
    assert take_away(bench, Wanted(".swings.json", draft=draft)).data == saved(
        by_hand.swings, tmp_path / "b.swings.json"
    )
    assert take_away(bench, Wanted(".bvh", draft=draft)).data == saved(by_hand.play(), tmp_path / "b.bvh")


def test_a_tolerance_is_that_of_the_file(bench: Bench, tmp_path: Path) -> None:
    taken = take_away(bench, Wanted(".kps", tolerance_mm=5.0))
    assert taken.data == saved(bench.motion, tmp_path / "x.kps", tolerance_mm=5.0)
    assert len(taken.data) < len(take_away(bench, Wanted(".kps", tolerance_mm=0.1)).data)
    whole = take_away(bench, Wanted(".kps", lossless=True))
    assert whole.data == saved(bench.motion, tmp_path / "y.kps", lossless=True)


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_a_strip_leaves_as_strip_draws_it(bench: Bench, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    for frames in (FRAMES, None):
        kp.strip(bench.motion, frames, path)
        assert take_away(bench, Wanted(f".strip{suffix}", frames=frames)).data == path.read_bytes()
    kp.strip(bench.motion, FRAMES, path, theme="dark", layout="time")
    wanted = Wanted(f".strip{suffix}", frames=FRAMES, theme="dark", layout="time")
    assert take_away(bench, wanted).data == path.read_bytes()


def test_a_report_leaves_as_report_writes_it(bench: Bench, tmp_path: Path) -> None:
    kp.report(bench.motion, tmp_path / "x.html", keys=5, pins=FRAMES)
    taken = take_away(bench, Wanted(".report.html", frames=FRAMES))
    assert taken.data == (tmp_path / "x.html").read_bytes()
    assert taken.media_type == "text/html; charset=utf-8"


@pytest.mark.skipif(HAS_BPY, reason="Blender's module is here")
@pytest.mark.parametrize("suffix", [".fbx", ".blend"])
def test_what_needs_blender_says_how_to_get_it(bench: Bench, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    monkeypatch.delenv("KEYPOSE_BLENDER_PYTHON", raising=False)
    with pytest.raises(MissingExtra, match="pip install"):
        take_away(bench, Wanted(suffix))


def test_every_format_that_save_knows_can_be_asked_for() -> None:
    assert {each for each in writable_suffixes(swings=True) if not each.endswith(".gz")} <= set(formats())


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"format": ".exe"}, "format='.exe', expected one of .bvh"),
        ({"format": "../x.bvh"}, "expected one of"),
        ({"format": ".bvh", "frames": (0,), "keys": 4}, "several of frames, keys and draft"),
        ({"format": ".bvh", "tolerance_mm": 1.0}, "tolerance_mm with .bvh, expected it with .kps alone"),
        ({"format": ".bvh", "lossless": True}, "lossless with .bvh, expected it with .kps alone"),
        ({"format": ".kps", "lossless": True, "tolerance_mm": 1.0}, "a file keeps one or the other"),
        ({"format": ".bvh", "keys": 1}, "keys=1, expected at least 2"),
        ({"format": ".swings.json", "draft": keys_draft()}, "a draft of keys as .swings.json"),
    ],
)
def test_what_cannot_be_taken_away_is_said(bench: Bench, told: dict[str, Any], says: str) -> None:
    with pytest.raises(OptionError) as caught:
        take_away(bench, Wanted(**told))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("walk", "walk"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("<script>alert(1)</script>", "_script_alert(1)_script_"),
        ("a\\b:c*d?", "a_b_c_d_"),
        (".hidden", "hidden"),
        ("CON", "CON_"),
        ("nul.txt", "nul.txt_"),
        ("Läufer 走", "Läufer 走"),
        ("\r\nSet-Cookie: x", "_Set-Cookie_ x"),
        ("", "clip"),
        ("...", "clip"),
        ("\ud800", "clip"),
    ],
)
def test_names_of_clips_become_safe_names_of_files(name: str, stem: str) -> None:
    assert safe_stem(name) == stem


@given(st.text())
def test_no_name_is_a_path(name: str) -> None:
    stem = safe_stem(name)
    assert stem and not set(stem) & set('/\\:*?"<>|\0\n\r') and stem[0] not in ".-~" and stem[-1] not in ". "
    assert len(stem) <= LONGEST + 1
    stem.encode("utf-8")


def test_names_are_unique_whatever_their_case() -> None:
    assert unique(["walk.bvh", "Walk.bvh", "walk.bvh", "run.keys.json", "run.keys.json"]) == (
        "walk.bvh", "Walk (2).bvh", "walk (3).bvh", "run.keys.json", "run (2).keys.json",
    )  # fmt: skip


def test_facts_are_those_of_the_motion(bench: Bench) -> None:
    facts, motion = facts_of(bench), bench.motion
    assert facts.has_body and [joint.name for joint in facts.joints] == list(motion.skeleton.names)
    assert [joint.parent for joint in facts.joints] == motion.skeleton.parents.tolist()
    assert facts.groups["hands"] == motion.skeleton.anatomy.groups["hands"]
    touching = motion.foot_contacts()
    for column, foot in enumerate(touching.feet):
        frames = {frame for first, last in facts.contacts[foot] for frame in range(first, last + 1)}
        assert frames == set(touching.touching[:, column].nonzero()[0].tolist())
    swings = kp.swings(motion)
    assert len(facts.swings) == swings.n_swings
    for bar in facts.swings:
        own = swings[bar.joint][bar.index]
        assert (bar.start, bar.end) == (own.start, own.end)
