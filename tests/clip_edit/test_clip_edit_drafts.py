"""Drafts give the results of the editors, whatever is cached."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_clip_edit_display_space import reorient

import keypose as kp
from keypose.clip_edit import ClipEditor, EditResult, KeysDraft, SwingsDraft, apply_draft, drafts
from keypose.clip_edit.display_data import build_swing_arc
from keypose.clip_edit.steps import (
    DeleteKey,
    DeleteSwing,
    InsertKey,
    IntensifySwings,
    KeyStep,
    LengthenSwing,
    Mirror,
    MoveKey,
    Paste,
    Reach,
    RetimeSwings,
    Rotate,
    ScaleSwing,
    SetSwingAngle,
    SetSwingAxis,
    Shift,
    ShiftSwing,
    ShortenSwing,
    SwingStep,
)
from keypose.curves.edit import Edit
from keypose.errors import OptionError
from keypose.kinematics import UPS
from keypose.rotations import conjugate, multiply
from support.errors import raises

FRAMES = (0, 31, 60, 88, 119)
STEPS: tuple[KeyStep, ...] = (
    Rotate(frame=31, joint="head", euler_degrees=(0, 30, 0), spread_s=0.5),
    Reach(frame=60, joint="left_hand", by=(0.1, 0.2, 0.0), keep_feet=True),
    Shift(frame=88, by=(0.0, 0.05, 0.0), spread_s=0.2),
    InsertKey(frame=45),
    MoveKey(frame=45, to=50),
    Mirror(frame=88),
    Paste(frame=60, from_frame=31),
    DeleteKey(frame=50),
    MoveKey(frame=88, to=95, ripple=True),
)


def keys_draft(*steps: KeyStep, residual: float = 0.0) -> KeysDraft:
    return KeysDraft(frames=FRAMES, steps=steps, residual=residual)


def swings_draft(*steps: SwingStep) -> SwingsDraft:
    return SwingsDraft(steps=steps)


def assert_same_result(first: EditResult, second: EditResult) -> None:
    for name in ("translations", "rotations"):
        np.testing.assert_array_equal(getattr(first.motion, name), getattr(second.motion, name))
    assert (
        first.history == second.history
        and first.changed_frames == second.changed_frames
        and first.reach_error_mm == second.reach_error_mm
    )


def test_key_steps_match_editor(editor: ClipEditor) -> None:
    result = apply_draft(editor, keys_draft(*STEPS))
    scale = 1 / editor.display_space.metres_per_unit
    expected_edit = kp.edit(kp.unbake(editor.motion, FRAMES))
    expected_edit.rotate(31, "head", euler_degrees=(0, 30, 0), spread_s=0.5)
    expected_edit.reach(60, "left_hand", by=np.array((0.1, 0.2, 0.0)) * scale, keep_feet=True)
    expected_edit.shift(88, by=np.array((0.0, 0.05, 0.0)) * scale, spread_s=0.2)
    expected_edit.insert_key(45)
    expected_edit.move_key(45, 50)
    expected_edit.mirror(88)
    expected_edit.paste(60, expected_edit.copy(31))
    expected_edit.delete_key(50)
    expected_edit.move_key(88, 95, ripple=True)
    assert result.keyed is not None
    np.testing.assert_allclose(result.motion.rotations, expected_edit.keyed.sample().rotations, atol=1e-12)
    np.testing.assert_allclose(result.motion.translations, expected_edit.keyed.sample().translations, atol=1e-9)
    assert result.keyed.keys.tolist() == expected_edit.keyed.keys.tolist() == [0, 31, 60, 95, 126]
    assert result.history[0] == expected_edit.history[0] and result.history[6] == "paste(60, copy(31))"
    assert result.changed_frames == expected_edit.last_range
    assert result.score is None  # the number of frames has changed


@pytest.mark.parametrize("up", UPS)
def test_positions_and_offsets_are_in_display_space(motion: kp.Motion, up: str) -> None:
    editor = ClipEditor(reorient(motion, up, 3.0))
    hand = editor.motion.skeleton.joint("left_hand")

    def hand_position(after: EditResult) -> Any:
        return editor.display_space.to_display(after.motion.world_positions())[60, hand]

    start = hand_position(apply_draft(editor, keys_draft()))
    by = apply_draft(editor, keys_draft(Reach(frame=60, joint="left_hand", by=(0.02, 0.03, -0.04))))
    np.testing.assert_allclose(hand_position(by), start + (0.02, 0.03, -0.04), atol=1e-6)
    assert by.reach_error_mm == pytest.approx(0.0, abs=1e-6)
    goal = (start + (0.01, 0.04, -0.03)).tolist()
    to = apply_draft(editor, keys_draft(Reach(frame=60, joint="left_hand", to=goal)))
    np.testing.assert_allclose(hand_position(to), goal, atol=1e-6)
    far = apply_draft(editor, keys_draft(Reach(frame=60, joint="left_hand", by=(0.0, 5.0, 0.0))))
    assert far.reach_error_mm is not None and 3500 < far.reach_error_mm < 5000
    assert far.reach_error_mm == pytest.approx(1000 * np.linalg.norm(hand_position(far) - start - (0, 5, 0)), rel=1e-3)


@pytest.mark.parametrize("up", UPS)
@pytest.mark.parametrize(
    "rotation_fields", [{"quaternion": [np.cos(0.2), 0, np.sin(0.2), 0]}, {"euler_degrees": [0, np.rad2deg(0.4), 0]}]
)
def test_world_rotations_are_in_display_space(motion: kp.Motion, up: str, rotation_fields: dict[str, Any]) -> None:
    editor = ClipEditor(reorient(motion, up, 1.0))
    head = editor.motion.skeleton.joint("head")
    before = apply_draft(editor, keys_draft()).motion.world_rotations()[60, head]
    step = Rotate(frame=60, joint="head", space="world", **rotation_fields)
    after = apply_draft(editor, keys_draft(step)).motion.world_rotations()[60, head]
    rotation = multiply(after, conjugate(before))
    axis = editor.display_space.rotation @ (rotation[1:] * np.sign(rotation[0]))
    np.testing.assert_allclose(axis, (0.0, np.sin(0.2), 0.0), atol=1e-9)


def test_keys_result_is_independent_of_cache(editor: ClipEditor, motion: kp.Motion) -> None:
    for n in (3, 5, 4, 9, 2, 9, 0):
        assert_same_result(
            apply_draft(editor, keys_draft(*STEPS[:n])), apply_draft(ClipEditor(motion), keys_draft(*STEPS[:n]))
        )
    second = (*STEPS[:2], DeleteKey(frame=31))
    assert_same_result(apply_draft(editor, keys_draft(*second)), apply_draft(ClipEditor(motion), keys_draft(*second)))


def test_cached_steps_are_not_applied_again(editor: ClipEditor, monkeypatch: pytest.MonkeyPatch) -> None:
    apply_draft(editor, keys_draft(*STEPS[:5]))
    edits = []

    def count_edit(keyed: kp.KeyedMotion) -> Edit:
        edits.append(keyed)
        return kp.edit(keyed)

    monkeypatch.setattr(drafts, "edit", count_edit)
    apply_draft(editor, keys_draft(*STEPS[:6]))
    assert len(edits) == 1
    apply_draft(editor, keys_draft(*STEPS[:4]))
    apply_draft(editor, keys_draft(*STEPS[:6]))
    assert len(edits) == 1
    apply_draft(ClipEditor(editor.motion), keys_draft(*STEPS[:6]))
    assert len(edits) == 7


def test_residual_share(editor: ClipEditor) -> None:
    bare, half = (apply_draft(editor, keys_draft(*STEPS[:1], residual=share)) for share in (0.0, 0.5))
    expected = kp.edit(kp.unbake(editor.motion, FRAMES))
    expected.rotate(31, "head", euler_degrees=(0, 30, 0), spread_s=0.5)
    np.testing.assert_array_equal(half.motion.rotations, expected.keyed.sample(0.5).rotations)
    assert not np.array_equal(bare.motion.rotations, half.motion.rotations)


@pytest.mark.parametrize(
    ("step", "fields"),
    [
        (DeleteKey(frame=32), {"subject": "step 2, delete_key"}),
        (MoveKey(frame=31, to=70), {"subject": "step 2, move_key", "expected": "1 to 59"}),
        (
            Rotate(frame=31, joint="tail", euler_degrees=(1, 0, 0)),
            {"code": "joint", "subject": "step 2, rotate", "value": "tail"},
        ),
        (Reach(frame=31, joint="head", by=(0, 0, 1)), {"subject": "step 2, reach"}),
    ],
)
def test_key_steps_that_cannot_be_applied(editor: ClipEditor, step: KeyStep, fields: dict[str, Any]) -> None:
    with raises(OptionError, **fields):
        apply_draft(editor, keys_draft(STEPS[0], step))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (DeleteKey(frame=32), "step 2, delete_key: no key at frame 32; the nearest are at"),
        (MoveKey(frame=31, to=70), "step 2, move_key: the key at frame 31 cannot go to 70, expected 1 to 59"),
    ],
)
def test_wording(editor: ClipEditor, step: KeyStep, message: str) -> None:
    """Messages of drafts are pinned here and in ``test_wording_of_fields`` only."""
    with pytest.raises(OptionError) as excinfo:
        apply_draft(editor, keys_draft(STEPS[0], step))
    assert str(excinfo.value).startswith(message)


HAND = {"frame": 31, "joint": "left_hand"}


NAN = float("nan")
INVALID_FIELDS: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [
    (InsertKey, {"op": "explode", "frame": 0}, {"option": "op", "value": "explode"}),
    (
        Rotate,
        {"frame": 31, "joint": "head"},
        {"subject": "rotate", "expected": "either quaternion or euler_degrees"},
    ),
    (Rotate, {"frame": 31, "joint": 5, "euler_degrees": (0, 0, 0)}, {"option": "joint", "value": 5}),
    (Rotate, {**HAND, "euler_degrees": (0, 0, 0), "space": "here"}, {"option": "space", "value": "here"}),
    (Reach, HAND, {"subject": "reach", "expected": "either to or by"}),
    (Reach, {**HAND, "to": (0, 1)}, {"option": "to", "expected": "3"}),
    (Reach, {**HAND, "to": "up"}, {"option": "to", "value": "up", "expected": "several values"}),
    (Reach, {**HAND, "to": (0, 1, NAN)}, {"option": "to", "value": NAN, "expected": "a number"}),
    (
        Reach,
        {"frame": 31, "joint": "x" * 1001, "by": (0, 0, 0)},
        {"option": "joint", "expected": "at most 1000"},
    ),
    (InsertKey, {"frame": 4.5}, {"option": "frame", "value": 4.5}),
    (InsertKey, {"frame": -1}, {"option": "frame", "value": -1, "expected": "at least 0"}),
    (InsertKey, {"frame": 1 << 31}, {"option": "frame", "value": 1 << 31, "expected": "at most 2147483647"}),
    (Mirror, {"frame": 31, "spread_s": 99}, {"option": "spread_s", "value": 99}),
    (Mirror, {"frame": 31, "keep_feet": "yes"}, {"option": "keep_feet", "value": "yes"}),
    (ScaleSwing, {"joint": "head", "index": -1, "factor": 2}, {"option": "index", "value": -1}),
    (LengthenSwing, {"joint": "head", "by_frames": 1, "anchor": "left"}, {"option": "anchor", "value": "left"}),
    (ShiftSwing, {"joint": "head", "by_frames": 1.5}, {"option": "by_frames", "value": 1.5}),
    (KeysDraft, {"frames": ()}, {"option": "frames", "expected": "at least 1"}),
    (KeysDraft, {"frames": (0,), "residual": 9}, {"option": "residual", "value": 9}),
    (KeysDraft, {"frames": (0,), "interpolation": "spline"}, {"option": "interpolation", "value": "spline"}),
    (KeysDraft, {"frames": (0,), "steps": ("delete",)}, {"option": "steps", "value": "delete"}),
    (KeysDraft, {"frames": (0,), "steps": (STEPS[3],) * 5001}, {"option": "steps", "expected": "at most 5000"}),
    (SwingsDraft, {"threshold": 4}, {"option": "threshold", "value": 4}),
    (SwingsDraft, {"steps": (STEPS[3],)}, {"option": "steps", "value": STEPS[3]}),
]


@pytest.mark.parametrize(("step_type", "values", "fields"), INVALID_FIELDS)
def test_invalid_fields(step_type: Any, values: dict[str, Any], fields: dict[str, Any]) -> None:
    with raises(OptionError, code="option") as excinfo:
        step_type(**values)
    for name, expected in fields.items():
        found = getattr(excinfo.value, name)
        assert found == expected or (found != found and expected is NAN), name


@pytest.mark.parametrize(
    ("step_type", "values", "message"),
    [
        (Rotate, {"frame": 31, "joint": "head"}, "rotate: the turn, expected either quaternion or euler_degrees"),
        (Reach, {**HAND, "to": (0, 1)}, "to: 2 numbers, expected 3"),
        (KeysDraft, {"frames": (0,), "residual": 9}, "residual=9, expected a number from 0 to 2"),
        (KeysDraft, {"frames": (0,), "steps": ("delete",)}, "steps='delete', expected one of Rotate, Reach"),
    ],
)
def test_wording_of_fields(step_type: Any, values: dict[str, Any], message: str) -> None:
    """Messages of drafts are pinned here and in ``test_wording`` only."""
    with pytest.raises(OptionError) as excinfo:
        step_type(**values)
    assert str(excinfo.value).startswith(message)


@pytest.mark.parametrize("fields", [{"frame": 45, "to": 3}, {}])
def test_other_fields_than_those_of_the_step(fields: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        InsertKey(**fields)


def test_sequences_become_tuples() -> None:
    assert KeysDraft(frames=[60, 0, 60], steps=[STEPS[3]]) == KeysDraft(frames=(0, 60), steps=(STEPS[3],))
    step = Reach(**HAND, by=np.array([0, 1, 2]))  # type: ignore[arg-type]
    assert step == Reach(**HAND, by=(0.0, 1.0, 2.0)) and hash(step) == hash(Reach(**HAND, by=(0.0, 1.0, 2.0)))  # type: ignore[arg-type]


# Swings


def swing_steps(editor: ClipEditor) -> tuple[SwingStep, ...]:
    joint = next(track.joint for track in editor.swings().tracks if track.n_swings > 2 and "Arm" in track.joint)
    return (
        ScaleSwing(joint=joint, index=1, factor=1.4),
        ShiftSwing(joint=joint, index=1, by_frames=2),
        LengthenSwing(joint=joint, index=0, by_frames=3),
        ShortenSwing(joint=joint, index=0, by_frames=1),
        LengthenSwing(joint=joint, index=1, by_frames=2, anchor="end"),
        DeleteSwing(joint=joint, index=2),
        IntensifySwings(joint="arms", factor=1.2),
    )


def test_swing_steps_match_editor(editor: ClipEditor) -> None:
    steps = swing_steps(editor)
    joint = steps[0].joint
    result = apply_draft(editor, swings_draft(*steps))
    expected_edit = kp.swings(editor.motion).edit(editor.motion)
    expected_edit.scale(expected_edit.swings[joint][1], 1.4)
    expected_edit.shift(expected_edit.swings[joint][1], by_frames=2)
    expected_edit.lengthen(expected_edit.swings[joint][0], by_frames=3)
    expected_edit.shorten(expected_edit.swings[joint][0], by_frames=1)
    expected_edit.lengthen(expected_edit.swings[joint][1], by_frames=2, anchor="end")
    expected_edit.delete(expected_edit.swings[joint][2])
    expected_edit.intensify("arms", 1.2)
    np.testing.assert_array_equal(result.motion.rotations, expected_edit.play().rotations)
    assert result.history == expected_edit.history and result.swings is not None
    assert result.swings.n_swings == expected_edit.swings.n_swings
    assert expected_edit.last_change is not None and result.changed_frames == expected_edit.last_change.range


@pytest.mark.parametrize("step_type", [LengthenSwing, ShortenSwing])
@pytest.mark.parametrize("anchor", ["start", "end"])
def test_anchor_of_swing(editor: ClipEditor, step_type: Any, anchor: str) -> None:
    bar = next(swing for track in editor.swings().tracks for swing in track.swings[1:-1] if swing.n_frames > 8)
    own = editor.swings()[bar.joint]
    index = next(k for k, swing in enumerate(own) if swing.start == bar.start)
    step = step_type(joint=bar.joint, index=index, by_frames=2, anchor=anchor)
    result = apply_draft(editor, swings_draft(step))
    assert result.swings is not None
    after, by = result.swings[bar.joint][index], 2 if step_type is LengthenSwing else -2
    stays = (bar.start, bar.end + by) if anchor == "start" else (bar.start - by, bar.end)
    assert (after.start, after.end) == stays
    assert len(result.history) == 1 and f"anchor='{anchor}'" in result.history[0]


def test_swing_shifted_out_of_clip(editor: ClipEditor) -> None:
    bar = next(swing for track in editor.swings().tracks for swing in track.swings)
    step = ShiftSwing(joint=bar.joint, index=0, by_frames=-bar.start - 1)
    with raises(OptionError, subject="step 1, shift") as excinfo:
        apply_draft(editor, swings_draft(step))
    assert excinfo.value.problem.startswith(f"the swing of {bar.joint} in frames {bar.start} to {bar.end} (")


def test_unedited_swings_play_the_capture(editor: ClipEditor) -> None:
    result = apply_draft(editor, swings_draft())
    np.testing.assert_array_equal(result.motion.rotations, editor.motion.rotations)
    assert (
        result.changed_frames is None and result.history == () and result.score is not None and result.score.max_mm == 0
    )


def test_swings_result_is_independent_of_cache(editor: ClipEditor, motion: kp.Motion) -> None:
    steps = swing_steps(editor)
    for some in (steps[:4], steps[:2], steps[:5], (), steps, (*steps[:2], steps[5]), steps[:3]):
        assert_same_result(
            apply_draft(editor, swings_draft(*some)), apply_draft(ClipEditor(motion), swings_draft(*some))
        )


def test_failed_step_keeps_previous_steps(editor: ClipEditor, motion: kp.Motion) -> None:
    steps = swing_steps(editor)
    wrong = DeleteSwing(joint=steps[0].joint, index=99)
    with raises(OptionError, subject="step 3, delete", option="index", value=99):
        apply_draft(editor, swings_draft(*steps[:2], wrong, *steps[2:]))
    assert_same_result(
        apply_draft(editor, swings_draft(*steps[:3])), apply_draft(ClipEditor(motion), swings_draft(*steps[:3]))
    )


@pytest.mark.parametrize("threshold", [0.0, 0.4, 1.3])
def test_swings_alone(editor: ClipEditor, threshold: float) -> None:
    result = apply_draft(editor, SwingsDraft(threshold=threshold, captured_detail=False))
    found = kp.swings(editor.motion, threshold)
    for name in ("translations", "rotations"):
        np.testing.assert_array_equal(getattr(result.motion, name), getattr(found.play(), name))
    figures, size = result.swing_figures, found.size()
    assert figures is not None and figures.n_swings == found.n_swings
    assert figures.error_deg == pytest.approx(found.error(editor.motion), rel=1e-12)
    assert (figures.stored_bytes, figures.raw_bytes) == (size.total, size.raw_bytes)
    assert figures.left_out_bytes == size.left_out
    assert result.score is not None
    assert result.score.mean_mm == pytest.approx(kp.score(editor.motion, found.play()).mean_mm)


def test_edited_swings_alone(editor: ClipEditor) -> None:
    swing = editor.swings()["RightUpLeg"][-2]
    step = SetSwingAngle(joint="RightUpLeg", index=len(editor.swings()["RightUpLeg"]) - 2, degrees=40.0)
    result = apply_draft(editor, SwingsDraft(captured_detail=False, steps=(step,)))
    expected = kp.swings(editor.motion).edit()
    expected.set_angle(swing, 40.0)
    np.testing.assert_array_equal(result.motion.rotations, expected.play().rotations)
    assert result.swing_figures is None  # an edit is no error


def test_swing_in_numbers(editor: ClipEditor) -> None:
    """Steps with an angle, an axis or a factor are the operations of the editor of swings."""
    steps: tuple[SwingStep, ...] = (
        SetSwingAngle(joint="LeftArm", index=1, degrees=-25.0, return_s=0.5),
        SetSwingAxis(joint="LeftArm", index=0, axis=(0.0, 3.0, 4.0)),
        RetimeSwings(factor=1.5, from_frame=30, to_frame=60),
        RetimeSwings(factor=0.5, keep_contacts=False),
    )
    result = apply_draft(editor, SwingsDraft(steps=steps))
    expected = kp.swings(editor.motion).edit(editor.motion)
    expected.set_angle(expected.swings["LeftArm"][1], -25.0, return_s=0.5)
    expected.set_axis(expected.swings["LeftArm"][0], (0.0, 0.6, 0.8))
    fps = editor.motion.fps
    expected.retime("all", 1.5, from_s=30 / fps, to_s=60 / fps)
    expected.retime("all", 0.5, keep=None)
    assert result.motion.n_frames == expected.play().n_frames == 68  # 120 and 15 more, halved
    np.testing.assert_allclose(result.motion.rotations, expected.play().rotations, atol=1e-12)
    assert result.score is None and result.swings is not None


def test_dragged_thresholds_evict_nothing_else(editor: ClipEditor) -> None:
    apply_draft(editor, keys_draft(STEPS[0]))
    cached = set(editor.cache)
    for threshold in np.linspace(0.1, 2.0, 40).tolist():
        apply_draft(editor, SwingsDraft(threshold=threshold, captured_detail=False))
    assert set(editor.cache) == cached


@pytest.mark.parametrize("up", UPS)
@pytest.mark.parametrize("joint", ["RightUpLeg", "LeftForeArm", "Hips"])
def test_arc_of_a_swing(motion: kp.Motion, joint: str, up: str) -> None:
    """The end of the bone is at the first point of the arc when the swing starts, and at the last one when it ends."""
    turned = reorient(motion, up, 0.01)
    editor = ClipEditor(turned)
    played = editor.swings().play()
    positions = editor.display_space.to_display(played.world_positions())
    swing = max(editor.swings()[joint], key=lambda each: each.angle)
    arc = build_swing_arc(swing, played, editor.display_space)
    assert arc.origins.shape == (motion.n_frames, 3) and arc.rotations.shape == (motion.n_frames, 3, 3)
    tips = []
    for frame, point in ((swing.start, arc.points[0]), (swing.end, arc.points[-1])):
        tip = arc.origins[frame] + arc.rotations[frame] @ point
        distances = np.linalg.norm(positions[frame] - tip, axis=1)
        assert distances.min() < 1e-4
        tips.append(int(distances.argmin()))
    assert tips[0] == tips[1] != turned.skeleton.joint(joint)
    np.testing.assert_allclose(arc.origins, positions[:, turned.skeleton.joint(joint)], atol=1e-5)
    lengths = np.linalg.norm(arc.points, axis=1)
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-5)
    heights = arc.points @ arc.axis
    np.testing.assert_allclose(heights, heights[0], atol=1e-5)


def test_arc_of_a_bone_that_turns_about_itself(editor: ClipEditor) -> None:
    swing = editor.swings()["LeftForeArm"][0]
    hand = editor.motion.skeleton.offsets[editor.motion.skeleton.joint("LeftHand")]
    twist = replace(swing, axis=hand / np.linalg.norm(hand), angle=1.0)
    arc = build_swing_arc(twist, editor.motion, editor.display_space)
    radii = np.linalg.norm(np.cross(arc.points, arc.axis), axis=1)
    np.testing.assert_allclose(radii, 0.4 * np.linalg.norm(hand) * editor.display_space.metres_per_unit, rtol=1e-4)
