"""``keypose strip``: the key poses of files as pictures."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest

import keypose as kp
from keypose.pictures.strip import strip


def test_a_picture_is_written_and_said(keypose, kick: Path, tmp_path: Path) -> None:
    for name, start in (("a.svg", b"<svg"), ("a.png", b"\x89PNG")):
        ran = keypose("strip", kick, tmp_path / name)
        assert (ran.code, ran.err) == (0, "")
        assert (tmp_path / name).read_bytes().startswith(start)
        assert f"{tmp_path / name}: " in ran.out
        unit = "px" if name.endswith("svg") else "pixels"
        assert f" {unit}. 8 poses of kick side by side, at frames " in ran.out
    assert (tmp_path / "a.svg").read_text() == strip(kp.load(kick)).svg


def test_an_exact_size_is_that_of_the_file(keypose, kick: Path, tmp_path: Path) -> None:
    target = tmp_path / "a.png"
    for more, size in (((), (320, 90)), (("--scale", "2", "--overwrite"), (640, 180))):
        ran = keypose("strip", kick, target, "--size-px", "320x90", *more)
        assert struct.unpack(">II", target.read_bytes()[16:24]) == size
        assert f"{target}: {size[0]} x {size[1]} pixels. " in ran.out
    (made,) = json.loads(keypose("strip", kick, target, "--height-px", "90", "--overwrite", "--json").out)["pictures"]
    assert (made["width_pixels"], made["height_pixels"]) == (2 * made["width_px"], 2 * made["height_px"])
    assert struct.unpack(">II", target.read_bytes()[16:24]) == (made["width_pixels"], made["height_pixels"])


def test_its_help_names_its_own_method(keypose) -> None:
    said = " ".join(re.sub(r"[│╭╰─╮╯]", " ", keypose("strip", "--help").out).split())
    assert "Otherwise farthest." in said
    assert "Otherwise salient" not in said


def test_rows(keypose, kick: Path, tmp_path: Path) -> None:
    assert keypose("strip", kick, tmp_path / "a.svg", "--keys", 7, "--per-row", 4).code == 0
    m = kp.load(kick)
    assert (tmp_path / "a.svg").read_text() == strip(m, kp.select(m, "farthest", keys=7), per_row=4).svg


def test_options_are_those_of_the_verb(keypose, kick: Path, tmp_path: Path) -> None:
    target, m = tmp_path / "a.svg", kp.load(kick)
    ran = keypose("strip", kick, target, "--layout", "expanded", "--view", "30", "--theme", "dark", "--ghosts", 1, "--rank",
                  "--title", "Kick", "--size-px", "500x200", "--no-background", "--keys", 5, "-q")  # fmt: skip
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    wanted = strip(m, kp.select(m, "farthest", keys=5), layout="expanded", view=30.0, theme="dark", ghosts=1, rank=True,
                   title="Kick", size_px=(500, 200), background=False)  # fmt: skip
    assert target.read_text() == wanted.svg


@pytest.mark.parametrize(
    ("typed", "options"),
    [
        (("--keys", 6), {"method": "farthest", "keys": 6}),
        (("--method", "salient", "--keys", 6), {"method": "salient", "keys": 6}),
        (("--method", "salient", "--tolerance-mm", 40), {"method": "salient", "tolerance_mm": 40.0}),
        (("--keys", 4, "--joints", "hands"), {"method": "farthest", "keys": 4, "joints": "hands"}),
        (("--keys", 4, "--weight", "hands=3"), {"method": "farthest", "keys": 4, "weights": {"hands": 3.0}}),
        (("--keys", 4, "--range", "20:90"), {"method": "farthest", "keys": 4, "frames": (20, 90)}),
        (("--method", "refine"), {"method": "refine"}),
    ],
)
def test_keys_are_those_of_the_method(keypose, kick: Path, tmp_path: Path, typed, options) -> None:
    ran = keypose("strip", kick, tmp_path / "a.svg", *typed, "--json")
    (made,) = json.loads(ran.out)["pictures"]
    m = kp.load(kick)
    assert made["frames"] == list(kp.select(m, **options))
    assert made["times_s"] == [frame / m.fps for frame in made["frames"]]
    assert (made["method"], made["layout"], made["view"]) == (options["method"], "side", "best")
    assert 0 <= made["view_degrees"] < 360
    said = re.findall(r">(\d+)</text>", (tmp_path / "a.svg").read_text())
    assert said == [str(frame) for frame in made["frames"]]


def test_frames_may_be_said_outright(keypose, kick: Path, tmp_path: Path) -> None:
    assert keypose("strip", kick, tmp_path / "a.svg", "--mark", "30,3,88").code == 0
    assert (tmp_path / "a.svg").read_text() == strip(kp.load(kick), [3, 30, 88]).svg


def test_many_files_go_into_a_folder(keypose, clip, tmp_path: Path) -> None:
    clip("takes/a.bvh"), clip("takes/deep/b.bvh")
    ran = keypose("strip", tmp_path / "takes", tmp_path / "out", "--to", "svg", "--size-px", "320x90")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("2 of 2 clips drawn in ")
    for name in ("a.svg", "deep/b.svg"):
        svg = (tmp_path / "out" / name).read_text()
        assert 'width="320" height="90"' in svg
        assert svg.count("<g><path") >= 2
    again = keypose("strip", tmp_path / "takes", tmp_path / "out", "--to", "svg", "--skip-existing")
    assert (again.code, again.out.strip()) == (0, "2 that exist left out")
    assert keypose("strip", tmp_path / "takes" / "a.bvh", f"{tmp_path}/one/").code == 0
    assert (tmp_path / "one" / "a.png").read_bytes().startswith(b"\x89PNG")


def test_what_fails_is_said_and_the_others_are_drawn(keypose, clip, tmp_path: Path) -> None:
    clip("takes/a.bvh")
    (tmp_path / "takes" / "bad.bvh").write_text("HIERARCHY nonsense")
    ran = keypose("strip", tmp_path / "takes", tmp_path / "out", "--to", "svg", "--jobs", 2)
    assert ran.code == 1
    assert "bad.bvh" in ran.err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.svg"]


@pytest.mark.parametrize(
    ("typed", "code", "message"),
    [
        (("a.jpg",), 1, "a picture is written as one of .svg, .png"),
        (("a.svg", "--view", "behind"), 2, "--view behind: expected one of best, front"),
        (("a.svg", "--size-px", "320"), 2, "--size-px 320: expected WIDTHxHEIGHT, such as 320x90"),
        (("a.svg", "--mark", "1,2", "--keys", 3), 2, "--mark says which frames"),
        (("a.svg", "--mark", "1,2", "--joints", "hands"), 2, "--mark says which frames"),
        (("a.svg", "--keys", 3, "--auto"), 2, "cannot both be meant"),
        (("a.svg", "--method", "farthst"), 2, "did you mean farthest?"),
        (("a.svg", "--cost", "chord"), 2, "--cost is no option of farthest, but of salient"),
        (("a.svg", "--method", "salient", "--keys", 3, "--rank"), 1, "--rank, expected a --method that ranks its keys"),
        (("a.svg", "--layout", "time", "--per-row", 3), 2, "--per-row 3 with --layout time, expected it with"),
        (("a.svg", "--per-row", 0), 2, "--per-row 0, expected"),
        (("a.svg", "--mark", "100000"), 1, "keys: frame 100000, expected 0 to"),
        (("a.svg", "--size-px", "320x90", "--height-px", 90), 2, "cannot both be meant"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(keypose, kick: Path, tmp_path: Path, typed, code: int, message: str) -> None:
    ran = keypose("strip", kick, tmp_path / typed[0], *typed[1:])
    assert (ran.code, ran.out) == (code, "")
    assert message in " ".join(ran.err.split())
    assert not list(tmp_path.iterdir())


def test_pictures_are_not_overwritten_unasked(keypose, kick: Path, tmp_path: Path) -> None:
    target = tmp_path / "a.svg"
    target.write_text("mine")
    ran = keypose("strip", kick, target)
    assert ran.code == 1
    assert "exists already" in ran.err
    assert target.read_text() == "mine"
    assert keypose("strip", kick, target, "--overwrite").code == 0
    assert target.read_text().startswith("<svg")


def test_two_files_do_not_fit_into_one_picture(keypose, kick: Path, walk: Path, tmp_path: Path) -> None:
    ran = keypose("strip", kick, walk, tmp_path / "a.svg")
    assert ran.code == 2
    assert "is one picture, expected a folder" in " ".join(ran.err.split())
