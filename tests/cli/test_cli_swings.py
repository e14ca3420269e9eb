"""``keypose swings`` matches the Python API."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.api.swings import sweep, swings_within
from keypose.batch import pool
from keypose.batch.swing_edit import EditReport, SwingEditResult
from keypose.batch.swings import JointSwingStats
from keypose.cli import swings
from keypose.cli.unbake import format_mm
from keypose.swings import Settings
from keypose.swings.codec import SwingSize
from support import cli_docs
from support.swings_cases import document


def test_one_file_matches_the_api(keypose, kick: Path, capture: kp.Motion, kick_swings: kp.Swings) -> None:
    result = keypose("swings", kick)
    assert (result.code, result.err) == (0, "")
    turning = [track for track in kick_swings.tracks if track.n_swings]
    assert f"{kick_swings.n_swings} of {len(turning)} joints; threshold 0.4" in result.out
    assert f"{format_mm(kick_swings.error(capture))} degrees, all angles of a frame together; " in result.out
    assert f"{format_mm(kick_swings.error(capture, per='angle'))} per angle" in result.out
    assert f"{format_mm(kp.score(capture, kick_swings.play()).max_mm)} mm at most" in result.out
    assert f"{100 * kick_swings.size().ratio:.0f} % of all frames" in result.out
    for track in turning:
        row = next(line for line in result.out.splitlines() if line.startswith(f" {track.joint} "))
        cells = row.split()
        assert str(track.n_swings) in cells
        assert f"{np.rad2deg(track.angles).max():.0f}" in cells
        assert f"{(track.ends - track.starts).max() / 30:.2f}" in cells
    still = [track.joint for track in kick_swings.tracks if not track.n_swings and not track.keyed]
    assert all(name in result.out for name in still)


def test_joints_option_filters_rows(keypose, kick: Path, kick_swings: kp.Swings) -> None:
    text = keypose("swings", kick, "--joints", "right_leg").out
    names = [kick_swings.skeleton.names[j] for j in kick_swings.skeleton.joints("right_leg")]
    assert all(re.search(rf"^ {name} ", text, re.MULTILINE) for name in names)
    assert not re.search(r"^ (LeftArm|LeftUpLeg) ", text, re.MULTILINE)


def test_a_selection_lists_the_swings_that_fit(keypose, kick: Path, kick_swings: kp.Swings) -> None:
    result = keypose("swings", kick, "--joints", "right_leg", "--longer-s", 0.2, "--wider-deg", 10)
    chosen = kick_swings.find("right_leg", longer_s=0.2, wider_deg=10)
    rows = [line.split() for line in result.out.splitlines() if re.match(r" Right", line)]
    assert len(rows) == len(chosen) > 2
    for row, swing in zip(rows, chosen, strict=True):
        assert row[0] == swing.joint and row[3] == f"{swing.start}-{swing.end}"
        assert int(row[2]) == kick_swings[swing.joint].index(swing) and f"{swing.angle_deg:.1f}" in row
    listed = document(keypose("swings", kick, "--joints", "right_leg", "--longer-s", 0.2, "--wider-deg", 10, "--json"))
    assert [(s["joint"], s["start"], s["end"]) for s in listed["matches"]] == [
        (s.joint, s.start, s.end) for s in chosen
    ]
    assert "no swing fits" in keypose("swings", kick, "--longer-s", 6).out


def test_settings_match_the_api(keypose, kick: Path, capture: kp.Motion) -> None:
    options = {
        "threshold": 0.3,
        "metric": "cosine",
        "smoothing_s": 0.1,
        "window_s": 0.2,
        "min_duration_s": 0.2,
        "rest_rad_per_s": 0.3,
        "translation_mm": 5.0,
        "fallback": "keys",
        "fallback_deg": 6.0,
    }
    line = [text for name, value in options.items() for text in (f"--{name.replace('_', '-')}", value)]
    payload = document(keypose("swings", kick, *line, "--left-out", "head,hands", "--json"))
    expected = kp.swings(capture, left_out=["head", "hands"], **options)  # type: ignore[arg-type]
    assert payload["settings"] == asdict(expected.settings) | {"left_out": list(expected.settings.left_out)}
    assert payload["settings"] | options == payload["settings"]
    assert payload["error_deg"] == expected.error(capture) and payload["n_swings"] == expected.n_swings
    left_out = {joint["joint"] for joint in payload["joints"] if joint["left_out"]}
    assert (
        left_out
        == {*expected.settings.left_out}
        == {capture.skeleton.names[j] for j in capture.skeleton.joints(["head", "hands"])}
    )
    none = document(keypose("swings", kick, "--left-out", "none", "--json"))
    assert not any(joint["left_out"] for joint in none["joints"])


def test_the_defaults_that_are_stated(keypose) -> None:
    defaults, text = Settings(), " ".join(keypose("swings", "--help").out.replace("│", " ").split())
    assert f"within a swing, in radians. [default: {defaults.threshold:g}]" in text
    assert f"of a joint's rotation. [default: {defaults.fallback_deg:g}]" in text
    assert f"on a figure of 1.7 m. [default: {defaults.translation_mm:g}]" in text
    assert f"{defaults.fallback_deg:g} degrees by default" in cli_docs.command_section("swings")
    assert (defaults.smoothing_s, defaults.window_s, defaults.min_duration_s) == pytest.approx((1 / 6, 1 / 3, 8 / 60))
    assert defaults.rest_rad_per_s == pytest.approx(0.18)


def test_json_has_all_fields(keypose, kick: Path, capture: kp.Motion, kick_swings: kp.Swings) -> None:
    result = keypose("swings", kick, "--json")
    assert (result.code, result.err) == (0, "")
    payload = document(result)
    assert (
        payload["n_frames"] == capture.n_frames and payload["fps"] == 30 and payload["n_swings"] == kick_swings.n_swings
    )
    assert payload["error_per_angle_deg"] == kick_swings.error(capture, per="angle")
    assert payload["score"]["mean_mm"] == kp.score(capture, kick_swings.play()).mean_mm
    assert payload["size"]["ratio"] == kick_swings.size().ratio
    for joint, track in zip(payload["joints"], kick_swings.tracks, strict=True):
        assert joint["joint"] == track.joint and joint["n_swings"] == track.n_swings == len(joint["swings"])
        for arguments, swing in zip(joint["swings"], track.swings, strict=True):
            again = kp.Swing(
                track.joint,
                arguments["start"],
                arguments["end"],
                arguments["start_rotation"],
                arguments["axis"],
                np.deg2rad(arguments["angle_deg"]),
            )
            np.testing.assert_allclose(again.end_rotation, swing.end_rotation, atol=1e-12)
            assert (arguments["start_s"], arguments["end_s"]) == (swing.start / 30, swing.end / 30)
        assert [(r["start"], r["end"]) for r in joint["rests"]] == [(r.start, r.end) for r in track.rests]
    assert len(payload["contacts"]) == len(kick_swings.timeline().contacts) > 1
    keyed = document(keypose("swings", kick, "--fallback", "keys", "--json"))
    near = kp.swings(capture, fallback="keys")
    tracks = [track for j, track in enumerate(near.tracks) if not near.is_left_out(j)]
    spans = [(span["frames"], span["rotations"]) for joint in keyed["joints"] for span in joint["keys"]]
    assert spans == [(k.frames.tolist(), k.rotations.tolist()) for t in tracks for k in t.keyed]
    assert keyed["n_keys"] == near.n_keys == sum(len(frames) for frames, _ in spans) > 0


def test_a_joint_with_a_key_on_every_frame_is_not_left_out(keypose, kick: Path, capture: kp.Motion) -> None:
    line = ("swings", kick, "--range", "40:80", "--max-deg", "1e-4")
    payload = document(keypose(*line, "--json"))
    whole = [joint for joint in payload["joints"] if joint["n_keys"] == 40 and not joint["left_out"]]
    assert len(whole) > 5
    for joint in whole:
        frames = [frame for span in joint["keys"] for frame in span["frames"]]
        assert frames == list(range(40)) and sum(len(span["rotations"]) for span in joint["keys"]) == 40
    assert [joint["joint"] for joint in payload["joints"] if joint["left_out"]] == payload["settings"]["left_out"]
    assert payload["settings"]["left_out"] == list(kp.swings(capture).settings.left_out)
    assert payload["n_keys"] == sum(joint["n_keys"] for joint in payload["joints"] if not joint["left_out"])
    text = keypose(*line).out
    assert all(re.search(rf"^ {joint['joint']} .* 40 ", text, re.MULTILINE) for joint in whole)
    match = re.search(r"stored frame by frame: ([^:]*)$", text)[1].replace("\n", " ").strip()  # type: ignore[index]
    assert re.split(r",\s+", match) == payload["settings"]["left_out"]


def test_docs_name_every_json_field(keypose, kick: Path, tmp_path: Path) -> None:
    matches = cli_docs.documented_fields("swings")
    payload = document(keypose("swings", kick, "--longer-s", 0.1, "--json"))
    swept = document(keypose("swings", kick, "--range", "40:60", "--sweep", "--json"))
    assert set(payload) | set(swept) <= matches
    assert set(payload["size"]) | set(payload["matches"][0]) | set(payload["contacts"][0]) <= matches
    assert set(payload["score"]) <= matches
    assert set(swept["sweep"][0]) <= matches
    json_payload = json.loads(keypose("swings", kick, kick, "--range", "40:60", "--sweep", "--json", "-j", 1).out)
    assert set(json_payload[-1]) | set(json_payload[-1]["mean"][0]) <= matches
    for part in (JointSwingStats, SwingSize, EditReport, SwingEditResult):
        assert {field.name for field in fields(part)} <= matches, part
    written = document(keypose("swings", kick, "--scale", "arms=1.1", "-o", tmp_path / "a.bvh", "--json"))
    assert set(written) | set(written["written"][0]) <= matches
    plain = document(keypose("swings", kick, "-o", tmp_path / "b.bvh", "--json"))["written"][0]
    assert plain["score"] == payload["score"] and written["written"][0]["score"] is None


def test_many_files_are_a_row_each_and_a_bad_one_fails_alone(keypose, capture: kp.Motion, tmp_path: Path) -> None:
    parts = {"a.bvh": capture[40:80], "b.bvh": capture[80:]}
    for name, part in parts.items():
        kp.save(part, tmp_path / name)
    (tmp_path / "c.bvh").write_text("HIERARCHY nonsense")
    result = keypose("swings", tmp_path, "--jobs", 2)
    assert result.code == 1
    assert [line.split()[0] for line in result.out.splitlines() if ".bvh" in line] == list(parts)
    assert result.err.count("error: ") == 1 and f"error: {tmp_path / 'c.bvh'}" in result.err
    both = [kp.swings(kp.load(tmp_path / name)).n_swings for name in parts]
    assert f"2 clips, {sum(both)} swings, " in result.out
    payload = json.loads(keypose("swings", tmp_path, "--json", "--jobs", 1).out)
    assert [clip.get("n_swings") for clip in payload] == [*both, None] and payload[2]["error_kind"] == "FormatError"
    lists = keypose("swings", *(tmp_path / name for name in parts), "--longer-s", 0.3, "--jobs", 1)
    assert lists.out.count("lasts s") == 2


def test_swings_within_a_bound(keypose, kick: Path, capture: kp.Motion) -> None:
    part = capture[40:80]
    for option, message, expected in (
        ("--max-deg", "4 degrees", swings_within(part, max_deg=4)),
        ("--max-mm", "40 mm", swings_within(part, max_mm=40)),
    ):
        text = keypose("swings", kick, "--range", "40:80", option, message.split()[0]).out
        assert f"the smallest within {message}" in text
        assert f"{format_mm(expected.error(part))} degrees, all angles of a frame together" in text
        assert f"keys where they are off by more than {expected.settings.fallback_deg:.3g} degrees" in " ".join(
            text.split()
        )


def test_a_level_is_a_share_of_the_swings(keypose, kick: Path, capture: kp.Motion, kick_swings: kp.Swings) -> None:
    half = document(keypose("swings", kick, "--level", 0.5, "--json"))
    assert half["n_swings"] == round(kick_swings.n_swings / 2) and half["level"] == 0.5
    assert half["error_deg"] == kick_swings.simplify(0.5).error(capture)
    assert "the 50 % with the largest angles" in keypose("swings", kick, "--level", 0.5).out


def test_sweep_matches_the_api(keypose, kick: Path, capture: kp.Motion) -> None:
    expected = sweep(capture[40:80])
    line = ("swings", kick, "--range", "40:80", "--sweep")
    assert document(keypose(*line, "--json"))["sweep"] == [asdict(row) for row in expected]
    text = keypose(*line).out
    assert f"nearest to the capture at {expected.min_error.threshold:g}" in text
    assert all(f"{format_mm(row.error_deg)}" in text for row in expected)


@pytest.mark.one_python
def test_sweeps_of_many_files_have_a_mean(keypose, capture: kp.Motion, tmp_path: Path) -> None:
    parts = {"a.bvh": capture[40:80], "b.bvh": capture[80:110]}
    for name, part in parts.items():
        kp.save(part, tmp_path / name)
    swept = [sweep(kp.load(tmp_path / name)) for name in parts]
    means = [float(np.mean([each.rows[n].error_deg for each in swept])) for n in range(len(swept[0]))]
    *clips, last = json.loads(keypose("swings", tmp_path, "--sweep", "--json", "-j", 1).out)
    assert [clip["sweep"] for clip in clips] == [[asdict(row) for row in each] for each in swept]
    assert last["clips"] == 2 and [row["error_deg"] for row in last["mean"]] == pytest.approx(means)
    assert [row["threshold"] for row in last["mean"]] == [row.threshold for row in swept[0]]
    text = keypose("swings", tmp_path, "--sweep", "-j", 1).out
    rows = text.split("mean of 2 clips")[1]
    assert all(re.search(rf"^ {row.threshold:g} +{format_mm(mean)} ", rows, re.MULTILINE)
               for row, mean in zip(swept[0], means, strict=True))  # fmt: skip
    nearest = [re.search(rf"^ {name} +(\S+) +(\S+)", text, re.MULTILINE).groups() for name in parts]  # type: ignore[union-attr]
    best = [each.min_error for each in swept]
    assert nearest == [(f"{row.threshold:g}", format_mm(row.error_deg)) for row in best]
    (tmp_path / "b.bvh").write_text("HIERARCHY nonsense")
    some = keypose("swings", tmp_path, "--sweep", "-j", 1)
    assert some.code == 1 and "mean of 1 clip\n" in some.out
    assert json.loads(keypose("swings", tmp_path, "--sweep", "--json", "-j", 1).out)[-1]["clips"] == 1


def test_slow_work_uses_several_processes(keypose, kick: Path, tmp_path: Path, monkeypatch) -> None:
    calls: list[int] = []
    for name in ("a.bvh", "b.bvh"):
        (tmp_path / name).write_bytes(kick.read_bytes())
    monkeypatch.setattr(swings, "show_swings", lambda work, problems, jobs, **_: calls.append(jobs) or 0)
    monkeypatch.setattr(pool.os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    for more in ((), ("--sweep",), ("--max-deg", 3), ("--sweep", "-j", 1)):
        assert keypose("swings", tmp_path, *more).code == 0
    assert calls == [1, 2, 2, 1]
