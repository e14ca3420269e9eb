"""``keypose reduce-curves``: plain curves in CSV files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.cli.reduce_curves import read_curve_table
from support import cli_docs
from support.errors import raises

TIMES = np.arange(40) / 20
VALUES = {"jaw": np.sin(5 * TIMES), "brow": np.cos(3 * TIMES), "blink": (TIMES > 1).astype(float)}
TEXT = "time,jaw,brow,blink\n" + "".join(
    f"{row[0]!r},{row[1]!r},{row[2]!r},{row[3]!r}\n" for row in np.stack([TIMES, *VALUES.values()], axis=1).tolist()
)


def read_keys(path: Path) -> dict[str, np.ndarray]:
    with path.open(newline="") as file:
        heading, *rows = csv.reader(file)
    assert heading == ["curve", "time_s", "value", "in_tangent", "out_tangent"]
    return {
        name: np.array([row[1:] for row in rows if row[0] == name], float)
        for name in dict.fromkeys(row[0] for row in rows)
    }


def test_the_command_writes_exactly_the_keys_of_the_function(tmp_path, keypose):
    (tmp_path / "rig.csv").write_text(TEXT)
    expected = kp.reduce_curves(TIMES, VALUES, tolerance={"*": 0.01, "jaw": 0.1}, groups={"face": ["jaw", "brow"]})
    line = [
        "reduce-curves",
        tmp_path / "rig.csv",
        "--tolerance",
        "0.01",
        "--tolerance",
        "jaw=0.1",
        "--group",
        "face=jaw,brow",
    ]
    result = keypose(*line, tmp_path / "keys.csv")
    assert result.code == 0 and "keys for 3 curves of 40 samples" in result.out
    keys = read_keys(tmp_path / "keys.csv")
    for name, curve in expected.items():
        columns = [curve.times, curve.values, curve.in_tangents, curve.out_tangents]
        np.testing.assert_array_equal(keys[name], np.stack(columns, axis=1))
    assert keypose(*line, tmp_path / "keys.json").code == 0
    document = json.loads((tmp_path / "keys.json").read_text())
    assert document["interpolation"] == "bezier"
    for entry, curve in zip(document["curves"], expected.curves, strict=True):
        assert (entry["name"], entry["times_s"], entry["values"]) == (
            curve.name,
            curve.times.tolist(),
            curve.values.tolist(),
        )
        assert (entry["in_tangents"], entry["out_tangents"]) == (
            curve.in_tangents.tolist(),
            curve.out_tangents.tolist(),
        )
        assert (entry["max_error"], entry["group"]) == (curve.max_error, "blink" if curve.name == "blink" else "face")
    summary = json.loads(keypose(*line, "--json").out)
    assert set(summary) | set(summary["curves"][0]) <= cli_docs.documented_fields("reduce-curves")
    assert summary["target"] is None and summary["n_keys"] == expected.n_keys and summary["n_samples"] == 40
    assert [each["n_keys"] for each in summary["curves"]] == [len(curve) for curve in expected.curves]
    assert keypose(*line, tmp_path / "keys.csv").code == 1
    assert keypose(*line, tmp_path / "keys.csv", "--overwrite", "-q").out == ""


def test_the_command_takes_keys_frames_and_straight_lines(tmp_path, keypose):
    frames = [
        "Frame;jaw;brow",
        *(
            f"{i};{x!r};{y!r}"
            for i, (x, y) in enumerate(zip(VALUES["jaw"].tolist(), VALUES["brow"].tolist(), strict=True), 10)
        ),
    ]
    (tmp_path / "rig.csv").write_text("\ufeff" + "\r\n".join(frames) + "\r\n\r\n", "utf-8")
    result = keypose(
        "reduce-curves",
        tmp_path / "rig.csv",
        tmp_path / "k.csv",
        "--fps",
        20,
        "--keys",
        "jaw=7",
        "--keys",
        5,
        "--interpolation",
        "linear",
    )
    assert result.code == 0, result.err
    expected = kp.reduce_curves(
        np.arange(10, 50) / 20,
        {k: VALUES[k] for k in ("jaw", "brow")},
        keys={"jaw": 7, "brow": 5},
        interpolation="linear",
    )
    keys = read_keys(tmp_path / "k.csv")
    assert [len(keys[name]) for name in ("jaw", "brow")] == [len(expected["jaw"]), 5]
    assert 5 < len(expected["jaw"]) <= 7
    np.testing.assert_array_equal(keys["jaw"][:, 0], expected["jaw"].times)
    assert keypose("reduce-curves", tmp_path / "rig.csv", "--fps", 20, "--group", "all", "--keys", 6).code == 0


FAULTS = {
    "": {"code": "missing_data", "line": None},
    "time,a\n": {"code": "missing_data", "line": None},
    "time\n0\n": {"code": "missing_data", "line": 1},
    "0,1\n1,2\n": {"code": "syntax", "line": 1, "problem": "numbers in the first row"},
    "time,a,a\n0,1,2\n": {"code": "inconsistent", "line": 1, "problem": "column 3 is another 'a'"},
    "time,a,\n0,1,2\n": {"code": "inconsistent", "line": 1, "problem": "column 3 has no name"},
    "frame,a\n0,1\n": {"code": "missing_data", "line": 1, "expected": "seconds"},
    "time,a\n0,1\n\n1,x\n": {"code": "bad_number", "line": 4, "problem": "'x' in column 'a'"},
    "time,a\n0,1\n1,nan\n": {"code": "bad_number", "line": 3, "problem": "'nan' in column 'a'"},
    "time,a\n0,1\n1,\n": {"code": "bad_number", "line": 3, "problem": "nothing in column 'a'"},
    "time,a\n0,1_0\n": {"code": "bad_number", "line": 2},
    "time,a\n0,1\n1,2,3\n": {"code": "inconsistent", "line": 3, "problem": "3 values", "expected": "2"},
    "time,a\n0,1\n0,2\n": {"code": "inconsistent", "line": 3, "problem": "time 0 follows 0"},
    'time,a\n0,"1\n': {"code": "syntax", "line": 2, "problem": "no CSV: unexpected end of data"},
}  # fmt: skip


@pytest.mark.parametrize("text", FAULTS)
def test_bad_csv(text, tmp_path):
    path = tmp_path / "rig.csv"
    path.write_text(text)
    with raises(kp.FormatError, path=str(path), **FAULTS[text]):
        read_curve_table(path)


def test_a_file_that_is_no_text(tmp_path):
    (tmp_path / "rig.csv").write_bytes(b"time,a\n0,\xff\n")
    with raises(kp.FormatError, code="syntax", byte=9):
        read_curve_table(tmp_path / "rig.csv")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--tolerance", "x"], 2, "--tolerance x, expected NUMBER"),
        (["--tolerance", "nan"], 2, "--tolerance nan, expected NUMBER"),
        (["--tolerance", "=1"], 2, "--tolerance =1, expected NUMBER"),
        (["--tolerance", "1", "--tolerance", "2"], 2, "--tolerance 2, expected NUMBER"),
        (["--keys", "4.5"], 2, "--keys 4.5, expected NUMBER"),
        (["--keys", "4", "--tolerance", "1"], 2, "expected either --tolerance or --keys"),
        ([], 2, "expected either --tolerance or --keys"),
        (["--keys", "4", "--group", "face"], 2, "--group face, expected NAME=CURVE,CURVE"),
        (["--keys", "4", "--group", "face=jaw,lip"], 2, "--group: 'face' has no curve 'lip'"),
        (["--keys", "4", "--fps", "0"], 2, "--fps 0, expected a number above 0"),
        (["keys.txt", "--keys", "4"], 1, "expected a name that ends in .csv or .json"),
        (["rig.csv", "--keys", "4"], 1, "rig.csv: is the input file"),
        (["none/keys.csv", "--keys", "4"], 1, "no such folder"),
    ],
)
def test_wrong_command_lines(tmp_path, keypose, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    Path("rig.csv").write_text(TEXT)
    result = keypose("reduce-curves", "rig.csv", *arguments)
    assert (result.code, message in result.err) == (code, True), result.err
    assert Path("rig.csv").read_text() == TEXT
