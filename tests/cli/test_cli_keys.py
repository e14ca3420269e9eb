"""``keypose keys`` and ``keypose methods`` match the Python API."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

import keypose as kp
from keypose.batch.keys import KeysJob, KeysResult, select_clip_keys
from keypose.cli import keys as keys_command
from keypose.cli.options import METHOD_FLAGS, option_flag
from keypose.curves import interpolate_linear
from support import cli_docs
from support.flips import turn_over

METHODS = [method.name for method in kp.methods()]


def rows(text: str) -> list[dict[str, str]]:
    """Parse the table of keys into rows by heading."""
    lines = text.splitlines()
    (start,) = [n for n, line in enumerate(lines) if line.strip().startswith("key ")]
    headings = re.split(r"\s{2,}", lines[start].strip())
    end = next(n for n in range(start + 2, len(lines)) if not lines[n].strip())
    return [dict(zip(headings, line.split(), strict=True)) for line in lines[start + 2 : end]]


def document(result) -> dict:
    return json.loads(result.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_a_table_of_keys(keypose, walk: Path, motion: kp.Motion) -> None:
    result = keypose("keys", walk, "--keys", 12)
    assert (result.code, result.err) == (0, "")
    table = rows(result.out)
    frames = kp.select(motion, "salient", keys=12).frames.tolist()
    assert [int(row["key"]) for row in table] == list(range(1, 13))
    assert [int(row["frame"]) for row in table] == frames
    assert [row["time s"] for row in table] == [f"{frame / 20:.3f}" for frame in frames]
    assert list(table[0]) == ["key", "frame", "time s", "rank", "cost", "max mm", "without mm", "extreme"]
    assert table[-1]["max mm"] == "-"
    assert (
        f"12 keys of {motion.n_frames} frames, {100 * (1 - 12 / motion.n_frames):.1f} % removed, by salient; "
        in result.out
    )
    rebuilt = kp.score(motion, interpolate_linear(motion, frames))
    assert f"{rebuilt.max_mm:.0f} mm at most" in result.out
    assert max(float(row["max mm"]) for row in table[:-1]) == pytest.approx(rebuilt.max_mm, abs=0.06)


@pytest.mark.parametrize("method", METHODS)
def test_ranks_and_costs_where_the_method_ranks(keypose, walk: Path, motion: kp.Motion, method: str) -> None:
    table = rows(keypose("keys", walk, "--method", method, "--keys", 9).out)
    ladder = kp.ladder(motion, method)
    order = ladder.at(9).order
    assert ("cost" in table[0]) == (order is not None or method == "salient")
    by_rank = sorted(table, key=lambda row: int(row["rank"]))
    assert [int(row["rank"]) for row in by_rank] == list(range(1, 10))
    if order is None:
        worth = [float(row["without mm"]) for row in by_rank]
        assert worth == sorted(worth, reverse=True)
        if method == "salient":
            assert max(float(row["cost"]) for row in table[:-1]) == pytest.approx(ladder.costs[9], rel=1e-3)
            assert table[-1]["cost"] == "-"
    else:
        assert [int(row["frame"]) for row in by_rank] == order.tolist()
        costs = [f"{ladder.costs[n]:.4g}" if n in ladder.counts else "-" for n in range(1, 10)]
        assert [row["cost"] for row in by_rank] == costs


@pytest.mark.parametrize("method", METHODS)
def test_json_matches_the_api(keypose, walk: Path, motion: kp.Motion, method: str) -> None:
    result = keypose("keys", walk, "--method", method, "--keys", 9, "--json")
    assert (result.code, result.err) == (0, "")
    payload = document(result)
    ladder = kp.ladder(motion, method)
    selection = ladder.at(9)
    assert payload["file"] == str(walk)
    assert payload["method"] == method
    assert payload["options"] == {"keys": 9}
    assert payload["chosen_by"] == "keys"
    assert (payload["n_frames"], payload["fps"], payload["first_frame"]) == (motion.n_frames, 20.0, 0)
    assert payload["range"] == [0, motion.n_frames]
    assert payload["frames"] == list(selection)
    assert payload["times_s"] == [frame / 20.0 for frame in selection]
    assert payload["order"] == (None if selection.order is None else selection.order.tolist())
    assert payload["cost"] == ladder.costs[9]
    assert payload["curve"] == [{"keys": keys, "cost": cost} for keys, cost in ladder.costs.items()]
    assert payload["cliffs"] == [cliff.keys for cliff in ladder.cliffs()]
    computed = {name for name, value in payload["score"].items() if value is not None}
    assert computed == {"mean_mm", "p95_mm", "max_mm", "worst_frame", "worst_joint", "max_outside_flips_mm"}
    assert len(payload["span_mm"]) == len(payload["without_mm"]) == len(payload["extreme_parts"]) == 9
    assert {part for parts in payload["extreme_parts"] for part in parts} & {"left_hand", "right_hand"}
    if method == "salient":
        assert max(payload["span_cost"]) == pytest.approx(payload["cost"], rel=1e-9)
    else:
        assert payload["span_cost"] is None
    assert max(payload["span_mm"]) == payload["score"]["max_mm"]


def test_docs_name_every_json_field(keypose, walk: Path) -> None:
    assert set(document(keypose("keys", walk, "--keys", 3, "--json"))) <= cli_docs.documented_fields("keys")


def test_automatic_keys_of_a_flipped_capture(keypose, motion: kp.Motion, tmp_path: Path) -> None:
    flipped = turn_over(motion, "LeftArm", (61, 63))
    kp.save(flipped, tmp_path / "flipped.bvh")
    text, as_json = (keypose("keys", tmp_path / "flipped.bvh", "--auto", *more) for more in ([], ["--json"]))
    payload = document(as_json)
    assert payload["cost_unit"] == "mm" and "cost in mm against number of keys" in text.out
    assert payload["score"]["max_outside_flips_mm"] <= 17.0 < 100 < payload["score"]["max_mm"]
    assert max(payload["span_mm"]) <= 17.0
    pattern = r"fitted in-betweens are off by \S+ mm on average, .* (\S+) mm at most in a flip of the capture, (\S+) mm outside"
    match = re.search(pattern, text.out)
    assert match is not None and float(match[1]) > 100 and float(match[2]) <= 17.0
    chords = document(keypose("keys", tmp_path / "flipped.bvh", "--keys", 9, "--json"))
    assert chords["cost_unit"] is None


def test_how_many_keys(keypose, walk: Path, motion: kp.Motion) -> None:
    for arguments, options, message in (
        (["--auto"], {"auto": True}, "; for fitted curves within 1 % of the figure\n"),
        (
            [],
            {"auto": True},
            "; for fitted curves within 1 % of the figure (change it with --keys or --tolerance-mm)\n",
        ),
        (["--tolerance-mm", 80], {"tolerance_mm": 80.0}, "; the fewest within 80 mm\n"),
        (
            ["--method", "saliency"],
            {"method": "saliency"},
            "; saliency's own number (change it with --keys or --tolerance-mm)\n",
        ),
        (["--method", "saliency", "--keys", 5], {"method": "saliency", "keys": 5}, " at 20 fps\n"),
    ):
        result = keypose("keys", walk, *arguments)
        assert [int(row["frame"]) for row in rows(result.out)] == list(kp.select(motion, **options))
        assert message in result.out


def test_every_option_arrives(keypose, walk: Path, motion: kp.Motion) -> None:
    arguments = [
        "--objective=sum", "--cost=integrated", "--pin=30,88", "--pin=13", "--exclude=40,41", "--min-gap-frames=3",
        "--max-gap-frames=60", "--threads=1", "--joints=hands,head", "--joints=feet", "--weight=hands=3,head=2",
        "--weight=left_foot=0.5", "--features=root_matched", "--smoothing-s=0.05", "--max-keys=40", "--range=10:200",
    ]  # fmt: skip
    options = {
        "objective": "sum", "cost": "integrated", "pins": (30, 88, 13), "excluded": (40, 41), "min_gap_frames": 3,
        "max_gap_frames": 60, "threads": 1, "joints": ("hands", "head", "feet"),
        "weights": {"hands": 3.0, "head": 2.0, "left_foot": 0.5}, "features": "root_matched", "smoothing_s": 0.05,
        "max_keys": 40,
    }  # fmt: skip
    payload = document(keypose("keys", walk, "--keys", 15, "--json", *arguments))
    assert payload["options"] == json.loads(json.dumps({"keys": 15, **options}))
    assert payload["range"] == [10, 200]
    ladder = kp.ladder(motion, frames=(10, 200), **options)
    assert payload["frames"] == list(ladder.at(15))
    assert payload["curve"] == [{"keys": keys, "cost": cost} for keys, cost in ladder.costs.items()]
    assert {13, 30, 88} <= set(payload["frames"])


def test_contacts_are_pinned(keypose, walk: Path, motion: kp.Motion) -> None:
    payload = document(keypose("keys", walk, "--pin", "contacts,7", "--json"))
    assert payload["frames"] == list(kp.select(motion, auto=True, pins=("contacts", 7)))
    assert 7 in payload["frames"]


def test_a_loop(keypose, tmp_path: Path) -> None:
    demo = kp.demo_motion(fps=10.0)
    there = demo[10:25]
    back = replace(there, translations=there.translations[::-1][1:], rotations=there.rotations[::-1][1:])
    kp.save(kp.concatenate([there, back]), tmp_path / "loop.bvh")
    payload = document(keypose("keys", tmp_path / "loop.bvh", "--loop", "--keys", 3, "--json"))
    assert payload["frames"] == list(kp.select(kp.load(tmp_path / "loop.bvh"), loop=True, keys=3))
    assert payload["options"] == {"keys": 3, "loop": True}


@pytest.mark.parametrize("method", kp.methods(), ids=lambda method: method.name)
def test_every_option_of_every_method_can_be_given(keypose, walk: Path, method) -> None:
    values = {bool: "true", int: "2", float: "0.2", tuple: "3", str: None, type(None): "100"}
    for name, default in method.options.items():
        value = values[type(default)] or default
        arguments = (
            [METHOD_FLAGS[name]]
            if name == "loop"
            else [METHOD_FLAGS[name], value]
            if name in METHOD_FLAGS
            else ["--set", f"{name}={value}"]
        )
        if name in ("limit_mm", "top_only"):
            arguments += ["--cost", "inbetween"]
        result = keypose("keys", walk, "--method", method.name, "--keys", 20, "--json", *arguments)
        payload = document(result)
        if name == "loop":
            assert "--loop needs a last pose like the first" in payload["error"]
        else:
            assert result.code == 0, payload
            assert name in payload["options"]


def test_a_range_counts_frames_of_the_whole_clip(keypose, walk: Path, motion: kp.Motion) -> None:
    for text, frames in (
        ("100:", (100, None)),
        (":60", (None, 60)),
        ("50:9999", (50, None)),
        ("-40:", (motion.n_frames - 40, None)),
    ):
        result = keypose("keys", walk, "--keys", 6, f"--range={text}")
        assert [int(row["frame"]) for row in rows(result.out)] == list(kp.select(motion, keys=6, frames=frames))
        start, stop, _ = slice(*frames).indices(motion.n_frames)
        assert f"6 keys of {stop - start} frames ({start} to {stop - 1} of {motion.n_frames})" in result.out


def test_source_frame_number_is_printed(keypose, walk: Path) -> None:
    assert "source" not in keypose("keys", walk, "--keys", 4).out
    result = keypose("keys", walk, "--keys", 4, "--reference-pose", "drop")
    assert all(int(row["source"]) == int(row["frame"]) + 1 for row in rows(result.out))
    assert "source: number of the frame in the file" in result.out
    assert result.err.startswith(f"note: {walk}: ")


def test_several_files(keypose, clip, walk: Path, tmp_path: Path) -> None:
    one, bad = clip("takes/a.bvh", frames=30), clip("takes/b.bvh", frames=0)
    result = keypose("keys", walk, one, bad, "--keys", 5)
    assert result.code == 1
    assert [line for line in result.out.splitlines() if line.endswith(".bvh")] == [str(walk), str(one)]
    assert result.err.startswith(f"error: {bad}:")
    for names in ([walk, one, bad], [tmp_path / "takes"], [f"{tmp_path}/takes/*.bvh"]):
        payload = document(keypose("keys", *names, "--keys", 5, "--json"))
        assert isinstance(payload, list)
        assert payload[-1]["file"] == str(bad)
        assert payload[-1]["error_kind"] == "FormatError"
        assert len(payload[0]["frames"]) == 5
    payload = document(keypose("keys", bad, "--keys", 5, "--json"))
    assert list(payload) == ["file", "error", "error_kind", "error_fields", "warnings"]
    result = keypose("keys", walk, tmp_path / "none*", "--keys", 5, "--json")
    assert [document.get("error_kind") for document in json.loads(result.out)] == [None, "FileError"]
    assert result.code == 1


def test_the_same_in_several_processes(keypose, clip) -> None:
    files = [clip(f"{n}.bvh", frames=20 + n) for n in range(6)]
    alone, together = (keypose("keys", *files, "--keys", 4, "--json", "--jobs", jobs) for jobs in (1, 2))
    assert alone == together
    assert alone.code == 0


def test_a_figure_without_height(keypose, clip) -> None:
    path = clip(frames=30)
    path.write_text(path.read_text().replace("OFFSET 0 12 0.5", "OFFSET 0 0 0").replace("OFFSET 0 9 1", "OFFSET 0 0 0"))
    result = keypose("keys", path, "--keys", 5)
    assert result.code == 0
    assert list(rows(result.out)[0]) == ["key", "frame", "time s", "cost"]
    assert "no error in mm: the figure has no height" in result.out
    payload = document(keypose("keys", path, "--keys", 5, "--json"))
    assert payload["score"] is payload["span_mm"] is payload["without_mm"] is None
    result = keypose("keys", path, "--tolerance-mm", 5)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "the figure has no height" in result.err


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("frames", [1, 2, 3])
def test_the_shortest_clips(keypose, clip, method: str, frames: int) -> None:
    path = clip(frames=frames)
    result = keypose("keys", path, "--method", method, "--reference-pose", "keep")
    assert (result.code, result.err) == (0, "")
    assert rows(result.out)
    payload = document(keypose("keys", path, "--method", method, "--reference-pose", "keep", "--json"))
    assert all(math.isfinite(payload["score"][name]) for name in ("mean_mm", "p95_mm", "max_mm"))
    assert (payload["without_mm"] is None) == (len(payload["frames"]) == 1)


def test_the_plot_can_be_left_out(keypose, walk: Path) -> None:
    with_plot, without = keypose("keys", walk, "--keys", 6).out, keypose("keys", walk, "--keys", 6, "--no-plot").out
    assert with_plot.startswith(without)
    assert "● 6 keys: cost " in with_plot
    assert "●" not in without
    assert "\x1b" not in with_plot


def test_a_terminal_without_unicode(program, walk: Path) -> None:
    result = program("keys", walk, "--keys", 6, env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert result.code == 0
    assert result.out.isascii()
    assert "\\u" not in result.out
    assert "O 6 keys: cost " in result.out


@pytest.fixture(scope="module")
def build_clip_keys(walk: Path) -> KeysResult:
    return replace(select_clip_keys(KeysJob(walk, method="farthest", keys=12)), first_frame=1)


@pytest.mark.parametrize(
    ("width", "headings"),
    [
        (120, "key frame source time s rank cost max mm without mm extreme"),
        (80, "key frame time s rank cost max mm without mm extreme"),
        (50, "key frame time s rank max mm without mm"),
        (40, "key frame time s max mm without mm"),
        (30, "key frame time s max mm"),
    ],
)
def test_on_a_terminal_of_some_width(build_clip_keys: KeysResult, width: int, headings: str) -> None:
    console = Console(width=width, highlight=False)
    with console.capture() as text:
        console.print(
            keys_command.build_view(
                build_clip_keys, KeysJob(Path("walk.bvh")), width, legend=True, plot=True, plain=False
            )
        )
    lines = text.get().splitlines()
    assert all(cell_len(line) <= width for line in lines)
    assert any(line.split() == headings.split() for line in lines)
    assert sum("●" in line for line in lines) == 2  # in the plot and below it


def test_many_keys_are_truncated(build_clip_keys: KeysResult, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys_command, "MAX_ROWS", 5)
    console = Console(width=100, highlight=False)
    with console.capture() as text:
        console.print(
            keys_command.build_view(
                build_clip_keys, KeysJob(Path("walk.bvh")), 100, legend=True, plot=False, plain=False
            )
        )
    assert "and 7 more keys; --json has all" in text.get()
    printed_rows = rows(text.get().replace("and 7", "\nand 7"))
    assert [row["max mm"] for row in printed_rows] == [f"{mm:.1f}" for mm in build_clip_keys.span_mm[:5]]


def test_an_interrupt_is_quiet(keypose, walk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("keypose.batch.keys.select_with_report", interrupt)
    result = keypose("keys", walk)
    assert (result.code, result.out, result.err) == (130, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_broken_pipe_is_no_error(walk: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        completed = subprocess.run(
            [sys.executable, "-m", "keypose", "keys", walk, "--keys", "4"],
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    finally:
        os.close(writing)
    assert (completed.returncode, completed.stderr) == (141, b"")


def test_methods_are_listed_with_their_options(keypose) -> None:
    result = keypose("methods")
    assert (result.code, result.err) == (0, "")
    listed = json.loads(keypose("methods", "--json").out)
    assert [row["name"] for row in listed] == METHODS
    for row, method in zip(listed, kp.methods(), strict=True):
        assert f"{method.name}: {method.summary}\n" in result.out
        assert method.paper in result.out
        assert {option["name"]: option["flag"] for option in row["options"]} == {
            o: option_flag(o) for o in method.options
        }
        for option in row["options"]:
            assert option["flag"] in result.out
            assert option["help"] in result.out


@pytest.mark.data
def test_real_clips(keypose, data_dir: Path) -> None:
    result = keypose("keys", data_dir / "cmu120" / "09_01.bvh", "--keys", 12, "--json")
    payload = document(result)
    assert (result.code, len(payload["frames"]), payload["first_frame"]) == (0, 12, 1)
    markers = data_dir / "c3d" / "qualisys.c3d"
    assert len(document(keypose("keys", markers, "--keys", 6, "--json"))["frames"]) == 6
    result = keypose("keys", markers, "--keys", 6, "--pin", "contacts")
    assert result.code == 1
    assert "--pin contacts has nothing to pin: no foot is recognised" in result.err
