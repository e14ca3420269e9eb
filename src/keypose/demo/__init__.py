"""A motion generated in code, for trying things without a file."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats, freeze
from keypose.demo.footwork import DURATION_S, Foot, sway
from keypose.demo.performance import Body, compute_controls
from keypose.model import Motion, Skeleton
from keypose.options import check_option_int, check_option_number
from keypose.options.compare import DemoOptions
from keypose.rotations import IDENTITY, conjugate, from_euler, from_matrix, multiply, rotate

__all__ = ["demo_motion"]

STRIDE_M = 0.58  # distance between the feet at which hips and arms swing by these angles:
HIP_TWIST_DEG = 8.0  # the hip of the leading leg forward
ARM_SWING_DEG = 21.0  # the other arm forward
HIP_DROP_DEG = 4.0  # on the side of a raised foot
CHEST_COUNTER_TWIST = 1.5  # relative to the hips; half as much in the world
PELVIS_LEAN_SHARE = 0.4  # of the lean; the spine has the remainder
SWAY_M = 0.004  # of the pelvis
LEG_REACH = 0.998  # of the full length, so that the knee is never straight
SOFTNESS_M = 0.004  # of the transition between two limits of the pelvis
IGNORED_LIMIT_M = 1.0  # limits are raised by this much where they do not apply
TOE_RELAX_M = 0.05  # height of the foot at which bent toes relax by half

THIGH_M = 0.42
SHIN_M = 0.405
HIP_M = (0.09, -0.055, 0.0)  # from the pelvis to the left hip joint
ANKLE_HEIGHT_M = 0.075  # of a flat foot
BALL_HEIGHT_M = 0.02  # of the toe joint, about which the foot rolls
BALL_AHEAD_M = 0.125  # of the ankle
HEEL_BEHIND_M = 0.05  # the ankle, on the floor

# joint: (parent, offset from the parent in m). Limbs are the left ones; the right ones mirror them.
_MIDDLE = {
    "Hips": (None, (0.0, 0.955, 0.0)),
    "Spine": ("Hips", (0.0, 0.09, -0.01)),
    "Spine1": ("Spine", (0.0, 0.12, -0.01)),
    "Spine2": ("Spine1", (0.0, 0.13, 0.0)),
    "Neck": ("Spine2", (0.0, 0.155, 0.0)),
    "Head": ("Neck", (0.0, 0.085, 0.015)),
}
_ARM = {
    "Shoulder": ("Spine2", (0.03, 0.125, 0.01)),
    "Arm": ("Shoulder", (0.14, -0.005, -0.015)),
    "ForeArm": ("Arm", (0.275, 0.0, 0.0)),
    "Hand": ("ForeArm", (0.245, 0.0, 0.0)),
    "HandThumb1": ("Hand", (0.035, -0.01, 0.03)),
    "HandMiddle1": ("Hand", (0.09, 0.0, 0.0)),
}
_LEG = {
    "UpLeg": ("Hips", HIP_M),
    "Leg": ("UpLeg", (0.0, -THIGH_M, 0.0)),
    "Foot": ("Leg", (0.0, -SHIN_M, 0.0)),
    "ToeBase": ("Foot", (0.0, BALL_HEIGHT_M - ANKLE_HEIGHT_M, BALL_AHEAD_M)),
}
_ENDS = {"Head": (0.0, 0.165, 0.0)}
_LIMB_ENDS = {
    "HandThumb1": (0.045, -0.01, 0.03),
    "HandMiddle1": (0.085, 0.0, 0.0),
    "ToeBase": (0.0, -0.02, 0.07),
}


def demo_motion(fps: float = 120.0, seed: int = 0) -> Motion:
    """Return a figure that stands, walks along a curve, turns around, jumps, kicks and stands again.

    The same continuous motion is sampled at any frame rate ``fps``. ``seed`` changes only a small sway. Units are
    metres, Y is up.
    """
    fps = check_option_number(DemoOptions, "fps", fps)
    seed = check_option_int(DemoOptions, "seed", seed)
    t = np.arange(int(DURATION_S * fps + 1e-6) + 1) / fps
    skeleton = build_skeleton()
    pelvis, joint_rotations = pose_figure(compute_controls(t), t, seed)
    translations = np.tile(skeleton.offsets, (len(t), 1, 1))
    translations[:, 0] = pelvis
    rotations = np.tile(np.array(IDENTITY), (len(t), skeleton.n_joints, 1))
    for name, rotation in joint_rotations.items():
        rotations[:, skeleton.names.index(name)] = rotation
    return Motion(
        name="demo",
        skeleton=skeleton,
        fps=fps,
        translations=freeze(translations),
        rotations=freeze(rotations),
        up="Y",
        metres_per_unit=1.0,
    )


def pose_figure(body: Body, t: Floats, seed: int) -> tuple[Floats, dict[str, Floats]]:
    """Return pelvis positions (T, 3) in m and local rotations (T, 4) by joint name."""
    sideways, along, chest, breath, tilt, gaze, nod, left_arm, right_arm = sway(t, seed, 9).T
    stride = _stride(body) * body.gait
    drop = HIP_DROP_DEG * body.gait * (_lift_share(body.right) - _lift_share(body.left))
    hip_twist = body.twist + HIP_TWIST_DEG * stride
    chest_twist = -CHEST_COUNTER_TWIST * hip_twist + chest
    pelvis_rotation = _rotation("YXZ", body.heading + hip_twist, PELVIS_LEAN_SHARE * body.lean, drop)
    pelvis = body.pelvis + SWAY_M * np.stack((sideways, np.zeros_like(t), along), axis=1)
    pelvis = _lower_to_reach(pelvis, pelvis_rotation, body)
    spine = _rotation(
        "YXZ", chest_twist / 3, (1.0 - PELVIS_LEAN_SHARE) / 3 * body.lean + 0.7 * breath, -drop / 3 + 0.4 * tilt
    )
    look = body.look - body.heading - hip_twist - chest_twist + 3.0 * gaze
    level = -0.75 * body.lean + 1.5 * nod
    neck = _rotation("YX", 0.5 * look, 0.5 * level)
    swing = ARM_SWING_DEG * stride
    return pelvis, {
        "Hips": pelvis_rotation,
        **dict.fromkeys(("Spine", "Spine1", "Spine2"), spine),
        **dict.fromkeys(("Neck", "Head"), neck),
        **_arm("Left", body.left_arm, swing + left_arm),
        **_arm("Right", body.right_arm, -swing + right_arm),
        **_leg("Left", body.left, pelvis, pelvis_rotation, body.heading + hip_twist),
        **_leg("Right", body.right, pelvis, pelvis_rotation, body.heading + hip_twist),
    }


def _rotation(order: str, *degrees: Floats) -> Floats:
    return from_euler(np.deg2rad(np.stack(degrees, axis=-1)), order)


def _stride(body: Body) -> Floats:
    """Return the distance of the right foot ahead of the left one, in strides."""
    h = np.deg2rad(body.heading)
    return ((body.right.x - body.left.x) * np.sin(h) + (body.right.z - body.left.z) * np.cos(h)) / STRIDE_M


def _lift_share(foot: Foot) -> Floats:
    """Return 0 for a foot on the floor, and up to 1 for a lifted foot."""
    return foot.lift / (foot.lift + 0.04)


def _lower_to_reach(pelvis: Floats, pelvis_rotation: Floats, body: Body) -> Floats:
    """Return pelvis positions lowered smoothly, in the gait, so that both legs reach their feet."""
    heights = [pelvis[:, 1]]
    for side, foot in (("Left", body.left), ("Right", body.right)):
        x, up, z = (_ankle(foot)[0] - _hip(side, pelvis, pelvis_rotation)).T
        leg = LEG_REACH * (THIGH_M + SHIN_M)
        highest = pelvis[:, 1] + up + np.sqrt(np.maximum(leg**2 - x**2 - z**2, 0.0))
        heights.append(highest + IGNORED_LIMIT_M * (1.0 - body.gait))
    lowest = -SOFTNESS_M * np.logaddexp.reduce(-np.array(heights) / SOFTNESS_M, axis=0)
    return np.stack((pelvis[:, 0], lowest, pelvis[:, 2]), axis=1)


def _hip(side: str, pelvis: Floats, pelvis_rotation: Floats) -> Floats:
    offset = np.array(HIP_M) * (1.0 if side == "Left" else -1.0, 1.0, 1.0)
    return pelvis + rotate(pelvis_rotation, np.broadcast_to(offset, pelvis.shape))


def _ankle(foot: Foot) -> tuple[Floats, Floats]:
    """Return ankle positions (T, 3) and world rotations (T, 4) of the foot: rolled about ball and heel, tilted."""
    ball, heel = np.deg2rad(foot.ball_roll), np.deg2rad(foot.heel_roll)
    # In the vertical plane of the foot: first about the ball of the foot, then about the heel.
    rise, back = ANKLE_HEIGHT_M - BALL_HEIGHT_M, BALL_AHEAD_M
    up = BALL_HEIGHT_M + rise * np.cos(ball) + back * np.sin(ball)
    along = BALL_AHEAD_M + rise * np.sin(ball) - back * np.cos(ball) + HEEL_BEHIND_M
    up, along = (
        up * np.cos(heel) + along * np.sin(heel),
        along * np.cos(heel) - up * np.sin(heel) - HEEL_BEHIND_M,
    )
    h = np.deg2rad(foot.heading)
    position = np.stack((foot.x + along * np.sin(h), up + foot.lift, foot.z + along * np.cos(h)), axis=1)
    return position, _rotation("YX", foot.heading, foot.ball_roll - foot.heel_roll - foot.tilt)


def _leg(side: str, foot: Foot, pelvis: Floats, pelvis_rotation: Floats, pelvis_heading: Floats) -> dict[str, Floats]:
    """Solve two bones from hip to ankle: the knee bends in the plane between the headings of foot and pelvis."""
    ankle, foot_rotation = _ankle(foot)
    reach = ankle - _hip(side, pelvis, pelvis_rotation)
    length = np.linalg.norm(reach, axis=1)
    down = reach / length[:, None]
    knee_heading = np.deg2rad(0.3 * pelvis_heading + 0.7 * foot.heading)
    across = np.stack((np.cos(knee_heading), 0 * knee_heading, -np.sin(knee_heading)), axis=1)
    across -= np.sum(across * down, axis=1, keepdims=True) * down
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    a, b = THIGH_M, SHIN_M
    at_hip = np.arccos(np.clip((a**2 + length**2 - b**2) / (2 * a * length), -1.0, 1.0))
    at_knee = np.pi - np.arccos(np.clip((a**2 + b**2 - length**2) / (2 * a * b), -1.0, 1.0))
    ahead = np.cross(across, -down)
    thigh = np.cos(at_hip)[:, None] * down + np.sin(at_hip)[:, None] * ahead
    thigh_rotation = from_matrix(np.stack((across, -thigh, np.cross(across, -thigh)), axis=-1))
    knee = from_euler(at_knee[:, None], "X")
    toes = -foot.ball_roll / (1.0 + (foot.lift / TOE_RELAX_M) ** 2)
    return {
        f"{side}UpLeg": multiply(conjugate(pelvis_rotation), thigh_rotation),
        f"{side}Leg": knee,
        f"{side}Foot": multiply(conjugate(multiply(thigh_rotation, knee)), foot_rotation),
        f"{side}ToeBase": _rotation("X", toes),
    }


def _arm(side: str, controls: Floats, swing: Floats) -> dict[str, Floats]:
    """Return the rotations of an arm: lowered from the T-pose, swung, with the elbow bent more the further forward the
    arm is."""
    forward, sideways, inward, elbow = controls.T
    forward = forward + swing
    elbow = elbow + 0.45 * np.logaddexp(0.0, swing / 6.0) * 6.0
    zeros = np.zeros_like(forward)
    joints = {
        "Shoulder": _rotation("YZ", -0.06 * forward, 0.08 * (np.hypot(forward, 20.0) - 20.0)),
        "Arm": _rotation("XZX", -forward, sideways - 90.0, inward),
        "ForeArm": _rotation("Y", -elbow),
        "Hand": _rotation("Z", zeros - 6.0),
        "HandMiddle1": _rotation("Z", -15.0 - 0.45 * elbow),
        "HandThumb1": _rotation("YZ", zeros - 10.0, -0.1 * elbow),
    }
    mirror = np.array((1.0, 1.0, -1.0, -1.0))
    return {side + name: turn if side == "Left" else turn * mirror for name, turn in joints.items()}


def build_skeleton() -> Skeleton:
    """Return the skeleton of 26 joints, parents first, with end sites on head, thumbs, fingers and toes."""
    table = dict(_MIDDLE)
    ends = dict(_ENDS)
    for limb in (_ARM, _LEG):  # in this order: depth first, as in files
        for side, sign in (("Left", 1.0), ("Right", -1.0)):
            for name, (parent, (x, y, z)) in limb.items():
                table[side + name] = (parent if parent in _MIDDLE else side + parent, (sign * x, y, z))
                if name in _LIMB_ENDS:
                    x, y, z = _LIMB_ENDS[name]
                    ends[side + name] = (sign * x, y, z)
    names = tuple(table)
    return Skeleton(
        names=names,
        parents=np.array([-1 if parent is None else names.index(parent) for parent, _ in table.values()]),
        offsets=np.array([offset for _, offset in table.values()]),
        end_joints=np.array([names.index(name) for name in ends]),
        end_offsets=np.array(list(ends.values())),
    )
