"""``keypose swings``: what it shows, plays and edits is what the verbs answer."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

import keypose as kp
from keypose.batch import pool
from keypose.batch.swings import Distance, Finding, JointFigures, SwingsWanted, swings_of_clip
from keypose.batch.swings_edit import Edited, Played
from keypose.cli import swings_run, swings_view
from keypose.cli.swings_bars import BLOCKS, PLAIN, Scale, fastest
from keypose.cli.unbake_view import mm
from keypose.formats import load_swings
from keypose.swings import Settings
from keypose.swings.size import Size
from keypose.swings.timeline import Bar, Row
from keypose.verbs import sweep, swings_within

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"
SECTION = re.search(r"^## `keypose swings`$(.*?)(?=^## )", DOCS.read_text(), re.MULTILINE | re.DOTALL)[1]  # type: ignore[index]


@pytest.fixture(scope="module")
def kick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A part of the demo motion in which the figure jumps and kicks."""
    path = tmp_path_factory.mktemp("swings") / "kick.bvh"
    kp.save(kp.demo_motion(fps=30.0)[200:360], path)
    return path


@pytest.fixture(scope="module")
def capture(kick: Path) -> kp.Motion:
    return kp.load(kick)


@pytest.fixture(scope="module")
def found(capture: kp.Motion) -> kp.Swings:
    return kp.swings(capture)


def document(ran) -> dict:
    return json.loads(ran.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def same_motion(path: Path, wanted: kp.Motion) -> bool:
    """Whether a file that rounds to six decimals holds this motion."""
    written = kp.load(path)
    off = np.abs(written.world_positions() - wanted.world_positions()).max()
    return written.n_frames == wanted.n_frames and off < 1e-4


def same_swings(one: kp.Swings, other: kp.Swings) -> bool:
    return all(
        np.array_equal(getattr(a, part), getattr(b, part))
        for a, b in zip(one.tracks, other.tracks, strict=True)
        for part in ("starts", "ends", "start_rotations", "turns")
    )


# What is shown


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


# How it looks


def view_of(path: Path, width: int, *, plain: bool = False, **finding) -> str:
    wanted = SwingsWanted(path, Finding(options=finding))
    console = Console(width=width, file=None, record=True, highlight=False)
    with console.capture() as shown:
        console.print(swings_view.view(swings_of_clip(wanted), wanted, width, plain=plain))
    return shown.get()


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160, 300])
def test_the_table_fits_the_terminal(kick: Path, width: int) -> None:
    shown = view_of(kick, width, fallback="keys")
    assert max(map(cell_len, shown.splitlines())) <= width
    rows = [line for line in shown.splitlines() if re.match(r" (Left|Right|Hips)", line)]
    assert len(rows) > 8 and all(re.search(r"[▁▂▃▄▅▆▇█·─]{2}", row) for row in rows)
    assert "left foot" in shown and "━━" in shown


def test_plain_characters_where_the_terminal_has_no_others(kick: Path) -> None:
    table = view_of(kick, 100, plain=True, fallback="keys").split("joint ")[1]
    assert not set(table) & set("▁▂▃▄▅▆▇█·•━")


def drawn_by_frames(row: Row, n_frames: int, columns: int) -> str:
    """The slow obvious twin of a bar: each column by counting its frames."""
    of_frame = [" "] * n_frames
    for bar in row.bars:
        for frame in range(bar.start, bar.end + 1):
            of_frame[frame] = {"swing": "S", "rest": "R", "keys": "K"}[bar.kind]
    per = n_frames // columns
    text = ""
    for column in range(columns):
        some = of_frame[column * per : (column + 1) * per]
        most = max("SRK", key=some.count)
        text += most if some.count(most) >= per / 2 else "k" if "K" in some else " "
    return text


@pytest.mark.parametrize("signs", [BLOCKS, PLAIN], ids=["blocks", "plain"])
def test_a_bar_shows_what_a_joint_does_most_in_each_column(capture: kp.Motion, signs) -> None:
    timeline = kp.swings(capture, fallback="keys").timeline()
    names = str.maketrans({**dict.fromkeys(signs.speeds, "S"), signs.rest: "R", signs.keys: "K", signs.key: "k"})
    for columns in (20, 32, 80, 160):
        scale = Scale(160, columns, fastest(timeline.rows), signs)
        for row in timeline.rows:
            assert scale.bar(row).plain.translate(names) == drawn_by_frames(row, 160, columns)


def test_heights_grow_with_speed_and_colours_change_from_swing_to_swing() -> None:
    bars = [Bar("swing", 10 * n, 10 * n + 9, n, n + 0.9, angle) for n, angle in enumerate((1.0, 5.0, 20.0, 90.0))]
    row = Row("arm", None, False, tuple(bars))
    text = Scale(40, 20, fastest([row]), BLOCKS).bar(row)
    heights = [BLOCKS.speeds.index(text.plain[column]) for column in (0, 5, 10, 15)]
    assert heights == sorted(set(heights)) and heights[-1] == 7
    styles = [str(span.style) for column in (0, 5, 10, 15) for span in text.spans if span.start <= column < span.end]
    assert styles[0] == styles[2] != styles[1] == styles[3]


@pytest.mark.parametrize(("n_frames", "fps"), [(1, 30.0), (40, 24.0), (10_000, 120.0), (3, 10_000.0)])
def test_the_axis_has_round_times_within_its_width(n_frames: int, fps: float) -> None:
    axis = Scale(n_frames, 40, 1.0).axis(fps)
    assert axis.startswith("0 s") and len(axis) <= 40
    last = float(axis.split()[-1]) if len(axis) > 3 else 0.0
    assert last <= n_frames / fps


def test_names_from_files_are_harmless(keypose, clip, tmp_path: Path) -> None:
    path = clip("odd.bvh", frames=60, joint="Che\x1b[31mst")
    ran = keypose("swings", path, "--joints", "all")
    assert ran.code == 0 and "\x1b" not in ran.out and r"\x1b[31m" in ran.out
    edited = keypose("swings", path, "--intensify", "all=0.5", "-o", tmp_path / "out.bvh")
    assert edited.code == 0 and "\x1b" not in edited.out + edited.err


# What is written


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".bvh.gz"])
def test_the_played_motion_is_written(keypose, kick: Path, found: kp.Swings, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / "new" / f"out{suffix}"
    ran = keypose("swings", kick, "-o", out, "--level", 0.5)
    assert (ran.code, ran.err) == (0, "")
    wanted = found.play(0.5)
    if suffix != ".glb":  # which has its own axes and units
        assert same_motion(out, wanted)
    assert kp.load(out).n_frames == wanted.n_frames
    assert "50 % of them with the largest angles" in ran.out and f"{out} (" in ran.out
    assert f"{mm(found.coarser(0.5).error(kp.load(kick)))} degrees" in ran.out


def test_swings_are_written_and_read_again(keypose, kick: Path, found: kp.Swings, tmp_path: Path) -> None:
    out = tmp_path / "kick.swings.json"
    assert keypose("swings", kick, "-o", out).code == 0
    assert same_swings(load_swings(out), found)
    ran = keypose("swings", out)
    assert (ran.code, ran.err) == (0, "") and "degrees, all angles" not in ran.out
    assert f"{found.n_swings} of " in ran.out
    shown = document(keypose("swings", out, "--json"))
    assert (shown["error_deg"], shown["score"]) == (None, None) and shown["n_swings"] == found.n_swings
    assert shown["settings"]["left_out"] == list(found.settings.left_out)
    edited = keypose("swings", out, "--scale", "right_leg=1.2", "-o", tmp_path / "edited.bvh")
    assert edited.code == 0
    editor = found.edit()
    editor.scale("right_leg", 1.2)
    assert same_motion(tmp_path / "edited.bvh", editor.play())


def edited_by(found: kp.Swings, capture: kp.Motion | None, *operations, **play) -> kp.Motion:
    editor = found.edit(capture)
    for name, *given in operations:
        getattr(editor, name)(*(each for each in given if not isinstance(each, dict)),
                              **next((each for each in given if isinstance(each, dict)), {}))  # fmt: skip
    return editor.play(**play)


@pytest.mark.parametrize(
    ("line", "operations"),
    [
        (["--scale", "right_leg=1.3"], [("scale", "right_leg", 1.3)]),
        (["--scale", "left_arm,right_arm=0.5"], [("scale", ("left_arm", "right_arm"), 0.5)]),
        (["--set-angle", "left_upper_arm=25"], [("set_angle", "left_upper_arm", 25.0)]),
        (["--shift", "left_arm=-0.0334"], [("shift", "left_arm", {"by_s": -0.0334})]),
        (["--lengthen", "head=0.7"], [("shorten", "head", {"factor": 0.7})]),
        (["--delete", "arms"], [("delete", "arms")]),
        (["--intensify", "arms=1.5"], [("intensify", "arms", 1.5)]),
        (["--retime", "1.5"], [("retime", "all", 1.5)]),
        (["--retime", "arms=0.8"], [("retime", "arms", 0.8)]),
        (
            ["--retime", "1.5", "--from-s", "0.5", "--to-s", "1.5"],
            [("retime", "all", 1.5, {"from_s": 0.5, "to_s": 1.5})],
        ),
        (["--retime", "legs=0.8", "--to-s", "2"], [("retime", "legs", 0.8, {"to_s": 2.0})]),
        (["--scale", "arms=0.5", "--set-angle", "arms=30"], [("scale", "arms", 0.5), ("set_angle", "arms", 30.0)]),
        (["--set-angle", "arms=30", "--scale", "arms=0.5"], [("set_angle", "arms", 30.0), ("scale", "arms", 0.5)]),
        (["--scale=arms=0.5", "--delete", "head", "--scale", "head=2"], None),
    ],
    ids=lambda value: " ".join(value) if value and isinstance(value[0], str) else "",
)
def test_edits_are_those_of_the_library_in_the_order_typed(
    keypose, kick: Path, capture: kp.Motion, found: kp.Swings, tmp_path: Path, line: list[str], operations
) -> None:
    out = tmp_path / "out.bvh"
    ran = keypose("swings", kick, *line, "-o", out)
    if operations is None:  # what was deleted cannot be scaled: the edits came in that order
        assert ran.code == 1 and "--scale head=2: 'head': no swing at all" in ran.err and not out.exists()
        return
    assert ran.code == 0, ran.err
    assert same_motion(out, edited_by(found, capture, *operations))
    assert ran.out.count(" edit ") == len(operations)


def test_an_edit_means_the_swings_that_fit(
    keypose, kick: Path, capture: kp.Motion, found: kp.Swings, tmp_path: Path
) -> None:
    ran = keypose(
        "swings", kick, "--longer-s", 0.2, "--from-s", 1, "--scale", "right_leg=0.6", "-o", tmp_path / "o.bvh"
    )
    chosen = found.find("right_leg", longer_s=0.2, from_s=1)
    assert 0 < len(chosen) < len(found.find("right_leg"))
    assert same_motion(tmp_path / "o.bvh", edited_by(found, capture, ("scale", chosen, 0.6)))
    assert f"--scale right_leg=0.6: {len(chosen)} swings; " in ran.out


def test_feet_are_held_unless_told_otherwise(
    keypose, kick: Path, capture: kp.Motion, found: kp.Swings, tmp_path: Path
) -> None:
    line = ("swings", kick, "--scale", "right_leg=0.8")
    held = document(keypose(*line, "-o", tmp_path / "held.bvh", "--json"))["written"][0]
    free = document(keypose(*line, "--no-keep-feet", "-o", tmp_path / "free.bvh", "--json"))["written"][0]
    assert held["feet_held_mm"] > 1 and free["feet_held_mm"] is None
    assert same_motion(tmp_path / "free.bvh", edited_by(found, capture, ("scale", "right_leg", 0.8), keep_feet=False))
    assert same_motion(tmp_path / "held.bvh", edited_by(found, capture, ("scale", "right_leg", 0.8)))
    assert not same_motion(
        tmp_path / "held.bvh", edited_by(found, capture, ("scale", "right_leg", 0.8), keep_feet=False)
    )
    assert f"moved an ankle by {mm(held['feet_held_mm'])} mm at most" in keypose(*line, "-o", tmp_path / "2.bvh").out
    noted = keypose(*line, "-o", tmp_path / "held.swings.json")
    assert "feet are held only where a motion is written" in noted.err


def test_swings_are_copied_to_the_other_side(keypose, kick: Path, found: kp.Swings, tmp_path: Path) -> None:
    out = tmp_path / "o.swings.json"
    assert keypose("swings", kick, "--mirror-copy", "right_forearm", "-o", out).code == 0
    ours, theirs = found["right_forearm"], load_swings(out)["left_forearm"]
    assert len(ours) > 1 and {(s.start, s.end) for s in ours} <= {(s.start, s.end) for s in theirs}


def test_copies_say_what_they_replace(keypose, kick: Path, found: kp.Swings, tmp_path: Path) -> None:
    told = document(keypose("swings", kick, "--mirror-copy", "right_leg", "--json", "-o", tmp_path / "o.bvh"))
    names = {"right_thigh": "left_thigh", "right_shin": "left_shin", "right_foot": "left_foot"}
    hit = {
        (other, n)
        for ours, other in names.items()
        for n, swing in enumerate(found[other])
        if any(swing.start <= our.end and our.start <= swing.end for our in found[ours])
    }
    assert len(hit) > 10
    note = f"{len(hit)} swings of LeftUpLeg, LeftLeg and LeftFoot are replaced"
    assert told["written"][0]["edits"][0]["note"] == note and note in told["written"][0]["notes"]


@pytest.mark.parametrize("which", [{}, {"from_s": 1.0, "to_s": 2.0}, {"at_s": 1.5}, {"wider_deg": 12.0}], ids=str)
def test_keys_that_an_edit_of_swings_leaves_are_counted(
    keypose, kick: Path, capture: kp.Motion, tmp_path: Path, which
) -> None:
    near = kp.swings(capture, fallback="keys")
    times = [which.get("at_s", which.get("from_s", 0)) * 30, which.get("at_s", which.get("to_s", 9)) * 30]
    spans = []
    for joint in ("RightUpLeg", "RightLeg", "RightFoot"):
        own = near.find(joint, **which)
        first, last = (own[0].start, max(s.end for s in own)) if "wider_deg" in which else times
        frames = set(range(int(first), int(last) + 1))
        spans += [joint for span in near.track(joint).keyed if frames & set(range(span.start, span.end + 1))]
    assert spans
    line = [text for name, value in which.items() for text in (f"--{name.replace('_', '-')}", value)]
    for edit, more in (
        ("--scale", f": --intensify changes {'all that a joint does' if which else 'them too'}"),
        ("--delete", ""),
    ):
        told = keypose("swings", kick, "--fallback", "keys", *line, edit, "right_leg=1.05" if more else "right_leg", "-o", tmp_path / "o.bvh",
                       "--overwrite", "--json")  # fmt: skip
        (edited,) = document(told)["written"][0]["edits"]
        count = "1 keyed span of " if len(spans) == 1 else f"{len(spans)} keyed spans of "
        stay = f"{' is no swing and stays' if len(spans) == 1 else ' are no swings and stay'}{more}"
        assert re.search(rf"(^|; ){count}(Right\w+(, | and )?)+{stay}$", edited["note"]), edited["note"]


def test_keys_of_other_joints_or_left_out_ones_are_no_matter(keypose, kick: Path, tmp_path: Path) -> None:
    line = ("swings", kick, "--json", "--overwrite", "-o", tmp_path / "o.bvh", "--fallback", "keys")
    for edit in (("--intensify", "legs=1.1"), ("--retime", "1.2")):
        assert "keyed" not in document(keypose(*line, *edit))["written"][0]["edits"][0]["note"]
    plain = keypose(*line[:-2], "--scale", "right_leg=1.1")  # toes are kept frame by frame
    assert "keyed" not in document(plain)["written"][0]["edits"][0]["note"]


def test_feet_are_held_once_and_what_is_written_is_judged(
    keypose, kick: Path, capture: kp.Motion, found: kp.Swings, tmp_path: Path, monkeypatch
) -> None:
    calls = []
    planted = kp.SwingEdit.planted
    monkeypatch.setattr(kp.SwingEdit, "planted", lambda self, *a: calls.append(a) or planted(self, *a))
    line = ("swings", kick, "--scale", "torso=-4", "--json", "-o")
    held = document(keypose(*line, tmp_path / "held.bvh"))["written"][0]
    assert len(calls) == 1
    free = document(keypose(*line, tmp_path / "free.bvh", "--no-keep-feet"))["written"][0]
    assert len(calls) == 1
    kept = document(keypose(*line, tmp_path / "kept.swings.json"))["written"][0]
    assert len(calls) == 1
    for made, source, keep_feet in ((held, capture, True), (free, capture, False), (kept, None, False)):
        editor = found.edit(source)
        editor.scale("torso", -4)
        assert made["tips"] == list(editor.tips(editor.play(keep_feet=keep_feet)))
    assert held["tips"] != free["tips"] != kept["tips"]


def test_what_an_edit_says_reaches_the_reader(
    keypose, kick: Path, capture: kp.Motion, found: kp.Swings, tmp_path: Path
) -> None:
    crowded = keypose("swings", kick, "--retime", "arms=3", "-o", tmp_path / "crowded.bvh")
    note = found.edit(capture).retime("arms", 3).note
    assert crowded.code == 0 and "no room" in note and crowded.err == f"note: {kick}: {note}\n"
    line = ("swings", kick, "--scale", "torso=-4")
    change = found.edit(capture).scale("torso", -4)
    assert change.tips and change.tips[0].startswith("tips over from ")
    assert change.held is not None and "its leg does not reach it" in change.held.note
    falling = keypose(*line, "-o", tmp_path / "falling.bvh")
    notes = [change.held.note, *change.tips]
    assert falling.code == 0 and falling.err == "".join(f"note: {kick}: {note}\n" for note in notes)
    told = document(keypose(*line, "-o", tmp_path / "again.bvh", "--json"))["written"][0]
    assert told["tips"] == list(change.tips) and told["notes"] == notes


def test_edits_go_on_top_of_the_capture(keypose, kick: Path, capture: kp.Motion, found: kp.Swings, tmp_path) -> None:
    line = ("swings", kick, "--scale", "head=1.5", "--json", "-o")
    over = document(keypose(*line, tmp_path / "over.bvh"))["written"][0]
    bare = document(keypose(*line, tmp_path / "bare.bvh", "--no-detail"))["written"][0]
    assert (over["over_capture"], bare["over_capture"]) == (True, False)
    assert same_motion(tmp_path / "over.bvh", edited_by(found, capture, ("scale", "head", 1.5)))
    assert same_motion(tmp_path / "bare.bvh", edited_by(found, None, ("scale", "head", 1.5)))
    legs = capture.joints("legs")
    edited = kp.load(tmp_path / "over.bvh")
    assert np.abs(edited.world_positions()[:, legs] - capture.world_positions()[:, legs]).max() < 1e-4
    kp.save(found, tmp_path / "kick.swings.json")
    again = document(keypose("swings", tmp_path / "kick.swings.json", *line[2:], tmp_path / "again.bvh"))["written"][0]
    assert again["over_capture"] is False and same_motion(tmp_path / "again.bvh", kp.load(tmp_path / "bare.bvh"))


def test_a_level_of_what_is_edited(keypose, kick: Path, capture: kp.Motion, found: kp.Swings, tmp_path: Path) -> None:
    """Without a capture beneath it, an edit plays as many swings as one likes."""
    kp.save(found, tmp_path / "kick.swings.json")
    told = ("--scale", "arms=1.5", "--level", 0.5, "-o")
    wanted = edited_by(found, None, ("scale", "arms", 1.5), level=0.5)
    for source, more in ((tmp_path / "kick.swings.json", ()), (kick, ("--no-detail",))):
        assert keypose("swings", source, *told, tmp_path / "half.bvh", "--overwrite", *more).code == 0
        assert same_motion(tmp_path / "half.bvh", wanted)
    assert keypose("swings", kick, *told, tmp_path / "half.swings.json").code == 0  # swings are what is written
    editor = found.edit(capture)
    editor.scale("arms", 1.5)
    assert same_swings(load_swings(tmp_path / "half.swings.json"), editor.swings.coarser(0.5))
    both = keypose("swings", tmp_path / "half.swings.json", kick, *told, tmp_path / "both", "--to", "bvh")
    assert both.code == 2 and f"edits go on top of the whole capture {kick}: add --no-detail" in both.err
    assert not (tmp_path / "both").exists()


def test_many_files_go_into_a_folder(keypose, kick: Path, tmp_path: Path) -> None:
    takes = tmp_path / "takes"
    takes.mkdir()
    for name in ("a.bvh", "b.bvh"):
        (takes / name).write_bytes(kick.read_bytes())
    ran = keypose("swings", takes, "--scale", "arms=1.2", "-o", tmp_path / "out", "--to", "swings.json", "-j", 1)
    assert ran.code == 0 and sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a.swings.json", "b.swings.json"]
    assert "2 of 2 clips written" in ran.out and "edited" in ran.out
    again = keypose("swings", takes, "-o", tmp_path / "out", "--to", "swings.json")
    assert again.code == 1 and "exists already" in again.err
    skipped = keypose("swings", takes, "-o", tmp_path / "out", "--to", "swings.json", "--skip-existing")
    assert skipped.code == 0 and "2 that exist left out" in skipped.out
    assert (
        keypose("swings", takes, "-o", tmp_path / "out", "--to", "swings.json", "--overwrite", "-q", "-j", 1).out == ""
    )


def test_swings_beside_their_clip_are_no_clip_of_their_own(keypose, capture: kp.Motion, tmp_path: Path) -> None:
    kp.save(capture[40:80], tmp_path / "a.bvh")
    assert keypose("swings", tmp_path, "-o", tmp_path, "--to", "swings.json").code == 0
    assert [clip["path"] for clip in json.loads(keypose("info", tmp_path, "--json").out)] == [str(tmp_path / "a.bvh")]
    (tmp_path / "a.bvh").unlink()
    (found,) = json.loads(keypose("info", tmp_path, "--json").out)
    assert found["path"] == str(tmp_path / "a.swings.json") and found["frames"] == 40
