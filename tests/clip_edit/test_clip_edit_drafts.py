"""Drafts give the results of the editors, whatever is cached."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_clip_edit_display_space import reorient

import keypose as kp
from keypose.clip_edit import ClipEditor, EditResult, apply_draft, drafts, parse_draft
from keypose.curves.edit import Edit
from keypose.errors import OptionError
from keypose.kinematics import UPS
from keypose.rotations import conjugate, multiply
from support.errors import raises

FRAMES = (0, 31, 60, 88, 119)
STEPS: tuple[dict[str, Any], ...] = (
    {"op": "rotate", "frame": 31, "joint": "head", "euler_degrees": [0, 30, 0], "spread_s": 0.5},
    {"op": "reach", "frame": 60, "joint": "left_hand", "by": [0.1, 0.2, 0.0], "keep_feet": True},
    {"op": "shift", "frame": 88, "by": [0.0, 0.05, 0.0], "spread_s": 0.2},
    {"op": "insert_key", "frame": 45},
    {"op": "move_key", "frame": 45, "to": 50},
    {"op": "mirror", "frame": 88},
    {"op": "paste", "frame": 60, "from_frame": 31},
    {"op": "delete_key", "frame": 50},
    {"op": "move_key", "frame": 88, "to": 95, "ripple": True},
)


def keys_draft(*steps: dict[str, Any], **fields: Any) -> Any:
    return parse_draft({"kind": "keys", "frames": list(FRAMES), "steps": list(steps), **fields})


def swings_draft(*steps: dict[str, Any]) -> Any:
    return parse_draft({"kind": "swings", "steps": list(steps)})


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
    by = apply_draft(editor, keys_draft({"op": "reach", "frame": 60, "joint": "left_hand", "by": [0.02, 0.03, -0.04]}))
    np.testing.assert_allclose(hand_position(by), start + (0.02, 0.03, -0.04), atol=1e-6)
    assert by.reach_error_mm == pytest.approx(0.0, abs=1e-6)
    goal = (start + (0.01, 0.04, -0.03)).tolist()
    to = apply_draft(editor, keys_draft({"op": "reach", "frame": 60, "joint": "left_hand", "to": goal}))
    np.testing.assert_allclose(hand_position(to), goal, atol=1e-6)
    far = apply_draft(editor, keys_draft({"op": "reach", "frame": 60, "joint": "left_hand", "by": [0.0, 5.0, 0.0]}))
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
    step = {"op": "rotate", "frame": 60, "joint": "head", "space": "world", **rotation_fields}
    after = apply_draft(editor, keys_draft(step)).motion.world_rotations()[60, head]
    rotation = multiply(after, conjugate(before))
    axis = editor.display_space.rotation @ (rotation[1:] * np.sign(rotation[0]))
    np.testing.assert_allclose(axis, (0.0, np.sin(0.2), 0.0), atol=1e-9)


def test_keys_result_is_independent_of_cache(editor: ClipEditor, motion: kp.Motion) -> None:
    for n in (3, 5, 4, 9, 2, 9, 0):
        assert_same_result(
            apply_draft(editor, keys_draft(*STEPS[:n])), apply_draft(ClipEditor(motion), keys_draft(*STEPS[:n]))
        )
    second = (*STEPS[:2], {"op": "delete_key", "frame": 31})
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


INVALID_KEY_STEPS: list[tuple[Any, dict[str, Any]]] = [
    ({"op": "explode", "frame": 0}, {"subject": "step 2", "option": "op", "value": "explode"}),
    ({"op": "rotate", "frame": 31}, {"subject": "step 2", "option": "rotate", "problem": "no 'joint'"}),
    (
        {"op": "rotate", "frame": 31, "joint": "head"},
        {"subject": "step 2: rotate", "expected": "either quaternion or euler_degrees"},
    ),
    (
        {"op": "reach", "frame": 31, "joint": "left_hand", "to": [0, 1]},
        {"subject": "step 2", "option": "to", "expected": "3"},
    ),
    (
        {"op": "reach", "frame": 31, "joint": "left_hand", "to": [0, 1, float("nan")]},
        {"subject": "step 2", "option": "to", "expected": "a number"},
    ),
    ({"op": "reach", "frame": 31, "joint": "left_hand"}, {"subject": "step 2: reach", "expected": "either to or by"}),
    (
        {"op": "insert_key", "frame": 45, "to": 3},
        {"subject": "step 2", "option": "insert_key", "problem": "'to'", "expected": "only frame"},
    ),
    ({"op": "insert_key", "frame": 4.5}, {"subject": "step 2", "option": "frame", "value": 4.5}),
    ({"op": "insert_key"}, {"subject": "step 2", "option": "insert_key", "problem": "no 'frame'"}),
    ({"op": "move_key", "frame": 31}, {"subject": "step 2", "option": "move_key", "problem": "no 'to'"}),
    ({"op": "mirror", "frame": 31, "spread_s": 99}, {"subject": "step 2", "option": "spread_s", "value": 99}),
    ("delete", {"subject": "step 2", "option": "step", "value": "delete"}),
    ({"op": "delete_key", "frame": 32}, {"subject": "step 2, delete_key"}),
    ({"op": "move_key", "frame": 31, "to": 70}, {"subject": "step 2, move_key", "expected": "1 to 59"}),
    (
        {"op": "rotate", "frame": 31, "joint": "tail", "euler_degrees": [1, 0, 0]},
        {"code": "joint", "subject": "step 2, rotate", "value": "tail"},
    ),
    ({"op": "reach", "frame": 31, "joint": "head", "by": [0, 0, 1]}, {"subject": "step 2, reach"}),
]


@pytest.mark.parametrize(("step", "fields"), INVALID_KEY_STEPS)
def test_invalid_key_steps(editor: ClipEditor, step: Any, fields: dict[str, Any]) -> None:
    with raises(OptionError, **fields):
        apply_draft(editor, keys_draft(STEPS[0], step))


@pytest.mark.parametrize(
    ("payload", "fields"),
    [
        ({"kind": "poses"}, {"option": "kind", "value": "poses"}),
        ({"kind": "keys"}, {"option": "draft", "problem": "no 'frames'"}),
        ({"kind": "keys", "frames": []}, {"option": "draft", "expected": "at least one key"}),
        ({"kind": "keys", "frames": [0], "threshold": 1}, {"option": "draft", "problem": "'threshold'"}),
        ({"kind": "keys", "frames": [0], "residual": 9}, {"option": "residual", "value": 9}),
        ({"kind": "keys", "frames": [0], "interpolation": "spline"}, {"option": "interpolation", "value": "spline"}),
        ({"kind": "keys", "frames": [0], "steps": [{}] * 5001}, {"option": "draft", "expected": "at most 5000"}),
        ({"kind": "swings", "threshold": 0}, {"option": "threshold", "value": 0}),
        ([], {"option": "draft", "value": []}),
    ],
)
def test_invalid_drafts(payload: Any, fields: dict[str, Any]) -> None:
    with raises(OptionError, code="option", **fields):
        parse_draft(payload)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"op": "rotate", "frame": 31, "joint": "head"}, "step 2: rotate: the turn, expected either quaternion or euler_degrees"),
        ({"op": "insert_key", "frame": 45, "to": 3}, "step 2: insert_key: 'to', expected only frame"),
        ({"op": "insert_key", "frame": 4.5}, "step 2: frame=4.5, expected a whole number"),
        ({"op": "delete_key", "frame": 32}, "step 2, delete_key: no key at frame 32; the nearest are at"),
        ({"op": "move_key", "frame": 31, "to": 70}, "step 2, move_key: the key at frame 31 cannot go to 70, expected 1 to 59"),
    ],
)  # fmt: skip
def test_wording(editor: ClipEditor, step: Any, message: str) -> None:
    """Messages of drafts are pinned here and in ``test_wording_of_swing_steps`` only."""
    with pytest.raises(OptionError) as excinfo:
        apply_draft(editor, keys_draft(STEPS[0], step))
    assert str(excinfo.value).startswith(message)


# Swings


def swing_steps(editor: ClipEditor) -> tuple[dict[str, Any], ...]:
    joint = next(track.joint for track in editor.swings().tracks if track.n_swings > 2 and "Arm" in track.joint)
    return (
        {"op": "scale", "joint": joint, "index": 1, "factor": 1.4},
        {"op": "shift", "joint": joint, "index": 1, "by_frames": 2},
        {"op": "lengthen", "joint": joint, "index": 0, "by_frames": 3},
        {"op": "shorten", "joint": joint, "index": 0, "by_frames": 1},
        {"op": "lengthen", "joint": joint, "index": 1, "by_frames": 2, "anchor": "end"},
        {"op": "delete", "joint": joint, "index": 2},
        {"op": "intensify", "joint": "arms", "factor": 1.2},
    )


def test_swing_steps_match_editor(editor: ClipEditor) -> None:
    steps = swing_steps(editor)
    joint = steps[0]["joint"]
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


@pytest.mark.parametrize("op", ["lengthen", "shorten"])
@pytest.mark.parametrize("anchor", ["start", "end"])
def test_anchor_of_swing(editor: ClipEditor, op: str, anchor: str) -> None:
    bar = next(swing for track in editor.swings().tracks for swing in track.swings[1:-1] if swing.n_frames > 8)
    own = editor.swings()[bar.joint]
    index = next(k for k, swing in enumerate(own) if swing.start == bar.start)
    step = {"op": op, "joint": bar.joint, "index": index, "by_frames": 2, "anchor": anchor}
    result = apply_draft(editor, swings_draft(step))
    assert result.swings is not None
    after, by = result.swings[bar.joint][index], 2 if op == "lengthen" else -2
    stays = (bar.start, bar.end + by) if anchor == "start" else (bar.start - by, bar.end)
    assert (after.start, after.end) == stays
    assert len(result.history) == 1 and f"anchor='{anchor}'" in result.history[0]


def test_swing_shifted_out_of_clip(editor: ClipEditor) -> None:
    bar = next(swing for track in editor.swings().tracks for swing in track.swings)
    step = {"op": "shift", "joint": bar.joint, "index": 0, "by_frames": -bar.start - 1}
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
    wrong = {"op": "delete", "joint": steps[0]["joint"], "index": 99}
    with raises(OptionError, subject="step 3, delete", option="index", value=99):
        apply_draft(editor, swings_draft(*steps[:2], wrong, *steps[2:]))
    assert_same_result(
        apply_draft(editor, swings_draft(*steps[:3])), apply_draft(ClipEditor(motion), swings_draft(*steps[:3]))
    )


INVALID_SWING_STEPS: list[tuple[Any, dict[str, Any]]] = [
    ({"op": "scale", "joint": "head"}, {"subject": "step 1: scale", "option": "factor", "expected": "a number"}),
    (
        {"op": "scale", "joint": "head", "factor": 2, "by_frames": 1},
        {"subject": "step 1: scale", "option": "by_frames", "value": 1, "expected": "none"},
    ),
    (
        {"op": "intensify", "joint": "arms", "factor": 2, "index": 0},
        {"subject": "step 1: intensify", "option": "index", "value": 0},
    ),
    (
        {"op": "shift", "joint": "head", "by_frames": 1, "anchor": "end"},
        {"subject": "step 1: shift", "option": "anchor", "value": "end", "expected": "none"},
    ),
    (
        {"op": "lengthen", "joint": "head", "by_frames": 1, "anchor": "left"},
        {"subject": "step 1", "option": "anchor", "value": "left"},
    ),
    ({"op": "shift", "joint": "head", "by_frames": 1.5}, {"subject": "step 1", "option": "by_frames", "value": 1.5}),
    ({"op": "delete"}, {"subject": "step 1", "option": "step", "problem": "no 'joint'"}),
    ({"op": "bend", "joint": "head"}, {"subject": "step 1", "option": "op", "value": "bend"}),
]


@pytest.mark.parametrize(("step", "fields"), INVALID_SWING_STEPS)
def test_invalid_swing_steps(step: Any, fields: dict[str, Any]) -> None:
    with raises(OptionError, code="option", **fields):
        swings_draft(step)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"op": "scale", "joint": "head"}, "step 1: scale: factor, expected a number"),
        (
            {"op": "intensify", "joint": "arms", "factor": 2, "index": 0},
            "step 1: intensify: index=0, expected none: it is for all swings of joints",
        ),
        ({"op": "delete"}, "step 1: step: no 'joint', expected one"),
    ],
)
def test_wording_of_swing_steps(step: Any, message: str) -> None:
    """Messages of drafts are pinned here and in ``test_wording`` only."""
    with pytest.raises(OptionError) as excinfo:
        swings_draft(step)
    assert str(excinfo.value) == message


ANY_VALUE = (
    st.none()
    | st.booleans()
    | st.integers(-5, 200)
    | st.floats()
    | st.text(max_size=3)
    | st.lists(st.floats(), max_size=4)
)
FIELD_NAMES = st.sampled_from(
    [
        "frame",
        "joint",
        "to",
        "by",
        "quaternion",
        "euler_degrees",
        "space",
        "spread_s",
        "from_frame",
        "ripple",
        "index",
        "x",
    ]
)


@given(
    st.sampled_from(["keys", "swings"]),
    st.sampled_from(["rotate", "reach", "shift", "move_key", "insert_key", "mirror", "paste", "scale", "delete"]),
    st.dictionaries(FIELD_NAMES, ANY_VALUE, max_size=5),
)
def test_arbitrary_steps(kind: str, op: str, fields: dict[str, Any]) -> None:
    frames = {"frames": [0]} if kind == "keys" else {}
    try:
        result = parse_draft({"kind": kind, **frames, "steps": [{"op": op, **fields}]})
    except kp.KeyposeError as error:
        assert str(error.subject).startswith("step 1")
    else:
        assert result.steps[0].op == op and set(fields) <= set(vars(result.steps[0])) | {
            k for k, v in fields.items() if v is None
        }
