"""``keypose swings``: what it shows is what the verbs answer."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
import pytest
from swings_cases import document

import keypose as kp
from keypose.batch import pool
from keypose.batch.swings import Distance, JointFigures
from keypose.batch.swings_edit import Edited, Played
from keypose.cli import swings_run
from keypose.cli.unbake_view import mm
from keypose.swings import Settings
from keypose.swings.size import Size
from keypose.verbs import sweep, swings_within

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"
SECTION = re.search(r"^## `keypose swings`$(.*?)(?=^## )", DOCS.read_text(), re.MULTILINE | re.DOTALL)[1]  # type: ignore[index]


def test_one_file_is_shown_as_the_verbs_see_it(keypose, kick: Path, capture: kp.Motion, found: kp.Swings) -> None:
    ran = keypose("swings", kick)
    assert (ran.code, ran.err) == (0, "")
    turning = [track for track in found.tracks if track.n_swings]
    assert f"{found.n_swings} of {len(turning)} joints; threshold 0.4" in ran.out
    assert f"{mm(found.error(capture))} degrees, all angles of a frame together; " in ran.out
    assert f"{mm(found.error(capture, per='angle'))} per angle" in ran.out
    assert f"{mm(kp.score(capture, found.play()).max_mm)} mm at most" in ran.out
    assert f"{100 * found.size().ratio:.0f} % of all frames" in ran.out
    for track in turning:
        row = next(line for line in ran.out.splitlines() if line.startswith(f" {track.joint} "))
        cells = row.split()
        assert str(track.n_swings) in cells
        assert f"{np.rad2deg(track.angles).max():.0f}" in cells
        assert f"{(track.ends - track.starts).max() / 30:.2f}" in cells
    still = [track.joint for track in found.tracks if not track.n_swings and not track.keyed]
    assert all(name in ran.out for name in still)


def test_the_joints_that_are_asked_for_are_shown(keypose, kick: Path, found: kp.Swings) -> None:
    shown = keypose("swings", kick, "--joints", "right_leg").out
    names = [found.skeleton.names[j] for j in found.skeleton.joints("right_leg")]
    assert all(re.search(rf"^ {name} ", shown, re.MULTILINE) for name in names)
    assert not re.search(r"^ (LeftArm|LeftUpLeg) ", shown, re.MULTILINE)


def test_a_selection_lists_the_swings_that_fit(keypose, kick: Path, found: kp.Swings) -> None:
    ran = keypose("swings", kick, "--joints", "right_leg", "--longer-s", 0.2, "--wider-deg", 10)
    chosen = found.find("right_leg", longer_s=0.2, wider_deg=10)
    rows = [line.split() for line in ran.out.splitlines() if re.match(r" Right", line)]
    assert len(rows) == len(chosen) > 2
    for row, swing in zip(rows, chosen, strict=True):
        assert row[0] == swing.joint and row[3] == f"{swing.start}-{swing.end}"
        assert int(row[2]) == found[swing.joint].index(swing) and f"{swing.angle_deg:.1f}" in row
    listed = document(keypose("swings", kick, "--joints", "right_leg", "--longer-s", 0.2, "--wider-deg", 10, "--json"))
    assert [(s["joint"], s["start"], s["end"]) for s in listed["found"]] == [(s.joint, s.start, s.end) for s in chosen]
    assert "no swing fits" in keypose("swings", kick, "--longer-s", 6).out


def test_settings_are_those_of_the_verb(keypose, kick: Path, capture: kp.Motion) -> None:
    told = {
        "threshold": 0.3,
        "metric": "cosine",
        "smoothing_s": 0.1,
        "window_s": 0.2,
        "least_s": 0.2,
        "rest_rad_per_s": 0.3,
        "translation_mm": 5.0,
        "fallback": "keys",
        "fallback_deg": 6.0,
    }
    line = [text for name, value in told.items() for text in (f"--{name.replace('_', '-')}", value)]
    shown = document(keypose("swings", kick, *line, "--left-out", "head,hands", "--json"))
    wanted = kp.swings(capture, left_out=["head", "hands"], **told)  # type: ignore[arg-type]
    assert shown["settings"] == asdict(wanted.settings) | {"left_out": list(wanted.settings.left_out)}
    assert shown["settings"] | told == shown["settings"]
    assert shown["error_deg"] == wanted.error(capture) and shown["n_swings"] == wanted.n_swings
    left_out = {joint["joint"] for joint in shown["joints"] if joint["left_out"]}
    assert (
        left_out
        == {*wanted.settings.left_out}
        == {capture.skeleton.names[j] for j in capture.skeleton.joints(["head", "hands"])}
    )
    none = document(keypose("swings", kick, "--left-out", "none", "--json"))
    assert not any(joint["left_out"] for joint in none["joints"])


def test_the_defaults_that_are_stated(keypose) -> None:
    usual, shown = Settings(), " ".join(keypose("swings", "--help").out.replace("│", " ").split())
    assert f"radians on average. Otherwise {usual.threshold:g}." in shown
    assert f"of a joint's turn. Otherwise {usual.fallback_deg:g}." in shown
    assert f"on a figure of 1.7 m. Otherwise {usual.translation_mm:g}." in shown
    assert f"{usual.fallback_deg:g} degrees by default" in SECTION
    assert (usual.smoothing_s, usual.window_s, usual.least_s) == pytest.approx((1 / 6, 1 / 3, 8 / 60))
    assert usual.rest_rad_per_s == pytest.approx(0.18)


def test_json_has_all_that_is_known(keypose, kick: Path, capture: kp.Motion, found: kp.Swings) -> None:
    ran = keypose("swings", kick, "--json")
    assert (ran.code, ran.err) == (0, "")
    shown = document(ran)
    assert shown["n_frames"] == capture.n_frames and shown["fps"] == 30 and shown["n_swings"] == found.n_swings
    assert shown["error_per_angle_deg"] == found.error(capture, per="angle")
    assert shown["score"]["mean_mm"] == kp.score(capture, found.play()).mean_mm
    assert shown["size"]["ratio"] == found.size().ratio
    for joint, track in zip(shown["joints"], found.tracks, strict=True):
        assert joint["joint"] == track.joint and joint["n_swings"] == track.n_swings == len(joint["swings"])
        for told, swing in zip(joint["swings"], track.swings, strict=True):
            again = kp.Swing(
                track.joint,
                told["start"],
                told["end"],
                told["start_rotation"],
                told["axis"],
                np.deg2rad(told["angle_deg"]),
            )
            np.testing.assert_allclose(again.end_rotation, swing.end_rotation, atol=1e-12)
            assert (told["start_s"], told["end_s"]) == (swing.start / 30, swing.end / 30)
        assert [(r["start"], r["end"]) for r in joint["rests"]] == [(r.start, r.end) for r in track.rests]
    assert len(shown["contacts"]) == len(found.timeline().contacts) > 1
    keyed = document(keypose("swings", kick, "--fallback", "keys", "--json"))
    near = kp.swings(capture, fallback="keys")
    tracks = [track for j, track in enumerate(near.tracks) if not near.is_left_out(j)]
    spans = [(span["frames"], span["rotations"]) for joint in keyed["joints"] for span in joint["keys"]]
    assert spans == [(k.frames.tolist(), k.rotations.tolist()) for t in tracks for k in t.keyed]
    assert keyed["n_keys"] == near.n_keys == sum(len(frames) for frames, _ in spans) > 0


def test_a_joint_with_a_key_on_every_frame_is_not_left_out(keypose, kick: Path, capture: kp.Motion) -> None:
    line = ("swings", kick, "--range", "40:80", "--within-deg", "1e-4")
    shown = document(keypose(*line, "--json"))
    whole = [joint for joint in shown["joints"] if joint["n_keys"] == 40 and not joint["left_out"]]
    assert len(whole) > 5
    for joint in whole:
        frames = [frame for span in joint["keys"] for frame in span["frames"]]
        assert frames == list(range(40)) and sum(len(span["rotations"]) for span in joint["keys"]) == 40
    assert [joint["joint"] for joint in shown["joints"] if joint["left_out"]] == shown["settings"]["left_out"]
    assert shown["settings"]["left_out"] == list(kp.swings(capture).settings.left_out)
    assert shown["n_keys"] == sum(joint["n_keys"] for joint in shown["joints"] if not joint["left_out"])
    text = keypose(*line).out
    assert all(re.search(rf"^ {joint['joint']} .* 40 ", text, re.MULTILINE) for joint in whole)
    said = re.search(r"kept frame by frame: ([^:]*)$", text)[1].replace("\n", " ").strip()  # type: ignore[index]
    assert re.split(r",\s+", said) == shown["settings"]["left_out"]


def test_the_documents_know_every_key_of_json(keypose, kick: Path, tmp_path: Path) -> None:
    known = set(re.findall(r"`(\w+)`", SECTION))
    shown = document(keypose("swings", kick, "--longer-s", 0.1, "--json"))
    swept = document(keypose("swings", kick, "--range", "40:60", "--sweep", "--json"))
    assert set(shown) | set(swept) <= known
    assert set(shown["size"]) | set(shown["score"]) | set(shown["found"][0]) | set(shown["contacts"][0]) <= known
    assert set(swept["sweep"][0]) <= known
    several = json.loads(keypose("swings", kick, kick, "--range", "40:60", "--sweep", "--json", "-j", 1).out)
    assert set(several[-1]) | set(several[-1]["mean"][0]) <= known
    for part in (JointFigures, Distance, Size, Edited, Played):
        assert {field.name for field in fields(part)} <= known, part
    written = document(keypose("swings", kick, "--scale", "arms=1.1", "-o", tmp_path / "a.bvh", "--json"))
    assert set(written) | set(written["written"][0]) <= known
    plain = document(keypose("swings", kick, "-o", tmp_path / "b.bvh", "--json"))["written"][0]
    assert plain["score"] == shown["score"] and written["written"][0]["score"] is None


def test_many_files_are_a_row_each_and_a_bad_one_fails_alone(keypose, capture: kp.Motion, tmp_path: Path) -> None:
    parts = {"a.bvh": capture[40:80], "b.bvh": capture[80:]}
    for name, part in parts.items():
        kp.save(part, tmp_path / name)
    (tmp_path / "c.bvh").write_text("HIERARCHY nonsense")
    ran = keypose("swings", tmp_path, "--jobs", 2)
    assert ran.code == 1
    assert [line.split()[0] for line in ran.out.splitlines() if ".bvh" in line] == list(parts)
    assert ran.err.count("error: ") == 1 and f"error: {tmp_path / 'c.bvh'}" in ran.err
    both = [kp.swings(kp.load(tmp_path / name)).n_swings for name in parts]
    assert f"2 clips, {sum(both)} swings, " in ran.out
    shown = json.loads(keypose("swings", tmp_path, "--json", "--jobs", 1).out)
    assert [clip.get("n_swings") for clip in shown] == [*both, None] and shown[2]["error_kind"] == "FormatError"
    lists = keypose("swings", *(tmp_path / name for name in parts), "--longer-s", 0.3, "--jobs", 1)
    assert lists.out.count("lasts s") == 2


def test_swings_within_a_bound(keypose, kick: Path, capture: kp.Motion) -> None:
    part = capture[40:80]
    for option, said, wanted in (
        ("--within-deg", "4 degrees", swings_within(part, max_deg=4)),
        ("--within-mm", "40 mm", swings_within(part, max_mm=40)),
    ):
        shown = keypose("swings", kick, "--range", "40:80", option, said.split()[0]).out
        assert f"the smallest within {said}" in shown
        assert f"{mm(wanted.error(part))} degrees, all angles of a frame together" in shown
        assert f"keys where they are off by more than {wanted.settings.fallback_deg:.3g} degrees" in " ".join(
            shown.split()
        )


def test_a_level_is_a_share_of_the_swings(keypose, kick: Path, capture: kp.Motion, found: kp.Swings) -> None:
    half = document(keypose("swings", kick, "--level", 0.5, "--json"))
    assert half["n_swings"] == round(found.n_swings / 2) and half["level"] == 0.5
    assert half["error_deg"] == found.coarser(0.5).error(capture)
    assert "the 50 % with the largest angles" in keypose("swings", kick, "--level", 0.5).out


def test_a_sweep_is_that_of_the_verb(keypose, kick: Path, capture: kp.Motion) -> None:
    wanted = sweep(capture[40:80])
    line = ("swings", kick, "--range", "40:80", "--sweep")
    assert document(keypose(*line, "--json"))["sweep"] == [asdict(row) for row in wanted]
    shown = keypose(*line).out
    assert f"nearest to the capture at {wanted.least_error.threshold:g}" in shown
    assert all(f"{mm(row.error_deg)}" in shown for row in wanted)


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
    shown = keypose("swings", tmp_path, "--sweep", "-j", 1).out
    rows = shown.split("mean of 2 clips")[1]
    assert all(re.search(rf"^ {row.threshold:g} +{mm(mean)} ", rows, re.MULTILINE)
               for row, mean in zip(swept[0], means, strict=True))  # fmt: skip
    nearest = [re.search(rf"^ {name} +(\S+) +(\S+)", shown, re.MULTILINE).groups() for name in parts]  # type: ignore[union-attr]
    least = [each.least_error for each in swept]
    assert nearest == [(f"{row.threshold:g}", mm(row.error_deg)) for row in least]
    (tmp_path / "b.bvh").write_text("HIERARCHY nonsense")
    some = keypose("swings", tmp_path, "--sweep", "-j", 1)
    assert some.code == 1 and "mean of 1 clip\n" in some.out
    assert json.loads(keypose("swings", tmp_path, "--sweep", "--json", "-j", 1).out)[-1]["clips"] == 1


def test_what_takes_long_is_done_by_several_processes(keypose, kick: Path, tmp_path: Path, monkeypatch) -> None:
    told: list[int] = []
    for name in ("a.bvh", "b.bvh"):
        (tmp_path / name).write_bytes(kick.read_bytes())
    monkeypatch.setattr(swings_run, "show", lambda work, problems, jobs, **_: told.append(jobs) or 0)
    monkeypatch.setattr(pool.os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    for more in ((), ("--sweep",), ("--within-deg", 3), ("--sweep", "-j", 1)):
        assert keypose("swings", tmp_path, *more).code == 0
    assert told == [1, 2, 2, 1]
