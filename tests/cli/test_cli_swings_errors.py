"""Errors of ``keypose swings``: one line that names the option, and nothing is written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from support.errors import Pattern, check_json_error, check_usage_error


@pytest.fixture(scope="module")
def kick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four seconds of the demo motion."""
    path = tmp_path_factory.mktemp("swings") / "kick.bvh"
    kp.save(kp.demo_motion(fps=30.0)[200:320], path)
    return path


OUT = ["-o", "OUT"]  # a file that is not there yet


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scale", "right_leg=1.3"], "--scale right_leg=1.3: no output named, expected -o OUT, such as -o edited.bvh"),
        (["--delete", "head"], "--delete head: no output named"),
        (["--scale", "right_leg", *OUT], "--scale right_leg, expected JOINTS=FACTOR, such as right_leg=1.3"),
        (["--scale", "=2", *OUT], "--scale =2, expected JOINTS=FACTOR"),
        (["--scale", "right_leg=much", *OUT], "--scale right_leg=much, expected JOINTS=FACTOR"),
        (["--scale", "right_leg=inf", *OUT], "--scale right_leg=inf, expected JOINTS=FACTOR"),
        (["--scale", "right_leg,,head=2", *OUT], "--scale right_leg,,head, expected no empty part between commas"),
        (["--set-angle", "head", *OUT], "--set-angle head, expected JOINTS=DEGREES, such as head=20"),
        (["--shift", "head=soon", *OUT], "--shift head=soon, expected JOINTS=SECONDS, such as left_arm=-0.1"),
        (["--retime", "slow", *OUT], "--retime slow, expected JOINTS=FACTOR, such as right_leg=1.3, or FACTOR alone for all joints"),
        (["--delete", "", *OUT], "--delete '', expected no empty part"),
        (["--longer-s", "0.2", *OUT], "--longer-s says which swings an edit means, expected one, such as --scale right_leg=1.3; without -o the swings"),
        (["--longer-s", "0.2", "--retime", "2", *OUT], "--retime 2: changes all swings of a joint, but --longer-s selects some of them"),
        (["--from-s", "1", "--longer-s", "0.2", "--retime", "2", *OUT], "but --longer-s selects some of them, expected no more than --from-s and --to-s, or another edit"),
        (["--from-s", "1", "--intensify", "head=2", *OUT], "--intensify head=2: changes all swings of a joint, but --from-s selects some of them, expected another edit"),
        (["--actions", "--joints", "head"], "--actions cannot be combined with --joints: it lists actions of the whole body"),
        (["--actions", "--longer-s", "0.2"], "--actions cannot be combined with --longer-s"),
        (["--actions", "--sweep"], "--sweep cannot be combined with --actions"),
        (["--actions", *OUT], "--actions applies to the printed tables, but with -o a file is written"),
        (["--sweep", "-q"], "--quiet applies to the written file, expected -o OUT as well"),
        (["--index", "0", "--intensify", "head=2", *OUT], "--intensify head=2: changes all swings of a joint, but --index selects"),
        (["--level", "1.5"], "--level 1.5, expected a share from 0 to 1"),
        (["--level", "nan"], "--level nan, expected a share from 0 to 1"),
        (["--no-detail", *OUT], "--no-detail says what is edited, but there is no edit"),
        (["--level", "0.5", "--scale", "head=2", *OUT], "--level plays fewer swings, but edits go on top of the whole capture"),
        (["--max-deg", "0"], "--max-deg 0, expected a number above 0"),
        (["--max-mm", "inf"], "--max-mm inf, expected a number above 0"),
        (["--max-deg", "3", "--max-mm", "3"], "--max-deg cannot be combined with --max-mm"),
        (["--max-deg", "3", "--threshold", "0.3"], "--max-deg cannot be combined with --threshold"),
        (["--max-mm", "3", "--fallback", "keys"], "--max-mm cannot be combined with --fallback"),
        (["--sweep", "--threshold", "0.3"], "--sweep cannot be combined with --threshold: it shows all thresholds"),
        (["--sweep", "--longer-s", "1"], "--sweep cannot be combined with --longer-s"),
        (["--sweep", *OUT], "--sweep applies to the printed tables, but with -o a file is written"),
        (["--joints", "head", *OUT], "--joints applies to the printed tables"),
        (["--overwrite"], "--overwrite applies to the written file, expected -o OUT as well"),
        (["--to", "glb"], "--to applies to the written file, expected -o OUT as well"),
        (["--no-keep-feet"], "--keep-feet applies to the written file, expected -o OUT as well"),
        (["-o", ""], "-o is empty, expected a file or a folder"),
        (["--overwrite", "--skip-existing", *OUT], "--overwrite cannot be combined with --skip-existing"),
        (["--left-out", "a,,b"], "--left-out a,,b, expected no empty part"),
        (["--joints", ""], "--joints '', expected no empty part"),
        (["--metric", "sine"], "--metric sine, expected one of angle, cosine"),
        (["--fallback", "curves"], "--fallback curves, expected one of "),
        (["--range", "4"], "--range 4, expected START:END"),
        (["--fps", "0"], "--fps 0, expected a number above 0"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_a_wrong_command_line(keypose, kick: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    arguments = [str(tmp_path / "out.bvh") if text == "OUT" else text for text in arguments]
    result = keypose("swings", kick, *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ") and message in result.err
    assert result.err.endswith("\n  see: keypose swings --help\n")
    check_usage_error("swings", json.loads(keypose("swings", kick, *arguments, "--json").out), message)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (["--joints", "tail"], {"code": "joint", "value": "tail", "hint": Pattern("^known: Hips, Spine, Spine1, Spine2, Neck")}),
        (["--joints", "right_lge"], {"code": "joint", "value": "right_lge", "hint": Pattern("^did you mean 'right_leg' or 'RightLeg' or 'right_ankle'.")}),
        (["--left-out", "tail"], {"code": "joint", "value": "tail", "hint": Pattern("^known: Hips, Spine, Spine1, Spine2, Neck")}),
        (["--threshold", "4"], {"option": "threshold", "value": 4.0, "expected": "a number from 0 to 3.14159"}),
        (["--smoothing-s", "-1"], {"option": "smoothing_s", "value": -1.0, "expected": "a number from 0 to 10"}),
        (["--window-s", "0"], {"option": "window_s", "value": 0.0, "expected": "a number above 0 and at most 10"}),
        (["--min-duration-s", "nan"], {"option": "min_duration_s", "value": "nan", "expected": "a number from 0 to 10"}),
        (["--min-duration-s", "1e308"], {"option": "min_duration_s", "value": 1e308, "expected": "a number from 0 to 10"}),
        (["--fallback", "keys", "--fallback-deg", "181"], {"option": "fallback_deg", "value": 181.0, "expected": "a number above 0 and at most 180"}),
        (["--max-deg", "181"], {"option": "max_deg", "value": 181.0, "expected": "a number above 0 and at most 180"}),
        (["--rest-rad-per-s", "-1"], {"option": "rest_rad_per_s", "value": -1.0, "expected": "a number from 0 to 1e+06"}),
        (["--translation-mm", "-1"], {"option": "translation_mm", "value": -1.0, "expected": "a number from 0 to 1e+06"}),
        (["--fallback", "keys", "--fallback-deg", "0"], {"option": "fallback_deg", "value": 0.0, "expected": "a number above 0 and at most 180"}),
        (["--index", "99"], {"option": "index", "value": 99, "expected": "-12 to 11", "error": Pattern("--index 99 is out of range: no joint has more than ")}),
        (["--at-s", "9"], {"option": "at_s", "value": 9.0, "expected": "a number from 0 to 4"}),
        (["--from-s", "-1"], {"option": "from_s", "value": -1.0, "expected": "a number from 0 to 4"}),
        (["--from-s", "2", "--to-s", "1"], {"option": "from_s", "value": 2.0, "expected": "at most --to-s 1"}),
        (["--longer-s", "2", "--shorter-s", "1"], {"option": "longer_s", "value": 2.0, "expected": "less than --shorter-s 1"}),
        (["--wider-deg", "-2"], {"option": "wider_deg", "value": -2.0, "expected": "a number of at least 0"}),
        (["--narrower-deg", "0"], {"option": "narrower_deg", "value": 0.0, "expected": "a number above 0"}),
        (["--range", "900:"], {"option": "frames", "value": "900:", "error": Pattern("--range 900: holds no frame")}),
        (["--scale", "tail=2", *OUT], {"code": "joint", "value": "tail", "error": Pattern("--scale tail=2: no joint or body part 'tail'")}),
        (["--scale", "right_leg=1e9", *OUT], {"option": "factor", "value": 1e9, "expected": "a number from -1000 to 1000", "error": Pattern("--scale right_leg=1e9: factor 1000000000")}),
        (["--retime", "-1", *OUT], {"option": "factor", "value": -1.0, "expected": "a number above 0 and at most 1000", "error": Pattern("--retime -1: factor -1")}),
        (["--lengthen", "head=0", *OUT], {"option": "factor", "value": 0.0, "expected": "a number above 0", "error": Pattern("--lengthen head=0: factor 0")}),
        (["--lengthen", "right_leg=-1", *OUT], {"option": "factor", "value": -1.0, "expected": "a number above 0", "error": Pattern("--lengthen right_leg=-1: factor -1")}),
        (["--intensify", "LeftHand=1.2", *OUT], {"value": "LeftHand", "error": Pattern("--intensify LeftHand=1.2: 'LeftHand': neither a swing nor a key")}),
        (["--retime", "2", "--from-s", "9", *OUT], {"option": "from_s", "value": 9.0, "expected": "a number from 0 to 4", "error": Pattern("--retime 2: --from-s 9")}),
        (["--shift", "right_leg=9", *OUT], {"option": "by_s", "value": 9.0, "expected": "a number from -4 to 4", "error": Pattern("--shift right_leg=9: seconds 9")}),
        (["--shift", "right_leg=3.9", *OUT], {"code": "no_room", "value": 119, "error": Pattern("--shift right_leg=3.9: the swing of RightUpLeg in frames .*: the clip has frames 0 to 119")}),
        (["--longer-s", "3", "--scale", "right_leg=2", *OUT], {"error": Pattern("--scale right_leg=2: no swing fits, and nothing was changed")}),
        (["--mirror-copy", "legs", *OUT], {"expected": "joints of one side", "error": Pattern("--mirror-copy legs: LeftUpLeg and RightUpLeg are both to be copied")}),
        (["--mirror-copy", "hips", *OUT], {"expected": "joints of one side", "error": Pattern("--mirror-copy hips: Hips has no other side")}),
        (["--delete", "head", "--delete", "head", *OUT], {"hint": Pattern("^joints with swings are Hips, Spine, "), "error": Pattern("--delete head: 'head': no swing at all")}),
        (["--intensify", "arms=1.5", "--scale", "tail=2", *OUT], {"code": "joint", "value": "tail", "hint": Pattern("^known: Hips, Spine, Spine1, Spine2, Neck")}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_options_that_do_not_fit_the_clip(
    keypose, kick: Path, tmp_path: Path, arguments: list[str], fields: dict[str, Any]
) -> None:
    arguments = [str(tmp_path / "out.bvh") if text == "OUT" else text for text in arguments]
    result, as_json = keypose("swings", kick, *arguments), keypose("swings", kick, *arguments, "--json")
    assert (result.code, result.out) == (as_json.code, "") == (1, "")
    check_json_error(as_json.out, **fields)
    assert result.err.startswith(f"error: {kick}: ") and result.err.count("\n") == 1
    in_python = re.search(
        r"(?<![\w-])(?!(?:tail|arms|head|right_leg|LeftHand)=)\w+=", result.err.removeprefix(f"error: {kick}")
    )
    assert in_python is None
    assert not list(tmp_path.iterdir())


def test_targets_that_cannot_be(keypose, kick: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.bvh"
    out.write_text("precious")
    result = keypose("swings", kick, "--scale", "arms=1.1", "-o", out)
    assert result.code == 1 and "exists already; --overwrite replaces it" in result.err
    assert out.read_text() == "precious"
    command_result = keypose("swings", kick, kick.parent, "-o", out, "--to", "bvh")
    assert (
        command_result.code == 2
        and f"-o {out} is an existing file, expected a folder for the results" in command_result.err
    )
    assert "keypose swings IN... -o out/ --to bvh" in command_result.err and out.read_text() == "precious"
    result = keypose("swings", kick, "-o", tmp_path / "out.xyz")
    assert result.code == 1 and "cannot write '.xyz'" in result.err and ".swings.json" in result.err
    result = keypose("convert", kick, tmp_path / "out.swings.json")
    assert result.code == 1 and "keypose swings IN -o NAME.swings.json" in result.err
    assert not (tmp_path / "out.swings.json").exists()
    both = keypose("swings", kick, kick.parent / "other.bvh", "-o", tmp_path / "o")
    assert both.code == 2 and "--to" in both.err


def test_files_that_hold_swings_or_nothing(keypose, kick: Path, tmp_path: Path) -> None:
    swings_path = tmp_path / "kept.swings.json"
    assert keypose("swings", kick, "-o", swings_path).code == 0
    for arguments, option in (
        (["--threshold", "0.3"], "--threshold"),
        (["--max-deg", "3"], "--max-deg"),
        (["--range", "0:9"], "--range"),
        (["--fps", "10"], "--fps"),
        (["--fallback", "keys"], "--fallback"),
    ):
        result = keypose("swings", swings_path, *arguments)
        assert (
            result.code == 1 and f"holds swings already, expected no {option}, which is for finding them" in result.err
        )
    assert "expected a motion for --sweep" in keypose("swings", swings_path, "--sweep").err
    broken = tmp_path / "broken.swings.json"
    broken.write_text(swings_path.read_text()[:2000])
    result = keypose("swings", broken)
    assert result.code == 1 and result.err.startswith(f"error: {broken}") and result.err.count("\n") == 1
    missing = keypose("swings", tmp_path / "kcik.bvh")
    assert missing.code == 1 and "no such file" in missing.err
    assert keypose("swings").code == 2


def test_a_single_frame_has_no_swing(keypose, tmp_path: Path) -> None:
    still = tmp_path / "still.bvh"
    kp.save(kp.demo_motion(fps=30.0)[:1], still)
    result = keypose("swings", still)
    assert result.code == 0 and " 0 of 0 joints" in result.out
    assert json.loads(keypose("swings", still, "--json").out)["n_swings"] == 0
