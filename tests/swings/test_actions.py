"""Swings grouped into actions: kinds, spans, limbs, measures."""

from __future__ import annotations

import dataclasses
import pickle
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import keypose as kp
from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.rotations import exp, multiply
from keypose.swings.action_rules import LIMITS, ActionKind
from keypose.swings.actions import NO_BODY
from support.errors import Pattern, raises
from support.motions import ANY_SKELETON, markers

DEMO = kp.demo_motion(60)
ACTIONS = kp.swings(DEMO).actions(DEMO)
FPS, SECONDS = 60.0, 3.0
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
THIGH_M, SHIN_M = 0.42, 0.41
Curve = Sequence[tuple[float, float]]  # seconds and values


def ease(curve: Curve) -> Floats:
    """Return values (T,) that change smoothly from one point to the next."""
    times = np.arange(round(SECONDS * FPS) + 1) / FPS
    seconds, values = np.transpose(curve)
    n = np.clip(np.searchsorted(seconds, times, side="right") - 1, 0, len(seconds) - 2)
    share = np.clip((times - seconds[n]) / (seconds[n + 1] - seconds[n]), 0.0, 1.0)
    return values[n] + (values[n + 1] - values[n]) * (3 * share**2 - 2 * share**3)


def perform(turns: Mapping[str, Curve], moves: Mapping[str, Curve] | None = None) -> kp.Motion:
    """Return the standing figure of the demo with joints turned by degrees and hips moved by metres.

    Keys are a joint and an axis of the rest pose, ``"LeftArm z"``; the hips are moved along an axis.
    """
    stand = kp.demo_motion(FPS)[:1]
    names, n_frames = stand.skeleton.names, round(SECONDS * FPS) + 1
    rotations = np.tile(stand.rotations, (n_frames, 1, 1))
    translations = np.tile(stand.translations, (n_frames, 1, 1))
    for key, curve in turns.items():
        joint, axis = key.split()
        angles = np.deg2rad(ease(curve))[:, None] * np.array(AXES[axis])
        j = names.index(joint)
        rotations[:, j] = multiply(exp(angles), rotations[:, j])
    for axis, curve in (moves or {}).items():
        translations[:, 0, "xyz".index(axis)] += ease(curve)
    return kp.Motion("performance", stand.skeleton, FPS, translations, rotations, metres_per_unit=1.0)


def move_hips(motion: kp.Motion, heights: Floats) -> kp.Motion:
    translations = motion.translations.copy()
    translations[:, 0, 1] += heights
    return replace(motion, translations=translations)


def find(motion: kp.Motion) -> kp.Actions:
    return kp.swings(motion).actions(motion)


def turn_axes(motion: kp.Motion) -> kp.Motion:
    """Return the same motion in a world with Z up."""
    turned = {name: np.roll(getattr(motion.skeleton, name), 1, axis=-1) for name in ("offsets", "end_offsets")}
    skeleton = replace(motion.skeleton, **turned)
    rotations = np.concatenate((motion.rotations[..., :1], np.roll(motion.rotations[..., 1:], 1, axis=-1)), axis=-1)
    return replace(
        motion, skeleton=skeleton, up="Z", translations=np.roll(motion.translations, 1, axis=-1), rotations=rotations
    )


def mirror(motion: kp.Motion) -> kp.Motion:
    """Return the mirror image, with the names of left and right exchanged."""
    swap = {"Left": "Right", "Right": "Left"}
    names = [
        next((name.replace(side, other, 1) for side, other in swap.items() if name.startswith(side)), name)
        for name in motion.skeleton.names
    ]
    flip = np.array((-1.0, 1.0, 1.0))
    offsets = {name: getattr(motion.skeleton, name) * flip for name in ("offsets", "end_offsets")}
    skeleton = replace(motion.skeleton, names=tuple(names), **offsets)
    rotations = motion.rotations * np.array((1.0, 1.0, -1.0, -1.0))
    return replace(motion, skeleton=skeleton, translations=motion.translations * flip, rotations=rotations)


def scale(motion: kp.Motion, factor: float) -> kp.Motion:
    offsets = {name: getattr(motion.skeleton, name) * factor for name in ("offsets", "end_offsets")}
    skeleton = replace(motion.skeleton, **offsets)
    return replace(motion, skeleton=skeleton, translations=motion.translations * factor, metres_per_unit=1 / factor)


def rename(motion: kp.Motion, words: Sequence[str]) -> kp.Motion:
    """Return the motion with joints named after these words unrecognised."""
    names = tuple(
        f"q{n}" if any(word in name for word in words) else name for n, name in enumerate(motion.skeleton.names)
    )
    return replace(motion, skeleton=replace(motion.skeleton, names=names))


def assert_same(actions: kp.Actions, expected: kp.Actions, tolerance_s: float = 0.05) -> None:
    """Assert the same kinds of each limb and of the body in the same order, at about the same times: rounding decides
    where a swing starts."""
    for limbs in {action.limbs for action in (*actions.components, *expected.components)}:
        own, other = ([a for a in each.components if a.limbs == limbs] for each in (actions, expected))
        assert [a.kind for a in own] == [a.kind for a in other], limbs
        assert [a.start_s for a in own] == pytest.approx([a.start_s for a in other], abs=tolerance_s)
        assert [a.end_s for a in own] == pytest.approx([a.end_s for a in other], abs=tolerance_s)


def spans(actions: kp.Actions) -> list[tuple[str, tuple[str, ...], int, int]]:
    return [(action.kind, action.limbs, action.start, action.end) for action in actions]


# The demo: it walks, turns around, jumps with both arms and kicks with the right leg


def test_the_demo_walks_turns_jumps_and_kicks() -> None:
    kinds = ACTIONS.kinds
    assert kinds["jump"] == kinds["kick"] == kinds["turn left"] == 1 and kinds["step"] >= 10
    turn, jump, kick = (next(a for a in ACTIONS if a.kind == kind) for kind in ("turn left", "jump", "kick"))
    left, right = (DEMO.world_positions()[:, DEMO.joint(f"{side}_thigh")] for side in ("left", "right"))
    heading = np.rad2deg(np.unwrap(np.arctan2((right - left)[:, 2], (left - right)[:, 0])))[240:420]
    assert (
        turn.turn_deg == pytest.approx(np.ptp(heading), abs=3)
        and turn.phrase == f"turns left {turn.turn_deg:.0f} degrees"
    )
    assert kick.limbs == ("right leg",) and kick.direction == "forward" and kick.speed_m_per_s > 4
    assert kick.description == f"right leg kicks forward, {kick.duration_s:.1f} s, {kick.turn_deg:.0f} degrees"
    assert turn.start_s < jump.start_s < kick.start_s
    heights = DEMO.world_positions()[jump.start : jump.end + 1, 0, 1]
    assert jump.height_m == pytest.approx((heights.max() - heights[0]) * DEMO.mm_per_unit / 1000, abs=0.03)
    steps = [action for action in ACTIONS.components if action.kind == "step" and action.end_s < 4.8]
    assert [step.limbs[0] for step in steps[:6]] == ["left leg", "right leg"] * 3
    assert all(step.direction == "forward" for step in steps)


def test_measures_agree_with_the_swings() -> None:
    for action in ACTIONS.limb_actions:
        assert action.swings and action.turn_deg >= LIMITS.min_turn_deg
        assert action.lead == "" or action.lead.split()[0] == action.limbs[0].split()[0]
        joints = {swing.joint for swing in action.swings}
        assert all(
            DEMO.skeleton.names.index(joint) in DEMO.skeleton.joints(action.limbs[0].replace(" ", "_"))
            for joint in joints
        )
        assert all(swing.start < action.end and swing.end > action.start for swing in action.swings)
        assert action.is_mirrored == action.limbs[0].startswith("left")


def test_actions_of_one_limb_follow_each_other() -> None:
    for limb in ("left arm", "right arm", "left leg", "right leg"):
        own = [action for action in ACTIONS.limb_actions if action.limbs == (limb,)]
        assert own and all(before.end <= after.start for before, after in pairwise(own))


def test_members_of_a_group_overlap_and_the_first_leads() -> None:
    groups = [action for action in ACTIONS.body_actions if action.members]
    assert groups
    for group in groups:
        first = group.members[0]
        assert group.lead == first.limbs[0] and group.start == first.start == min(m.start for m in group.members)
        assert group.follow == tuple(member.limbs[0] for member in group.members[1:])
        for member in group.members[1:]:
            common = min(first.end, member.end) - max(first.start, member.start)
            assert common > LIMITS.min_overlap * max(first.end - first.start, member.end - member.start)
    members = [id(member) for group in groups for member in group.members]
    assert len(members) == len(set(members))
    assert {id(a) for a in ACTIONS.limb_actions} == set(members) | {
        id(a) for a in ACTIONS if len(a.limbs) == 1 and not a.members
    }


def test_arms_that_swing_beside_a_step_are_not_named() -> None:
    walk = next(action for action in ACTIONS if action.kind == "step" and len(action.members) > 1)
    assert {member.kind for member in walk.members} == {"step", "swing"}
    assert [member.kind for member in walk.components] == ["step"]
    assert walk.phrase.endswith("leg steps forward") and len(walk.follow) == len(walk.members) - 1


# Whatever the file


@pytest.mark.parametrize("fps", [24.0, 30.0, 120.0, 119.88])
def test_any_frame_rate(fps: float) -> None:
    other = find(kp.demo_motion(fps))
    assert_same(other, ACTIONS, tolerance_s=0.1)
    for action in other:
        assert action.start_s == pytest.approx(action.start / fps) and action.end < other.n_frames


def test_any_up_axis_and_unit() -> None:
    assert spans(find(turn_axes(DEMO))) == spans(ACTIONS)
    assert spans(find(scale(DEMO, 100.0))) == spans(ACTIONS)


def test_the_mirror_image_has_mirrored_actions() -> None:
    swap = {"left": "right", "right": "left"}

    def reflect(text: str) -> str:
        return " ".join(swap.get(word, word) for word in text.split())

    mirrored = find(mirror(DEMO))
    expected = {
        (reflect(a.kind), frozenset(map(reflect, a.limbs)), a.start, a.end, reflect(a.direction or "")) for a in ACTIONS
    }
    assert {(a.kind, frozenset(a.limbs), a.start, a.end, a.direction or "") for a in mirrored} == expected


def test_played_swings_without_the_capture() -> None:
    played = kp.swings(DEMO).actions()
    assert {"step", "turn left", "jump", "kick"} <= set(played.kinds)


def test_keys_instead_of_swings_count_as_turns() -> None:
    keyed = kp.swings(DEMO, fallback="keys", fallback_deg=1.0)
    assert sum(len(track.keyed) for track in keyed.tracks) > 10
    assert keyed.actions(DEMO).kinds["kick"] == 1


def test_fewer_limbs_give_fewer_actions() -> None:
    no_legs = find(rename(DEMO, ("Leg", "Foot", "Toe")))
    assert "raise" in no_legs.kinds and not {"step", "kick", "jump", "crouch"} & set(no_legs.kinds)
    no_arms = find(rename(DEMO, ("Arm", "Hand", "Shoulder")))
    assert no_arms.kinds["kick"] == 1 and "raise" not in no_arms.kinds
    one_leg = find(rename(DEMO, ("LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToe")))
    assert {limb for action in one_leg.limb_actions for limb in action.limbs if "leg" in limb} == {"right leg"}


def test_no_body_gives_no_actions_and_a_note() -> None:
    for motion in (
        rename(DEMO, ("Arm", "Hand", "Shoulder", "Leg", "Foot", "Toe")),
        markers(5),
        ANY_SKELETON["no height"],
    ):
        actions = find(motion)
        assert len(actions) == 0 and actions.notes == (NO_BODY,) and list(actions) == []


@pytest.mark.parametrize("name", ANY_SKELETON)
def test_any_skeleton(name: str) -> None:
    motion = ANY_SKELETON[name]
    actions = find(motion)
    assert all(0 <= action.start < action.end < motion.n_frames for action in actions)


@pytest.mark.parametrize("n_frames", [1, 2, 3, 5])
def test_short_clips(n_frames: int) -> None:
    assert all(action.end < n_frames for action in find(DEMO[600 : 600 + n_frames]))


def test_a_capture_of_another_clip_is_refused() -> None:
    swings = kp.swings(DEMO)
    with raises(OptionError, expected="the Motion that the swings were found in"):
        swings.actions(3)  # type: ignore[arg-type]
    with raises(OptionError, expected="the same number"):
        swings.actions(DEMO[:-1])
    with raises(OptionError, expected=Pattern("60, as the swings")):
        swings.actions(replace(DEMO, fps=30.0))


def test_actions_survive_pickling() -> None:
    copy = pickle.loads(pickle.dumps(ACTIONS))
    assert spans(copy) == spans(ACTIONS) and copy.kinds == ACTIONS.kinds


# Single kinds, by hand

HOLD = [(0.0, 0.0), (3.0, 0.0)]


def there(value: float, start: float = 1.0, end: float = 1.6) -> Curve:
    return [(0.0, 0.0), (start, 0.0), (end, value), (3.0, value)]


def bent_legs(thigh: float, shin: float, end: float = 1.6) -> dict[str, Curve]:
    return {
        f"{side}{joint} x": there(degrees, end=end)
        for side in ("Left", "Right")
        for joint, degrees in (("UpLeg", thigh), ("Leg", shin), ("Foot", -thigh - shin))
    }


def only(actions: kp.Actions) -> kp.Action:
    (action,) = actions
    return action


def test_a_still_figure_does_nothing() -> None:
    assert len(find(perform({"Head y": HOLD}))) == 0


@pytest.mark.parametrize(("degrees", "kind"), [(120.0, "turn left"), (-60.0, "turn right"), (30.0, None)])
def test_turns(degrees: float, kind: str | None) -> None:
    turns = [action for action in find(perform({"Hips y": there(degrees)})) if not action.limbs]
    assert [turn.kind for turn in turns] == ([kind] if kind else [])
    for turn in turns:
        assert turn.turn_deg == pytest.approx(abs(degrees), rel=0.12)
        assert turn.start_s == pytest.approx(1.1, abs=0.15) and turn.end_s == pytest.approx(1.5, abs=0.15)
        assert turn.is_mirrored == (kind == "turn left")


def test_raising_and_lowering_both_arms() -> None:
    up = [(0.0, 0.0), (0.6, 0.0), (1.1, 140.0), (1.9, 140.0), (2.5, 0.0), (3.0, 0.0)]
    down = [(seconds, -degrees) for seconds, degrees in up]
    first, second = find(perform({"LeftArm z": up, "RightArm z": down}))
    assert (first.phrase, second.phrase) == ("raises both arms", "lowers both arms")
    assert first.height_m > 0.8 and second.height_m < -0.8 and not first.is_mirrored
    single = only(find(perform({"LeftArm z": there(140.0)})))
    assert single.phrase == "raises left arm" and single.is_mirrored and single.lead == "left upper arm"
    assert single.direction == "up" and 100 < single.turn_deg <= 140  # while the hand moves, of a swing by 140


def test_a_punch_is_fast_and_ends_in_front() -> None:
    guard = {"RightArm z": [(0.0, 0.0), (3.0, 0.0)], "RightForeArm y": [(0.0, 120.0), (3.0, 120.0)]}
    hit = {
        "RightArm y": there(75.0, 1.0, 1.15),
        "RightForeArm y": [(0.0, 120.0), (1.0, 120.0), (1.15, 10.0), (3.0, 10.0)],
    }
    punch = only(find(perform({**guard, **hit, "RightArm z": [(0.0, -75.0), (3.0, -75.0)]})))
    assert punch.kind == "punch" and punch.limbs == ("right arm",) and punch.direction == "forward"
    slow = {
        key: [(0.0, curve[0][1]), (1.0, curve[0][1]), (2.4, curve[-1][1]), (3.0, curve[-1][1])]
        for key, curve in hit.items()
    }
    assert "punch" not in find(perform({**slow, "RightArm z": [(0.0, -75.0), (3.0, -75.0)]})).kinds


def test_a_wave_is_one_action() -> None:
    sway = [(n / 5, 90.0 + 20.0 * (-1) ** n) for n in range(16)]
    wave = only(find(perform({"LeftArm z": [(0.0, 75.0), (3.0, 75.0)], "LeftForeArm z": sway})))
    assert wave.kind == "wave" and wave.limbs == ("left arm",) and wave.duration_s > 2


def test_crouching_sitting_and_standing_up() -> None:
    down = THIGH_M + SHIN_M - (THIGH_M + SHIN_M) * np.cos(np.deg2rad(60))
    squat = perform(bent_legs(-60.0, 120.0), {"y": there(-down)})
    assert [action.kind for action in find(squat) if not action.limbs] == ["crouch"]
    seat = perform(bent_legs(-90.0, 90.0), {"y": there(-THIGH_M), "z": there(-THIGH_M)})
    assert [action.kind for action in find(seat) if not action.limbs] == ["sit"]
    rise = find(seat.at_frames(np.arange(seat.n_frames - 1, -1, -1.0)))
    assert [action.kind for action in rise if not action.limbs] == ["stand up"]


def test_bending() -> None:
    bend = only(find(perform({"Spine x": there(70.0), "LeftArm x": there(-60.0), "RightArm x": there(-60.0)})))
    assert bend.phrase == "bends forward" and bend.lead == "torso"


def test_a_kick_is_no_step() -> None:
    kick = [(0.0, 0.0), (1.0, 0.0), (1.2, 20.0), (1.45, -80.0), (1.9, 0.0), (3.0, 0.0)]
    kinds = find(perform({"LeftUpLeg x": kick})).kinds
    assert kinds["kick"] == 1
    leg = [(0.0, 0.0), (1.0, 0.0), (2.0, -60.0), (3.0, -60.0)]
    raised = only(find(perform({"RightUpLeg x": leg})))
    assert raised.phrase == "raises right leg"


def test_a_jump_is_a_free_fall() -> None:
    seconds = np.arange(round(SECONDS * FPS) + 1) / FPS - 1.0
    flight = np.where((seconds > 0) & (seconds < 0.5), 0.5 * 9.81 * seconds * (0.5 - seconds), 0.0)
    still = perform({"Head y": there(30.0)})
    jump = next(a for a in find(move_hips(still, flight)) if a.kind == "jump")
    assert jump.start_s == pytest.approx(1.0, abs=0.1) and jump.end_s == pytest.approx(1.5, abs=0.1)
    lift = find(move_hips(still, ease(there(0.4, 1.0, 2.5))))
    assert "jump" not in lift.kinds  # it does not fall


def test_no_two_changes_of_a_kind_overlap() -> None:
    for first, other in combinations((a for a in ACTIONS.body_actions if not a.limbs), 2):
        assert first.kind != other.kind or min(first.end, other.end) <= max(first.start, other.start)


# Real clips


@pytest.mark.data
def test_three_front_kicks(data_dir: Path) -> None:
    actions = find(kp.load(data_dir / "cmu30" / "ball_kick" / "135_04.bvh"))
    kicks = [action for action in actions.components if action.kind == "kick"]
    assert [kick.limbs for kick in kicks] == [("right leg",), ("left leg",), ("right leg",)]
    assert [kick.start_s for kick in kicks] == pytest.approx([2.8, 4.5, 6.4], abs=0.2)  # as in its strip


@pytest.mark.data
def test_runs_consist_of_steps(data_dir: Path) -> None:
    for name in ("09_11", "16_35", "35_17"):
        kinds = find(kp.load(data_dir / "cmu30" / "running" / f"{name}.bvh")).kinds
        assert kinds.get("step", 0) >= 4 and not {"kick", "jump", "raise", "sit"} & set(kinds)


# The page


def test_the_examples_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "actions.md").read_text()
    example = "".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(example, "docs/actions.md", "exec"), names)
    actions, kick = names["actions"], names["kick"]
    assert isinstance(actions, kp.Actions) and isinstance(kick, kp.Action)
    stated = dict(re.findall(r'"([a-z ]+)": (\d+)', example))
    assert stated and {kind: int(count) for kind, count in stated.items()}.items() <= actions.kinds.items()
    assert f'"{kick.description}"' in example and capsys.readouterr().out.count("\n") == len(actions)
    library, m = names["library"], names["m"]
    assert isinstance(library, kp.Library) and isinstance(m, kp.Motion)
    (kicks,) = names["kicks"]  # type: ignore[misc]
    (hit,) = names["alike"]  # type: ignore[misc]
    assert kicks.name == hit.name == "routine"
    assert library.actions("routine") == {kind: n for kind, n in actions.kinds.items() if kind != "swing"}
    fields = {field.name for field in dataclasses.fields(kp.Action)} | {"duration_s", "phrase", "description"}
    assert fields <= set(re.findall(r"`(\w+)`", page))


def test_the_page_lists_every_kind_and_the_limits_of_the_rules() -> None:
    page = (Path(__file__).parents[2] / "docs" / "actions.md").read_text()
    rules = page.split("## Kinds")[1].split("## Measured")[0]
    first_cells = "".join(re.findall(r"^\| (`.*?) \|", rules, re.MULTILINE))
    assert set(get_args(ActionKind)) == set(re.findall(r"`([a-z ]+)`", first_cells))
    for limit in (LIMITS.min_step_m, LIMITS.min_raise_m, LIMITS.reach_away_m, LIMITS.min_climb_m, LIMITS.min_flight_s):
        assert f"{limit:g}" in rules
    for limit in (
        LIMITS.kick_speed_m_per_s,
        LIMITS.min_turn_yaw_deg,
        LIMITS.yaw_reversal_deg,
        LIMITS.min_bend_deg,
        LIMITS.bend_to_deg,
    ):
        assert f"{limit:g}" in rules
