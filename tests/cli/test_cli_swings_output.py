"""``keypose swings -o``: played and edited motions match the Python API."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.cli.unbake import format_mm
from keypose.formats import load_swings
from support.swings_cases import document, same_motion, same_swings


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".bvh.gz"])
def test_the_played_motion_is_written(keypose, kick: Path, kick_swings: kp.Swings, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / "new" / f"out{suffix}"
    result = keypose("swings", kick, "-o", out, "--level", 0.5)
    assert (result.code, result.err) == (0, "")
    expected = kick_swings.play(0.5)
    if suffix != ".glb":  # which has its own axes and units
        assert same_motion(out, expected)
    assert kp.load(out).n_frames == expected.n_frames
    assert "50 % of them with the largest angles" in result.out and f"{out} (" in result.out
    assert f"{format_mm(kick_swings.simplify(0.5).error(kp.load(kick)))} degrees" in result.out


def test_swings_are_written_and_read_again(keypose, kick: Path, kick_swings: kp.Swings, tmp_path: Path) -> None:
    out = tmp_path / "kick.swings.json"
    assert keypose("swings", kick, "-o", out).code == 0
    assert same_swings(load_swings(out), kick_swings)
    result = keypose("swings", out)
    assert (result.code, result.err) == (0, "") and "degrees, all angles" not in result.out
    assert f"{kick_swings.n_swings} of " in result.out
    payload = document(keypose("swings", out, "--json"))
    assert (payload["error_deg"], payload["score"]) == (None, None) and payload["n_swings"] == kick_swings.n_swings
    assert payload["settings"]["left_out"] == list(kick_swings.settings.left_out)
    edited = keypose("swings", out, "--scale", "right_leg=1.2", "-o", tmp_path / "edited.bvh")
    assert edited.code == 0
    editor = kick_swings.edit()
    editor.scale("right_leg", 1.2)
    assert same_motion(tmp_path / "edited.bvh", editor.play())


def edited_by(kick_swings: kp.Swings, capture: kp.Motion | None, *operations, **play) -> kp.Motion:
    editor = kick_swings.edit(capture)
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
    keypose, kick: Path, capture: kp.Motion, kick_swings: kp.Swings, tmp_path: Path, line: list[str], operations
) -> None:
    out = tmp_path / "out.bvh"
    result = keypose("swings", kick, *line, "-o", out)
    if operations is None:  # deleted swings cannot be scaled: edits are applied in order
        assert result.code == 1 and "--scale head=2: 'head': no swing at all" in result.err and not out.exists()
        return
    assert result.code == 0, result.err
    assert same_motion(out, edited_by(kick_swings, capture, *operations))
    assert result.out.count(" edit ") == len(operations)


def test_an_edit_means_the_swings_that_fit(
    keypose, kick: Path, capture: kp.Motion, kick_swings: kp.Swings, tmp_path: Path
) -> None:
    result = keypose(
        "swings", kick, "--longer-s", 0.2, "--from-s", 1, "--scale", "right_leg=0.6", "-o", tmp_path / "o.bvh"
    )
    chosen = kick_swings.find("right_leg", longer_s=0.2, from_s=1)
    assert 0 < len(chosen) < len(kick_swings.find("right_leg"))
    assert same_motion(tmp_path / "o.bvh", edited_by(kick_swings, capture, ("scale", chosen, 0.6)))
    assert f"--scale right_leg=0.6: {len(chosen)} swings; " in result.out


def test_keep_feet_option(keypose, kick: Path, capture: kp.Motion, kick_swings: kp.Swings, tmp_path: Path) -> None:
    line = ("swings", kick, "--scale", "right_leg=0.8")
    held = document(keypose(*line, "-o", tmp_path / "held.bvh", "--json"))["written"][0]
    free = document(keypose(*line, "--no-keep-feet", "-o", tmp_path / "free.bvh", "--json"))["written"][0]
    assert held["feet_held_mm"] > 1 and free["feet_held_mm"] is None
    assert same_motion(
        tmp_path / "free.bvh", edited_by(kick_swings, capture, ("scale", "right_leg", 0.8), keep_feet=False)
    )
    assert same_motion(tmp_path / "held.bvh", edited_by(kick_swings, capture, ("scale", "right_leg", 0.8)))
    assert not same_motion(
        tmp_path / "held.bvh", edited_by(kick_swings, capture, ("scale", "right_leg", 0.8), keep_feet=False)
    )
    assert (
        f"moved an ankle by {format_mm(held['feet_held_mm'])} mm at most"
        in keypose(*line, "-o", tmp_path / "2.bvh").out
    )
    noted = keypose(*line, "-o", tmp_path / "held.swings.json")
    assert "feet are held only where a motion is written" in noted.err


def test_swings_are_copied_to_the_other_side(keypose, kick: Path, kick_swings: kp.Swings, tmp_path: Path) -> None:
    out = tmp_path / "o.swings.json"
    assert keypose("swings", kick, "--mirror-copy", "right_forearm", "-o", out).code == 0
    ours, theirs = kick_swings["right_forearm"], load_swings(out)["left_forearm"]
    assert len(ours) > 1 and {(s.start, s.end) for s in ours} <= {(s.start, s.end) for s in theirs}


def test_copies_report_what_they_replace(keypose, kick: Path, kick_swings: kp.Swings, tmp_path: Path) -> None:
    payload = document(keypose("swings", kick, "--mirror-copy", "right_leg", "--json", "-o", tmp_path / "o.bvh"))
    names = {"right_thigh": "left_thigh", "right_shin": "left_shin", "right_foot": "left_foot"}
    hit = {
        (other, n)
        for ours, other in names.items()
        for n, swing in enumerate(kick_swings[other])
        if any(swing.start <= our.end and our.start <= swing.end for our in kick_swings[ours])
    }
    assert len(hit) > 10
    note = f"{len(hit)} swings of LeftUpLeg, LeftLeg and LeftFoot are replaced"
    assert payload["written"][0]["edits"][0]["note"] == note and note in payload["written"][0]["notes"]


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
        result = keypose("swings", kick, "--fallback", "keys", *line, edit, "right_leg=1.05" if more else "right_leg", "-o", tmp_path / "o.bvh",
                       "--overwrite", "--json")  # fmt: skip
        (edited,) = document(result)["written"][0]["edits"]
        count = "1 keyed span of " if len(spans) == 1 else f"{len(spans)} keyed spans of "
        stay = f"{' is no swing and stays' if len(spans) == 1 else ' are no swings and stay'}{more}"
        assert re.search(rf"(^|; ){count}(Right\w+(, | and )?)+{stay}$", edited["note"]), edited["note"]


def test_keys_of_other_joints_or_left_out_ones_are_no_matter(keypose, kick: Path, tmp_path: Path) -> None:
    line = ("swings", kick, "--json", "--overwrite", "-o", tmp_path / "o.bvh", "--fallback", "keys")
    for edit in (("--intensify", "legs=1.1"), ("--retime", "1.2")):
        assert "keyed" not in document(keypose(*line, *edit))["written"][0]["edits"][0]["note"]
    plain = keypose(*line[:-2], "--scale", "right_leg=1.1")  # toes are stored frame by frame
    assert "keyed" not in document(plain)["written"][0]["edits"][0]["note"]


def test_feet_are_held_once_and_what_is_written_is_judged(
    keypose, kick: Path, capture: kp.Motion, kick_swings: kp.Swings, tmp_path: Path, monkeypatch
) -> None:
    calls = []
    plant_feet = kp.SwingEdit.plant_feet
    monkeypatch.setattr(kp.SwingEdit, "plant_feet", lambda self, *a: calls.append(a) or plant_feet(self, *a))
    line = ("swings", kick, "--scale", "torso=-4", "--json", "-o")
    held = document(keypose(*line, tmp_path / "held.bvh"))["written"][0]
    assert len(calls) == 1
    free = document(keypose(*line, tmp_path / "free.bvh", "--no-keep-feet"))["written"][0]
    assert len(calls) == 1
    payload = document(keypose(*line, tmp_path / "kept.swings.json"))["written"][0]
    assert len(calls) == 1
    for result, source, keep_feet in ((held, capture, True), (free, capture, False), (payload, None, False)):
        editor = kick_swings.edit(source)
        editor.scale("torso", -4)
        assert result["tips"] == list(editor.find_tips(editor.play(keep_feet=keep_feet)))
    assert held["tips"] != free["tips"] != payload["tips"]


def test_notes_of_edits_are_printed(
    keypose, kick: Path, capture: kp.Motion, kick_swings: kp.Swings, tmp_path: Path
) -> None:
    crowded = keypose("swings", kick, "--retime", "arms=3", "-o", tmp_path / "crowded.bvh")
    note = kick_swings.edit(capture).retime("arms", 3).note
    assert crowded.code == 0 and note.startswith("28 of 28 swings") and crowded.err == f"note: {kick}: {note}\n"
    line = ("swings", kick, "--scale", "torso=-4")
    change = kick_swings.edit(capture).scale("torso", -4)
    assert change.tips and change.tips[0].startswith("tips over from ")
    assert change.plant_result is not None and "which its leg cannot reach" in change.plant_result.note
    falling = keypose(*line, "-o", tmp_path / "falling.bvh")
    notes = [change.note, change.plant_result.note, *change.tips]
    assert falling.code == 0 and falling.err == "".join(f"note: {kick}: {note}\n" for note in notes)
    payload = document(keypose(*line, "-o", tmp_path / "again.bvh", "--json"))["written"][0]
    assert payload["tips"] == list(change.tips) and payload["notes"] == notes


def test_edits_go_on_top_of_the_capture(
    keypose, kick: Path, capture: kp.Motion, kick_swings: kp.Swings, tmp_path
) -> None:
    line = ("swings", kick, "--scale", "head=1.5", "--json", "-o")
    over = document(keypose(*line, tmp_path / "over.bvh"))["written"][0]
    bare = document(keypose(*line, tmp_path / "bare.bvh", "--no-detail"))["written"][0]
    assert (over["over_capture"], bare["over_capture"]) == (True, False)
    assert same_motion(tmp_path / "over.bvh", edited_by(kick_swings, capture, ("scale", "head", 1.5)))
    assert same_motion(tmp_path / "bare.bvh", edited_by(kick_swings, None, ("scale", "head", 1.5)))
    legs = capture.joints("legs")
    edited = kp.load(tmp_path / "over.bvh")
    assert np.abs(edited.world_positions()[:, legs] - capture.world_positions()[:, legs]).max() < 1e-4
    kp.save(kick_swings, tmp_path / "kick.swings.json")
    again = document(keypose("swings", tmp_path / "kick.swings.json", *line[2:], tmp_path / "again.bvh"))["written"][0]
    assert again["over_capture"] is False and same_motion(tmp_path / "again.bvh", kp.load(tmp_path / "bare.bvh"))


def test_a_level_of_what_is_edited(
    keypose, kick: Path, capture: kp.Motion, kick_swings: kp.Swings, tmp_path: Path
) -> None:
    """Without a capture, an edit plays any fraction of the swings."""
    kp.save(kick_swings, tmp_path / "kick.swings.json")
    arguments = ("--scale", "arms=1.5", "--level", 0.5, "-o")
    expected = edited_by(kick_swings, None, ("scale", "arms", 1.5), level=0.5)
    for source, more in ((tmp_path / "kick.swings.json", ()), (kick, ("--no-detail",))):
        assert keypose("swings", source, *arguments, tmp_path / "half.bvh", "--overwrite", *more).code == 0
        assert same_motion(tmp_path / "half.bvh", expected)
    assert keypose("swings", kick, *arguments, tmp_path / "half.swings.json").code == 0  # the swings are written
    editor = kick_swings.edit(capture)
    editor.scale("arms", 1.5)
    assert same_swings(load_swings(tmp_path / "half.swings.json"), editor.swings.simplify(0.5))
    both = keypose("swings", tmp_path / "half.swings.json", kick, *arguments, tmp_path / "both", "--to", "bvh")
    assert both.code == 2 and f"edits go on top of the whole capture {kick}; add --no-detail" in both.err
    assert not (tmp_path / "both").exists()


def test_many_files_go_into_a_folder(keypose, kick: Path, tmp_path: Path) -> None:
    takes = tmp_path / "takes"
    takes.mkdir()
    for name in ("a.bvh", "b.bvh"):
        (takes / name).write_bytes(kick.read_bytes())
    result = keypose("swings", takes, "--scale", "arms=1.2", "-o", tmp_path / "out", "--to", "swings.json", "-j", 1)
    assert result.code == 0 and sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "a.swings.json",
        "b.swings.json",
    ]
    assert "2 of 2 clips written" in result.out and "edited" in result.out
    again = keypose("swings", takes, "-o", tmp_path / "out", "--to", "swings.json")
    assert again.code == 1 and "exists already" in again.err
    skipped = keypose("swings", takes, "-o", tmp_path / "out", "--to", "swings.json", "--skip-existing")
    assert skipped.code == 0 and "2 existing skipped" in skipped.out
    assert (
        keypose("swings", takes, "-o", tmp_path / "out", "--to", "swings.json", "--overwrite", "-q", "-j", 1).out == ""
    )


def test_swings_beside_their_clip_are_no_clip_of_their_own(keypose, capture: kp.Motion, tmp_path: Path) -> None:
    kp.save(capture[40:80], tmp_path / "a.bvh")
    assert keypose("swings", tmp_path, "-o", tmp_path, "--to", "swings.json").code == 0
    assert [clip["path"] for clip in json.loads(keypose("info", tmp_path, "--json").out)] == [str(tmp_path / "a.bvh")]
    (tmp_path / "a.bvh").unlink()
    (payload,) = json.loads(keypose("info", tmp_path, "--json").out)
    assert payload["path"] == str(tmp_path / "a.swings.json") and payload["frames"] == 40


def test_actions_are_those_of_the_capture(
    keypose, kick: Path, kick_swings: kp.Swings, capture: kp.Motion, tmp_path: Path
) -> None:
    actions = kick_swings.actions(capture)
    listed = document(keypose("swings", kick, "--actions", "--json"))["actions"]
    assert [each["description"] for each in listed] == [action.description for action in actions]
    first = next(each for each in listed if each["members"])
    expected = next(action for action in actions if action.members)
    assert (first["kind"], first["lead"], first["start"], first["end"]) == (
        expected.kind,
        expected.lead,
        expected.start,
        expected.end,
    )
    assert [member["limbs"] for member in first["members"]] == [list(member.limbs) for member in expected.members]
    result = keypose("swings", kick, "--actions")
    assert result.code == 0 and all(action.phrase in result.out for action in actions)
    assert keypose("swings", kick, "-o", tmp_path / "kick.swings.json").code == 0
    played = document(keypose("swings", tmp_path / "kick.swings.json", "--actions", "--json"))["actions"]
    assert [each["description"] for each in played] == [action.description for action in kick_swings.actions()]


def test_actions_of_several_files_and_of_none(keypose, kick: Path, tmp_path: Path) -> None:
    names = tuple(f"marker{n}" for n in range(3))
    skeleton = kp.Skeleton(names, np.full(3, -1), np.eye(3))
    markers = kp.Motion(
        "dots", skeleton, 30.0, np.tile(skeleton.offsets, (9, 1, 1)), np.tile((1.0, 0, 0, 0), (9, 3, 1))
    )
    kp.save(markers, tmp_path / "dots.glb")
    result = keypose("swings", kick, tmp_path / "dots.glb", "--actions")
    assert result.code == 0, result.err
    assert "kicks forward" in result.out and "no actions: no arm or leg is recognised" in result.out
    payload = document(keypose("swings", tmp_path / "dots.glb", "--actions", "--json"))
    assert payload["actions"] == [] and any("no actions" in note for note in payload["notes"])
