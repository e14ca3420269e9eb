"""The API accepts exactly the drafts that the classes of ``clip_edit`` describe."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import keypose as kp
from keypose.clip_edit.drafts import MAX_STEPS, Draft, KeysDraft, SwingsDraft
from keypose.clip_edit.steps import KeyStep, Mirror, MoveKey, ScaleSwing, SwingStep
from keypose.server.schema.keys import DRAFT, DraftRequest, EditRequest

STEP_TYPES: dict[str, dict[str, Any]] = {
    kind: {step_type.op: step_type for step_type in get_args(get_args(union)[0])}
    for kind, union in (("keys", KeyStep), ("swings", SwingStep))
}
START: dict[str, dict[str, Any]] = {"keys": {"kind": "keys", "frames": [0]}, "swings": {"kind": "swings"}}


def test_drafts_become_those_of_clip_edit() -> None:
    steps = [{"op": "mirror", "frame": 31}, {"op": "move_key", "frame": 31, "to": 40}]
    draft: Draft = EditRequest.model_validate({"draft": {**START["keys"], "frames": [31, 0], "steps": steps}}).draft
    assert draft == KeysDraft(frames=(0, 31), steps=(Mirror(frame=31), MoveKey(frame=31, to=40)))
    scale = {"op": "scale", "joint": "head", "factor": 2}
    assert DRAFT.validate_python({"kind": "swings", "steps": [scale]}) == SwingsDraft(
        steps=(ScaleSwing(joint="head", factor=2.0),)
    )


HAND = {"frame": 31, "joint": "left_hand"}
INVALID_STEPS = {
    "no operation": ("keys", {"frame": 0}, "steps.0"),
    "unknown operation": ("keys", {"op": "explode", "frame": 0}, "steps.0"),
    "operation of swings": ("keys", {"op": "scale", "joint": "head", "factor": 2}, "steps.0"),
    "no object": ("keys", "delete", "steps.0"),
    "no joint": ("keys", {"op": "rotate", "frame": 31, "euler_degrees": [0, 0, 0]}, "rotate.joint"),
    "no turn": ("keys", {"op": "rotate", **HAND}, "steps.0.rotate"),
    "two numbers": ("keys", {"op": "reach", **HAND, "to": [0, 1]}, "reach.to"),
    "four numbers": ("keys", {"op": "reach", **HAND, "to": [0, 1, 2, 3]}, "reach.to"),
    "not finite": ("keys", {"op": "reach", **HAND, "to": [0, 1, float("inf")]}, "reach.to"),
    "frame before the first": ("keys", {"op": "insert_key", "frame": -1}, "insert_key.frame"),
    "frame too large": ("keys", {"op": "insert_key", "frame": 1 << 31}, "insert_key.frame"),
    "field of another operation": ("keys", {"op": "insert_key", "frame": 45, "to": 3}, "insert_key.to"),
    "no target": ("keys", {"op": "move_key", "frame": 31}, "move_key.to"),
    "window too long": ("keys", {"op": "mirror", "frame": 31, "spread_s": 99}, "mirror.spread_s"),
    "name too long": ("keys", {"op": "reach", "frame": 1, "joint": "x" * 1001, "by": [0, 0, 0]}, "reach.joint"),
    "no factor": ("swings", {"op": "scale", "joint": "head"}, "scale.factor"),
    "frames of a scale": ("swings", {"op": "scale", "joint": "a", "factor": 2, "by_frames": 1}, "scale.by_frames"),
    "index of all": ("swings", {"op": "intensify", "joint": "arms", "factor": 2, "index": 0}, "intensify.index"),
    "anchor of a shift": ("swings", {"op": "shift", "joint": "a", "by_frames": 1, "anchor": "end"}, "shift.anchor"),
    "no such anchor": ("swings", {"op": "lengthen", "joint": "a", "by_frames": 1, "anchor": "left"}, "lengthen.anchor"),
    "part of a frame": ("swings", {"op": "shift", "joint": "head", "by_frames": 1.5}, "shift.by_frames"),
    "swing of no joint": ("swings", {"op": "delete"}, "delete.joint"),
}


@pytest.mark.parametrize(("kind", "step", "place"), INVALID_STEPS.values(), ids=INVALID_STEPS.keys())
def test_invalid_steps(kind: str, step: Any, place: str) -> None:
    assert place in _locations({**START[kind], "steps": [step]})


@pytest.mark.parametrize(
    ("draft", "place"),
    [
        ({"kind": "poses"}, "draft"),
        ([], "draft"),
        ({"frames": [0]}, "draft"),
        ({"kind": "keys"}, "draft.keys"),
        ({"kind": "keys", "frames": []}, "keys.frames"),
        ({"kind": "keys", "frames": [0] * 20_001}, "keys.frames"),
        ({"kind": "keys", "frames": [0], "threshold": 1}, "keys.threshold"),
        ({"kind": "keys", "frames": [0], "residual": 9}, "keys.residual"),
        ({"kind": "keys", "frames": [0], "interpolation": "spline"}, "keys.interpolation"),
        ({"kind": "keys", "frames": [0], "steps": [{"op": "mirror", "frame": 0}] * (MAX_STEPS + 1)}, "keys.steps"),
        ({"kind": "swings", "threshold": 4}, "swings.threshold"),
        ({"kind": "swings", **{f"x{k}": 1 for k in range(150_000)}}, "draft"),
        ({"kind": "keys", "frames": [0], "steps": [{f"x{k}": 1 for k in range(101)}]}, "draft"),
    ],
    ids=range(13),
)
def test_invalid_drafts(draft: Any, place: str) -> None:
    assert place in _locations(draft)


def _locations(draft: Any) -> str:
    """Return where the only error of the request is."""
    with pytest.raises(ValidationError) as excinfo:
        DraftRequest.model_validate({"draft": draft, "n_applied": 0})
    (error,) = excinfo.value.errors()
    return ".".join(map(str, error["loc"]))


ANY_VALUE = (
    st.none()
    | st.booleans()
    | st.integers(-5, 200)
    | st.floats()
    | st.text(max_size=3)
    | st.lists(st.floats(), max_size=4)
)
FIELD_NAMES = st.sampled_from(
    "frame joint to by quaternion euler_degrees space spread_s keep_feet from_frame ripple index factor by_frames degrees axis "
    "to_frame keep_contacts x".split()
)


@given(
    st.sampled_from([(kind, op) for kind, step_types in STEP_TYPES.items() for op in step_types]),
    st.dictionaries(FIELD_NAMES, ANY_VALUE, max_size=5),
)
def test_schema_and_constructor_agree(kind_and_op: tuple[str, str], fields: dict[str, Any]) -> None:
    kind, op = kind_and_op
    try:
        step = STEP_TYPES[kind][op](**fields)
    except (TypeError, kp.OptionError):
        step = None
    try:
        draft: Draft | None = DRAFT.validate_python({**START[kind], "steps": [{"op": op, **fields}]})
    except ValidationError:
        draft = None
    if step is not None:
        assert draft is not None and draft.steps == (step,)
    if draft is not None:  # numbers and flags may be given as text
        assert DRAFT.validate_python(DRAFT.dump_python(draft)) == draft
        assert draft.steps[0].op == op and set(fields) <= set(vars(draft.steps[0]))
