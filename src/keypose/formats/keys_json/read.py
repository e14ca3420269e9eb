"""Text to a keyed motion. Each field is checked before it is believed; errors name it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Bools, Floats, Ints, give_away
from keypose.errors import OptionError
from keypose.formats.base import ReadOptions, Source
from keypose.formats.document import MOST_WHOLE, Part, parse_json
from keypose.formats.keys_json.packed import shape_of, unpacked
from keypose.formats.keys_json.skeleton import read_skeleton
from keypose.formats.keys_json.write import FORMAT_NAME, VERSION
from keypose.formats.reference import frames_to_skip
from keypose.kinematics import UPS, Up
from keypose.model import Curves, KeyedMotion, Motion, Pose, Residual, Skeleton
from keypose.model.motion import GREATEST_FPS, LEAST_FPS
from keypose.rotations import ORDERS

FIELDS = (
    "format", "version", "name", "fps", "n_frames", "first_frame", "up", "metres_per_unit", "notes", "skeleton",
    "reference_pose", "keys", "extremes", "interpolation", "rotation_orders", "translations", "rotations", "residual",
)  # fmt: skip
_UNIT_TOLERANCE = 2e-3  # of the squared length of a quaternion, as everywhere
_MOST_FRAMES = 1e15  # beyond any limit: only keeps the count a number


def read(source: Source, options: ReadOptions) -> Motion:
    """The frames of the curves, without the residual."""
    keyed = _keyed(source)
    ratio = (options.fps or keyed.fps) / keyed.fps
    source.check_size(int(min(keyed.n_frames * ratio, _MOST_FRAMES)) + 1, keyed.n_joints)
    motion = keyed.sample(fps=options.fps)
    # The file says what its reference pose is: only who insists takes frame 0 for one.
    insists = options.reference_pose != "auto" and keyed.reference_pose is None
    if insists and frames_to_skip(motion.rotations, options.reference_pose):
        return replace(motion[1:], reference_pose=motion[0])
    return motion


def read_keyed(source: Source, options: ReadOptions) -> KeyedMotion:
    """The keyed motion of a file, at the rate that it states."""
    keyed = _keyed(source)
    if options.fps is not None and options.fps != keyed.fps:
        raise OptionError(f"{source.path}: fps={options.fps:g}, but the file states {keyed.fps:g}; "
                          f"its .sample(fps=...) gives frames at any rate")  # fmt: skip
    return keyed


def _keyed(source: Source) -> KeyedMotion:
    json = parse_json(source, source.data, refuse_twins=True)
    _check_version(json)
    json.check_members(*FIELDS)
    n_frames, skeleton_part = json.whole("n_frames", least=1), json.object("skeleton")
    source.check_joints(len(skeleton_part.array("joints")) + len(skeleton_part.array("end_sites")))
    source.check_keys(len(json.array("keys")), n_frames, len(skeleton_part.array("joints")))
    skeleton = read_skeleton(skeleton_part)
    keys, orders, cubic = _keys(json, n_frames), _rotation_orders(json, skeleton.n_joints), _is_cubic(json)
    metres = None if json.values["metres_per_unit"] is None else json.positive("metres_per_unit")
    return KeyedMotion(
        name=json.raw_text("name"),
        skeleton=skeleton,
        fps=_fps(json),
        n_frames=n_frames,
        keys=keys,
        translations=_curves(json, "translations", skeleton, len(keys), 3, cubic=cubic),
        rotations=_curves(json, "rotations", skeleton, len(keys), 4 if orders is None else 3, cubic=cubic),
        rotation_orders=orders,
        residual=_residual(json, skeleton.n_joints),
        extremes=_extremes(json, len(keys)),
        up=_up(json),
        metres_per_unit=metres,
        first_frame=json.whole("first_frame", least=-MOST_WHOLE),
        reference_pose=_pose(json, skeleton),
        notes=(*json.texts("notes"), *source.notes),
    )


def _check_version(json: Part) -> None:
    if json.values.get("format") != FORMAT_NAME:
        raise json.wrong("format", repr(FORMAT_NAME))
    version = json.whole("version", least=1)
    if version > VERSION:
        raise json.source.error(f"version is {version}: the file is of a newer Keypose than this one, which reads "
                                f"version {VERSION}; update Keypose to read it")  # fmt: skip


def _fps(json: Part) -> float:
    fps = json.positive("fps")
    if not LEAST_FPS <= fps <= GREATEST_FPS:
        raise json.wrong("fps", f"{LEAST_FPS:g} to {GREATEST_FPS:g}")
    return fps


def _up(json: Part) -> Up:
    up = json.text("up")
    if up not in UPS:
        raise json.wrong("up", f"one of {', '.join(UPS)}")
    return up


def _is_cubic(json: Part) -> bool:
    interpolation = json.text("interpolation")
    if interpolation not in ("cubic", "straight"):
        raise json.wrong("interpolation", "'cubic' or 'straight'")
    return interpolation == "cubic"


def _keys(json: Part, n_frames: int) -> Ints:
    last = -1
    for k, key in enumerate(json.array("keys")):
        if type(key) is not int or not last < key < n_frames:
            raise json.source.error(f"keys[{k}] is {key!r}, expected increasing frames from 0 to {n_frames - 1}")
        last = key
    if last < 0:
        raise json.wrong("keys", "at least one frame")
    return np.array(json.array("keys"), np.int32)


def _extremes(json: Part, n_keys: int) -> Bools:
    flags = json.array("extremes")
    if len(flags) != n_keys or not all(isinstance(flag, bool) for flag in flags):
        raise json.wrong("extremes", f"an array of {n_keys} times true or false, one for each key")
    return np.array(flags, bool)


def _rotation_orders(json: Part, joints: int) -> tuple[str, ...] | None:
    if json.values["rotation_orders"] is None:
        return None
    orders = json.texts("rotation_orders", joints)
    for j, order in enumerate(orders):
        if order not in ORDERS:
            raise json.source.error(f"rotation_orders[{j}] is {order!r}, expected one of {', '.join(ORDERS)}")
    return orders


def _curves(json: Part, key: str, skeleton: Skeleton, n_keys: int, width: int, *, cubic: bool) -> Curves:
    parts = json.parts(key)
    if len(parts) != skeleton.n_joints:
        raise json.wrong(key, f"an array of {skeleton.n_joints} objects, one for each joint")
    members = ("values", "arriving", "leaving") if cubic else ("values",)
    arrays = np.zeros((len(members), n_keys, skeleton.n_joints, width))
    for j, part in enumerate(parts):
        if part.values.get("joint") != skeleton.names[j]:
            raise part.wrong("joint", f"{skeleton.names[j]!r}, as the joints are in the order of the skeleton")
        if "still" in part:
            part.check_members("joint", "still")
            arrays[0, :, j] = part.row("still", width)
        else:
            part.check_members("joint", *members)
            for array, member in zip(arrays, members, strict=True):
                array[:, j] = part.rows(member, n_keys, width)
        if width == 4:
            _check_unit(part, arrays[0, :, j])
    values, *slopes = (give_away(array) for array in arrays)
    return Curves(values, *slopes)


def _check_unit(part: Part, turns: Floats) -> None:
    off = np.abs(np.einsum("kc,kc->k", turns, turns) - 1) > _UNIT_TOLERANCE
    if off.any():
        k = int(np.argmax(off))
        where = "still" if "still" in part else f"values[{k}]"
        raise part.source.error(f"{part.place(where)} is {turns[k].tolist()}, expected a quaternion (wxyz) of length 1")


def _pose(json: Part, skeleton: Skeleton) -> Pose | None:
    if json.values["reference_pose"] is None:
        return None
    part = json.object("reference_pose")
    part.check_members("translations", "rotations")
    return Pose(part.rows("translations", skeleton.n_joints, 3), part.rows("rotations", skeleton.n_joints, 4))


def _residual(json: Part, joints: int) -> Residual | None:
    if json.values["residual"] is None:
        return None
    part = json.object("residual")
    part.check_members("turns", "shifts", "frames", "sources")
    turns, shifts = (_detail(part.object(member), joints) for member in ("turns", "shifts"))
    if part.values["frames"] is None and part.values["sources"] is None:
        return Residual(turns, shifts)
    return Residual(turns, shifts, part.row("frames"), part.row("sources"))


def _detail(part: Part, joints: int) -> Floats:
    part.check_members("shape", "crc32", "data")
    shape = shape_of(part, joints)
    part.source.check_size(shape[0], joints)
    return unpacked(part, shape)
