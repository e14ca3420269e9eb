"""``keypose keys --table``: the keys of each joint as text, JSON and CSV, equal to ``kp.refine_table``."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

import keypose as kp
from cli.conftest import Keypose
from keypose.batch.keys import RefineTableJob, compute_clip_table
from keypose.cli import keys_table
from support import cli_docs

TABLE = ("--method", "refine", "--table")


def test_the_table_of_one_file(keypose: Keypose, walk: Path, motion: kp.Motion) -> None:
    result = keypose("keys", walk, *TABLE)
    assert (result.code, result.err) == (0, "")
    table = kp.refine_table(motion)
    lines = [re.split(r"\s{2,}", line.strip()) for line in result.out.splitlines()]
    start = next(n for n, cells in enumerate(lines) if cells[0] == "joint")
    assert lines[start] == list(table.columns())
    joints = lines[start + 2 : start + 2 + len(table.rows)]
    assert joints == [list(cells)[:7] for cells in zip(*table.columns().values(), strict=True)][:-1]
    assert f"keys of {len(table.rows)} joints by refine, threshold 0.13, from {motion.n_frames} frames" in result.out
    assert table.describe_errors() in result.out


def test_options_reach_the_table(keypose: Keypose, walk: Path, motion: kp.Motion) -> None:
    options = ("--threshold", 0.4, "--joints", "legs", "--range", "20:200", "--set", "min_range=0.1")
    result = keypose("keys", walk, *TABLE, *options, "--json")
    table = kp.refine_table(motion, threshold=0.4, joints="legs", frames=(20, 200), min_range=0.1)
    document = json.loads(result.out)
    assert document["options"] == {"threshold": 0.4, "joints": "legs", "min_range": 0.1}
    assert (document["range"], document["n_frames"], document["fps"]) == ([20, 200], motion.n_frames, motion.fps)
    assert [joint["joint"] for joint in document["joints"]] == [row.joint for row in table.rows]
    for joint, row in zip(document["joints"], table.rows, strict=True):
        assert joint["frames"] == list(row.key_frames)
        assert (joint["frames"][0], joint["frames"][-1]) == (20, 199)
        assert joint["keys_per_axis"] == list(row.keys_per_axis)
        assert joint["max_error_ratios"] == pytest.approx(list(row.max_error_ratios))
        assert joint["removed_ratio"] == pytest.approx(row.removed_ratio)
    assert document["mean"]["overlap_ratio"] == pytest.approx(table.mean_overlap_ratio)
    assert document["mean"]["median_error_ratio"] == pytest.approx(table.median_error_ratio)
    assert "threshold 0.4, from 180 frames (20 to 199 of" in keypose("keys", walk, *TABLE, *options).out
    assert cli_docs.documented_fields("keys") >= {*document, *document["mean"], *document["joints"][0]}


def test_a_csv_file_of_several_clips(keypose: Keypose, tmp_path: Path, motion: kp.Motion) -> None:
    folder, target = tmp_path / "takes", tmp_path / "keys.csv"
    folder.mkdir()
    parts = [motion[:90], motion[100:200]]
    for n, part in enumerate(parts):
        kp.save(part, folder / f"{n}.bvh")
    (folder / "broken.bvh").write_text("HIERARCHY")
    result = keypose("keys", folder, *TABLE, "--csv", target)
    assert result.code == 1 and "broken.bvh" in result.err
    rows = list(csv.DictReader(target.read_text().splitlines()))
    tables = [kp.refine_table(kp.load(folder / f"{n}.bvh")) for n in range(2)]
    expected = [(f"{n}.bvh", row) for n, table in enumerate(tables) for row in table.rows]
    assert len(rows) == len(expected)
    for cells, (name, row) in zip(rows, expected, strict=True):
        assert (Path(cells["file"]).name, cells["joint"]) == (name, row.joint)
        assert (int(cells["n_frames"]), int(cells["overlap"]), int(cells["keys"])) == (
            row.n_frames,
            row.overlap,
            row.keys,
        )
        assert tuple(int(cells[f"keys_axis_{axis}"]) for axis in (1, 2, 3)) == row.keys_per_axis
        errors = tuple(cells[f"max_error_ratio_axis_{axis}"] for axis in (1, 2, 3))
        assert tuple(float(each) if each else None for each in errors) == row.max_error_ratios
        assert float(cells["removed_ratio"]) == row.removed_ratio
    assert any(None in row.max_error_ratios for _, row in expected)
    again = keypose("keys", folder, *TABLE, "--csv", target)
    assert again.code != 0 and "exists already" in again.err
    assert keypose("keys", folder / "0.bvh", *TABLE, "--csv", target, "--overwrite").code == 0
    assert len(list(csv.DictReader(target.read_text().splitlines()))) == len(tables[0].rows)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_it_fits_the_terminal(walk: Path, width: int) -> None:
    job = RefineTableJob(walk)
    console = Console(width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(keys_table.build_view(compute_clip_table(job), job, width, legend=True))
    lines = capture.get().splitlines()
    assert max(map(cell_len, lines)) <= width
    heading = next(line for line in lines if "joint" in line and "keys" in line)
    assert "removed" in heading
    assert ("max error" in heading) == any(line.startswith("max error:") for line in lines) == (width >= 80)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--table"], "--table shows the keys of each joint, which salient does not select, expected --method refine"),
        ([*TABLE, "--keys", "4"], "--table cannot be combined with --keys"),
        ([*TABLE, "--auto"], "--table cannot be combined with --auto"),
        ([*TABLE, "--max-keys", "9"], "--table cannot be combined with --max-keys"),
        ([*TABLE, "--set", "sigma_s=1"], "--set sigma_s is no option of refine, but of saliency"),
        (["--csv", "a.csv"], "--csv a.csv says where the table goes, expected --table with it"),
        (["--overwrite"], "--overwrite has nothing to replace, expected --csv FILE with it"),
    ],
)
def test_a_wrong_command_line(keypose: Keypose, walk: Path, arguments: list[str], message: str) -> None:
    result = keypose("keys", walk, *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_a_wrong_csv_file(keypose: Keypose, walk: Path, tmp_path: Path) -> None:
    assert "expected a name that ends in .csv" in keypose("keys", walk, *TABLE, "--csv", tmp_path / "a.txt").err
    assert "no such folder" in keypose("keys", walk, *TABLE, "--csv", tmp_path / "no" / "a.csv").err
    assert not list(tmp_path.glob("a.*"))
