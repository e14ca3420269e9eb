"""``keypose timeline``, ``curves`` and ``error-curve``: a picture of one file."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest

import keypose as kp
from keypose.pictures.curves import plot_curves
from keypose.pictures.error_curve import plot_errors
from keypose.pictures.timeline import timeline

COMMANDS = ("timeline", "curves", "error-curve")


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
    keypose("error-curve", kick, tmp_path / "e.svg", "--keys", 7, "--joints", "hands", "--title", "T", "--max-keys", 30)
    expected = plot_errors(kp.ladder(motion, joints="hands", max_keys=30), chosen=7, title="T")
    assert (tmp_path / "e.svg").read_text() == expected.svg


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
    ("line", "code", "message"),
    [
        (["timeline", "{kick}", "a.gif"], 1, "cannot write a picture as '.gif', expected one of .svg, .png"),
        (["timeline", "{kick}", "{tmp}/none/a.svg"], 1, "no such folder"),
        (["timeline", "none.bvh", "{tmp}/a.svg"], 1, "none.bvh: no such file"),
        (["curves", "{kick}", "{tmp}/a.svg", "--joints", "wings"], 1, "wings"),
        (["curves", "{kick}", "{tmp}/a.svg", "--width-px", "3"], 2, "expected a number from 80"),
        (["curves", "{kick}", "{tmp}/a.svg", "--mark", "99999"], 1, "expected 0 to"),
        (["curves", "{kick}", "{tmp}/a.svg", "--mark", "3", "--keys", "4"], 2, "--mark already selects the keys"),
        (["curves", "{kick}", "{tmp}/a.svg", "--mark", "x"], 2, "expected frames from 0"),
        (["error-curve", "{kick}", "{tmp}/a.svg", "--keys", "4", "--auto"], 2, "cannot be combined with"),
        (["error-curve", "{kick}", "{tmp}/a.svg", "--method", "salien"], 2, "did you mean salient"),
        (["timeline", "{kick}", "{tmp}/a.svg", "--max-mm", "2", "--threshold", "0.3"], 2, "cannot be combined with"),
        (["timeline", "{kick}", ""], 2, "is empty"),
        (["timeline", "{kick}"], 2, ""),
    ],
)  # fmt: skip
def test_what_is_refused(keypose, kick: Path, tmp_path: Path, line: list[str], code: int, message: str) -> None:
    result = keypose(*(part.format(kick=kick, tmp=tmp_path) for part in line))
    assert result.code == code, result.err
    assert message in result.err
    assert not (tmp_path / "a.svg").exists()
