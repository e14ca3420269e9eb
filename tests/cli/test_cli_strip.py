"""``keypose strip``: draw the key poses of files."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.pictures.strip import strip
from support.errors import Pattern, check_json_error


def test_picture_is_written_and_reported(keypose, kick: Path, tmp_path: Path) -> None:
    for name, start in (("a.svg", b"<svg"), ("a.png", b"\x89PNG")):
        result = keypose("strip", kick, tmp_path / name)
        assert (result.code, result.err) == (0, "")
        assert (tmp_path / name).read_bytes().startswith(start)
        assert f"{tmp_path / name}: " in result.out
        unit = "px" if name.endswith("svg") else "pixels"
        assert f" {unit}. 8 poses of kick side by side, at frames " in result.out
    assert (tmp_path / "a.svg").read_text() == strip(kp.load(kick)).svg


def test_an_exact_size_is_that_of_the_file(keypose, kick: Path, tmp_path: Path) -> None:
    target = tmp_path / "a.png"
    for more, size in (((), (320, 90)), (("--scale", "2", "--overwrite"), (640, 180))):
        result = keypose("strip", kick, target, "--size-px", "320x90", *more)
        assert struct.unpack(">II", target.read_bytes()[16:24]) == size
        assert f"{target}: {size[0]} x {size[1]} pixels. " in result.out
    (payload,) = json.loads(keypose("strip", kick, target, "--height-px", "90", "--overwrite", "--json").out)[
        "pictures"
    ]
    assert (payload["width_pixels"], payload["height_pixels"]) == (2 * payload["width_px"], 2 * payload["height_px"])
    assert struct.unpack(">II", target.read_bytes()[16:24]) == (payload["width_pixels"], payload["height_pixels"])


def test_its_help_names_its_own_method(keypose) -> None:
    text = " ".join(re.sub(r"[│╭╰─╮╯]", " ", keypose("strip", "--help").out).split())
    assert "[default: farthest]" in text
    assert "[default: salient]" not in text


def test_rows(keypose, kick: Path, tmp_path: Path) -> None:
    assert keypose("strip", kick, tmp_path / "a.svg", "--keys", 7, "--per-row", 4).code == 0
    m = kp.load(kick)
    assert (tmp_path / "a.svg").read_text() == strip(m, kp.select(m, "farthest", keys=7), per_row=4).svg


def test_options_match_the_api(keypose, kick: Path, tmp_path: Path) -> None:
    target, m = tmp_path / "a.svg", kp.load(kick)
    result = keypose("strip", kick, target, "--layout", "expanded", "--view", "30", "--theme", "dark", "--ghosts", 1, "--rank",
                  "--title", "Kick", "--size-px", "500x200", "--no-background", "--keys", 5, "-q")  # fmt: skip
    assert (result.code, result.out, result.err) == (0, "", "")
    expected = strip(m, kp.select(m, "farthest", keys=5), layout="expanded", view=30.0, theme="dark", ghosts=1, rank=True,
                   title="Kick", size_px=(500, 200), background=False)  # fmt: skip
    assert target.read_text() == expected.svg


@pytest.mark.parametrize(
    ("arguments", "options"),
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
def test_keys_are_those_of_the_method(keypose, kick: Path, tmp_path: Path, arguments, options) -> None:
    result = keypose("strip", kick, tmp_path / "a.svg", *arguments, "--json")
    (payload,) = json.loads(result.out)["pictures"]
    m = kp.load(kick)
    (row,) = payload["rows"]
    assert row["frames"] == list(kp.select(m, **options))
    assert row["times_s"] == [frame / m.fps for frame in row["frames"]]
    assert (row["method"], payload["layout"], payload["view"]) == (options["method"], "side", "best")
    assert 0 <= payload["view_degrees"] < 360
    matches = re.findall(r">(\d+)</text>", (tmp_path / "a.svg").read_text())
    assert matches == [str(frame) for frame in row["frames"]]


def test_each_method_has_a_labelled_row(keypose, kick: Path, tmp_path: Path) -> None:
    target, m, names = tmp_path / "a.svg", kp.load(kick), ("farthest", "spread", "synopsis")
    options = {"keys": 5, "features": "unmatched", "smoothing_s": 0.05, "weights": {"hands": 2.0}}
    selections = {name: kp.select(m, name, **options) for name in names}
    for layout in ("side", "time"):
        result = keypose("strip", kick, target, "--methods", "farthest,spread", "--methods", "synopsis", "--keys", 5,
                         "--features", "unmatched", "--smoothing-s", 0.05, "--weight", "hands=2", "--layout", layout,
                         "--overwrite", "--json")  # fmt: skip
        assert (result.code, result.err) == (0, "")
        (payload,) = json.loads(result.out)["pictures"]
        assert {row["method"]: row["frames"] for row in payload["rows"]} == {
            name: list(keys) for name, keys in selections.items()
        }
        expected = strip(m, {f"{name}, 5 keys": keys for name, keys in selections.items()}, layout=layout)
        assert target.read_text() == expected.svg
        assert payload["description"] == expected.alt_text


def test_options_of_the_features_choose_other_keys(keypose, kick: Path, tmp_path: Path) -> None:
    def frames(*arguments: object) -> list[int]:
        result = keypose("strip", kick, tmp_path / "a.svg", "--keys", 6, *arguments, "--overwrite", "--json")
        return json.loads(result.out)["pictures"][0]["rows"][0]["frames"]

    m = kp.load(kick)
    assert frames("--features", "unmatched") == list(kp.select(m, "farthest", keys=6, features="unmatched"))
    assert frames("--smoothing-s", 0.2) == list(kp.select(m, "farthest", keys=6, smoothing_s=0.2))
    assert len({tuple(frames(*each)) for each in ((), ("--features", "unmatched"), ("--smoothing-s", 0.2))}) > 1


def test_mark_option_sets_frames(keypose, kick: Path, tmp_path: Path) -> None:
    assert keypose("strip", kick, tmp_path / "a.svg", "--mark", "30,3,88").code == 0
    assert (tmp_path / "a.svg").read_text() == strip(kp.load(kick), [3, 30, 88]).svg


def test_many_files_go_into_a_folder(keypose, clip, tmp_path: Path) -> None:
    clip("takes/a.bvh"), clip("takes/deep/b.bvh")
    result = keypose("strip", tmp_path / "takes", tmp_path / "out", "--to", "svg", "--size-px", "320x90")
    assert result.code == 0, result.err
    assert result.out.startswith("2 of 2 clips drawn in ")
    for name in ("a.svg", "deep/b.svg"):
        svg = (tmp_path / "out" / name).read_text()
        assert 'width="320" height="90"' in svg
        assert svg.count("<g><path") >= 2
    again = keypose("strip", tmp_path / "takes", tmp_path / "out", "--to", "svg", "--skip-existing")
    assert (again.code, again.out.strip()) == (0, "2 existing skipped")
    assert keypose("strip", tmp_path / "takes" / "a.bvh", f"{tmp_path}/one/").code == 0
    assert (tmp_path / "one" / "a.png").read_bytes().startswith(b"\x89PNG")


def test_failures_are_reported_and_others_are_drawn(keypose, clip, tmp_path: Path) -> None:
    clip("takes/a.bvh")
    (tmp_path / "takes" / "bad.bvh").write_text("HIERARCHY nonsense")
    result = keypose("strip", tmp_path / "takes", tmp_path / "out", "--to", "svg", "--jobs", 2)
    assert result.code == 1
    assert "bad.bvh" in result.err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.svg"]


@pytest.mark.parametrize(
    ("arguments", "code", "fields"),
    [
        (("a.jpg",), 1, {"expected": "one of .svg, .png"}),
        (("a.svg", "--view", "behind"), 2, {"option": "view", "value": "behind", "expected": Pattern("^one of best, front, ")}),
        (("a.svg", "--size-px", "320"), 2, {"option": "size_px", "value": "320", "expected": "WIDTHxHEIGHT, such as 320x90"}),
        (("a.svg", "--mark", "1,2", "--keys", 3), 2, {"option": "mark", "hint": "omit the options that select keys by a method"}),
        (("a.svg", "--mark", "1,2", "--joints", "hands"), 2, {"option": "mark", "hint": "omit the options that select keys by a method"}),
        (("a.svg", "--keys", 3, "--auto"), 2, {"code": "conflicting_options", "option": "keys", "error": Pattern("cannot be combined with --auto")}),
        (("a.svg", "--method", "farthst"), 2, {"option": "method", "value": "farthst", "expected": Pattern("did you mean farthest.$")}),
        (("a.svg", "--cost", "chord"), 2, {"code": "unknown_option", "value": "cost", "error": Pattern("of farthest, but of salient")}),
        (("a.svg", "--method", "salient", "--keys", 3, "--rank"), 1, {"option": "rank", "value": True, "expected": "a --method that ranks its keys, such as farthest"}),
        (("a.svg", "--layout", "time", "--per-row", 3), 2, {"option": "per_row", "value": 3, "expected": "it with side: only poses side by side have rows"}),
        (("a.svg", "--methods", "farthest,spread", "--layout", "path"), 2, {"option": "layout", "value": "path", "expected": "side or time"}),
        (("a.svg", "--methods", "farthest,spread", "--per-row", 3), 2, {"option": "per_row", "value": 3, "expected": "it with a single one"}),
        (("a.svg", "--methods", "farthest,spread", "--method", "spread"), 2, {"code": "conflicting_options", "option": "methods"}),
        (("a.svg", "--methods", "farthest,spread", "--rank"), 1, {"option": "rank", "value": True}),
        (("a.svg", "--methods", "farthest,spred"), 2, {"option": "method", "value": "spred", "expected": Pattern("did you mean spread.$")}),
        (("a.svg", "--methods", "farthest,salient", "--cost", "chord"), 2, {"code": "unknown_option", "value": "cost"}),
        (("a.svg", "--methods", "farthest", "--mark", "1,2"), 2, {"option": "mark"}),
        (("a.svg", "--per-row", 0), 2, {"option": "per_row", "value": 0, "expected": "at least 1"}),
        (("a.svg", "--mark", "100000"), 1, {"option": "keys", "expected": "0 to 159"}),
        (("a.svg", "--size-px", "320x90", "--height-px", 90), 2, {"option": "size_px", "hint": "omit --height-px and --width-px"}),
    ],
)  # fmt: skip
def test_contradictory_options_are_refused(
    keypose, kick: Path, tmp_path: Path, arguments, code: int, fields: dict[str, Any]
) -> None:
    line = ("strip", kick, tmp_path / arguments[0], *arguments[1:])
    result, as_json = keypose(*line), keypose(*line, "--json")
    assert (result.code, result.out) == (as_json.code, "") == (code, "")
    assert check_json_error(as_json.out, **fields) in result.err
    assert not list(tmp_path.iterdir())


def test_existing_pictures_need_overwrite(keypose, kick: Path, tmp_path: Path) -> None:
    target = tmp_path / "a.svg"
    target.write_text("mine")
    result = keypose("strip", kick, target)
    assert result.code == 1
    assert "exists already" in result.err
    assert target.read_text() == "mine"
    assert keypose("strip", kick, target, "--overwrite").code == 0
    assert target.read_text().startswith("<svg")


def test_two_files_do_not_fit_into_one_picture(keypose, kick: Path, walk: Path, tmp_path: Path) -> None:
    result = keypose("strip", kick, walk, tmp_path / "a.svg")
    assert result.code == 2
    assert "is one picture, expected a folder" in " ".join(result.err.split())
