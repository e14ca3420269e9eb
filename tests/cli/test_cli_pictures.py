"""``keypose timeline``, ``curves`` and ``error-curve``: a picture of one file."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.metrics import position_errors_mm
from keypose.pictures.curves import plot_curves
from keypose.pictures.error_curve import plot_errors
from keypose.pictures.timeline import timeline
from support.errors import Pattern, check_json_error

COMMANDS = ("timeline", "curves", "path", "error-curve")


@pytest.mark.parametrize("command", COMMANDS)
def test_picture_is_written_and_reported(keypose, kick: Path, tmp_path: Path, command: str) -> None:
    for name, start in (("a.svg", b"<svg"), ("a.png", b"\x89PNG")):
        result = keypose(command, kick, tmp_path / name)
        assert result.code == 0, result.err
        assert (tmp_path / name).read_bytes().startswith(start)
        match = re.match(rf".*{name}: (\d+) x (\d+) (px|pixels)\. \w", result.out)
        assert match is not None
        assert match[3] == ("px" if name == "a.svg" else "pixels")
    assert struct.unpack(">II", (tmp_path / "a.png").read_bytes()[16:24]) == (int(match[1]), int(match[2]))


@pytest.mark.parametrize("command", COMMANDS)
def test_json_has_what_is_in_it(keypose, kick: Path, tmp_path: Path, command: str) -> None:
    result = keypose(command, kick, tmp_path / "a.svg", "--keys", 6, "--json")
    (payload,) = json.loads(result.out)["pictures"]
    assert payload["source"] == str(kick)
    assert payload["target"] == str(tmp_path / "a.svg")
    assert payload["n_frames"] == kp.load(kick).n_frames
    assert f'width="{payload["width_px"]:.0f}"' in (tmp_path / "a.svg").read_text()
    assert payload["description"]
    assert (payload["width_pixels"], payload["height_pixels"]) == (None, None)
    if command == "error-curve":
        assert (payload["chosen"], payload["chosen_by"]) == (6, "keys")
        assert {row["keys"]: row["cost"] for row in payload["curve"]} == dict(kp.ladder(kp.load(kick)).costs)
    elif command == "path":
        motion = kp.load(kick)
        keyed = kp.unbake(motion, keys=6)
        errors = position_errors_mm(motion, keyed.sample())[:, motion.joint("right_hand")]
        assert payload["keys"] == keyed.keys.tolist()
        assert (payload["mean_mm"], payload["max_mm"]) == pytest.approx((errors.mean(), errors.max()))
        assert payload["worst_frame"] == errors.argmax()
    else:
        assert payload["keys"] == kp.select(kp.load(kick), keys=6).frames.tolist()


def test_the_pictures_are_those_of_the_library(keypose, kick: Path, tmp_path: Path) -> None:
    motion = kp.load(kick)
    keypose(
        "timeline", kick, tmp_path / "t.svg", "--joints", "legs,head", "--keys", 5, "--theme", "dark", "--width-px", 700
    )
    expected = timeline(
        kp.swings(motion), keys=kp.select(motion, keys=5), joints=["legs", "head"], theme="dark", width_px=700
    )
    assert (tmp_path / "t.svg").read_text() == expected.svg
    keypose("curves", kick, tmp_path / "c.svg", "--method", "saliency", "--joints", "left_thigh", "--panel-px", 90)
    own = kp.select(motion, "saliency", joints="left_thigh")
    expected = plot_curves(motion, own, joints="left_thigh", panel_px=90)
    assert (tmp_path / "c.svg").read_text() == expected.svg
    reduced = ("--per", "joint", "--method", "refine", "--threshold", 0.3)
    keypose("curves", kick, tmp_path / "r.svg", "--reduced", *reduced, "--joints", "left_leg", "--axes", "x,z")
    keyed = kp.unbake(motion, per="joint", method="refine", threshold=0.3)
    assert (tmp_path / "r.svg").read_text() == plot_curves(motion, reduced=keyed, joints="left_leg", axes="xz").svg
    keypose("path", kick, tmp_path / "p.svg", "--joint", "left_foot", *reduced, "--in-place", "--range", "5:60")
    keyed = kp.unbake(motion[5:60], per="joint", method="refine", threshold=0.3)
    assert (tmp_path / "p.svg").read_text() == kp.plot_path(motion[5:60], keyed, "left_foot", in_place=True).svg
    keypose("path", kick, tmp_path / "f.svg", "--fps", 24, "--keys", 6, "--interpolation", "linear")
    keyed = kp.unbake(motion.at_fps(24), keys=6, interpolation="linear")
    assert (tmp_path / "f.svg").read_text() == kp.plot_path(motion.at_fps(24), keyed).svg
    keypose("error-curve", kick, tmp_path / "e.svg", "--keys", 7, "--joints", "hands", "--title", "T", "--max-keys", 30)
    expected = plot_errors(kp.ladder(motion, joints="hands", max_keys=30), chosen=7, title="T")
    assert (tmp_path / "e.svg").read_text() == expected.svg


def test_the_timeline_shows_the_actions_of_the_capture(keypose, kick: Path, tmp_path: Path) -> None:
    assert keypose("timeline", kick, tmp_path / "a.svg", "--actions").code == 0
    motion = kp.load(kick)
    swings = kp.swings(motion)
    assert (tmp_path / "a.svg").read_text() == timeline(swings, actions=swings.actions(motion)).svg


def test_curves_choose_keys_from_visible_joints(keypose, kick: Path, tmp_path: Path) -> None:
    motion = kp.load(kick)
    arguments = ("curves", kick, tmp_path / "c.svg", "--overwrite", "--json", "--keys", 9)

    def keys(*more: object) -> list[int]:
        return json.loads(keypose(*arguments, *more).out)["pictures"][0]["keys"]

    thigh, body = (kp.select(motion, keys=9, joints=joints).frames.tolist() for joints in ("left_thigh", None))
    assert thigh != body
    assert keys("--joints", "left_thigh") == thigh
    assert keys("--joints", "left_thigh", "--whole-body") == body == keys()
    refused = keypose("curves", kick, tmp_path / "d.svg", "--whole-body")
    assert refused.code == 2 and "--whole-body says how keys are chosen, and none are" in refused.err


def test_frames_can_be_marked_outright(keypose, kick: Path, tmp_path: Path) -> None:
    for command in ("timeline", "curves"):
        result = keypose(command, kick, tmp_path / f"{command}.svg", "--mark", "0,30,88", "--json")
        assert json.loads(result.out)["pictures"][0]["keys"] == [0, 30, 88]
        none = keypose(command, kick, tmp_path / f"{command}.svg", "--overwrite", "--json")
        assert json.loads(none.out)["pictures"][0]["keys"] == []


def test_swings_of_a_file_are_drawn(keypose, kick: Path, tmp_path: Path) -> None:
    kp.save(kp.swings(kp.load(kick)), tmp_path / "kick.swings.json")
    assert keypose("timeline", tmp_path / "kick.swings.json", tmp_path / "a.svg", "--mark", 3).code == 0
    result = keypose("timeline", tmp_path / "kick.swings.json", tmp_path / "b.svg", "--keys", 3)
    assert result.code == 1
    assert "holds swings and no motion to choose keys of; --mark says frames" in result.err


def test_a_range_counts_for_what_is_removed(keypose, kick: Path, tmp_path: Path) -> None:
    result = keypose("error-curve", kick, tmp_path / "a.svg", "--range", "20:80", "--keys", 4)
    assert "of 60 frames" in result.out
    result = keypose("curves", kick, tmp_path / "b.svg", "--range", "20:80", "--json")
    assert json.loads(result.out)["pictures"][0]["n_frames"] == 60


def test_costs_in_mm_are_labelled(keypose, kick: Path, tmp_path: Path) -> None:
    result = keypose("error-curve", kick, tmp_path / "a.svg", "--range", ":60", "--cost", "inbetween", "--max-keys", 12)
    assert re.search(r"cost [\d.]+ to [\d.]+ mm for", result.out)
    assert "cost (mm)" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize("command", COMMANDS)
def test_existing_files_need_overwrite(keypose, kick: Path, tmp_path: Path, command: str) -> None:
    out = tmp_path / "a.svg"
    out.write_text("mine")
    result = keypose(command, kick, out)
    assert result.code == 1
    assert "exists already; --overwrite replaces it" in result.err
    assert out.read_text() == "mine"
    assert keypose(command, kick, out, "--overwrite", "--quiet").out == ""
    assert out.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("line", "code", "fields"),
    [
        (["timeline", "{kick}", "a.gif"], 1, {"expected": "one of .svg, .png"}),
        (["timeline", "{kick}", "{tmp}/none/a.svg"], 1, {"code": "file", "error": Pattern("no such folder")}),
        (["timeline", "none.bvh", "{tmp}/a.svg"], 1, {"code": "no_such_file", "error": "none.bvh: no such file"}),
        (["curves", "{kick}", "{tmp}/a.svg", "--joints", "wings"], 1, {"code": "joint", "value": "wings"}),
        (["curves", "{kick}", "{tmp}/a.svg", "--width-px", "3"], 2, {"option": "width_px", "value": 3.0, "expected": "a number from 80 to 8000"}),
        (["curves", "{kick}", "{tmp}/a.svg", "--mark", "99999"], 1, {"option": "keys", "expected": "0 to 159"}),
        (["curves", "{kick}", "{tmp}/a.svg", "--mark", "3", "--keys", "4"], 2, {"option": "mark", "hint": "omit the options that select keys by a method"}),
        (["curves", "{kick}", "{tmp}/a.svg", "--mark", "x"], 2, {"option": "mark", "value": "x", "expected": "frames from 0, such as 30,88"}),
        (["error-curve", "{kick}", "{tmp}/a.svg", "--keys", "4", "--auto"], 2, {"code": "conflicting_options", "option": "keys", "error": Pattern("cannot be combined with --auto")}),
        (["error-curve", "{kick}", "{tmp}/a.svg", "--method", "salien"], 2, {"option": "method", "value": "salien", "expected": Pattern("did you mean salient.$")}),
        (["timeline", "{kick}", "{tmp}/a.svg", "--max-mm", "2", "--threshold", "0.3"], 2, {"code": "conflicting_options", "option": "max_mm", "error": Pattern("cannot be combined with --threshold")}),
        (["timeline", "{kick}", ""], 2, {"code": "missing_argument", "expected": "a picture, such as walk.svg"}),
        (["timeline", "{kick}"], 2, {"code": "missing_argument", "expected": "OUT"}),
    ],
)  # fmt: skip
def test_what_is_refused(
    keypose, kick: Path, tmp_path: Path, line: list[str], code: int, fields: dict[str, Any]
) -> None:
    arguments = [part.format(kick=kick, tmp=tmp_path) for part in line]
    result, as_json = keypose(*arguments), keypose(*arguments, "--json")
    assert result.code == as_json.code == code, result.err
    assert check_json_error(as_json.out, **fields) in result.err
    assert not (tmp_path / "a.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--reduced", "--mark", "3"], "--reduced cannot be combined with --mark"),
        (["--reduced", "--whole-body", "--keys", "5"], "--reduced cannot be combined with --whole-body"),
        (["--per", "joint"], "--per joint is for reduced curves, expected --reduced with it"),
    ],
)
def test_options_of_reduced_curves(keypose, kick: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    result = keypose("curves", kick, tmp_path / "c.svg", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert not (tmp_path / "c.svg").exists()
