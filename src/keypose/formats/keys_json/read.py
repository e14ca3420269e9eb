"""Text to a keyed motion. Each field is checked before it is believed; errors name it."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Bools, Floats, give_away
from keypose.errors import OptionError
from keypose.formats.as_text import clip
from keypose.formats.as_text.packed import shape_of, unpacked
from keypose.formats.base import ReadOptions, Source
from keypose.formats.document import Part
from keypose.formats.keys_json.write import FORMAT_NAME, VERSION
from keypose.formats.reference import with_pose_apart
from keypose.model import Curves, KeyedMotion, Motion, Residual, Skeleton
from keypose.rotations import ORDERS

FIELDS = (
    *clip.FIELDS, "keys", "extremes", "interpolation", "rotation_orders", "translations", "rotations", "residual",
)  # fmt: skip


def read(source: Source, options: ReadOptions) -> Motion:
    """The frames of the curves, without the residual."""
    keyed = _keyed(source)
    clip.check_played(source, keyed, options.fps)
    return with_pose_apart(keyed.sample(fps=options.fps), options.reference_pose)


def read_keyed(source: Source, options: ReadOptions) -> KeyedMotion:
    """The keyed motion of a file, at the rate that it states."""
    keyed = _keyed(source)
    if options.fps is not None and options.fps != keyed.fps:
        raise OptionError(f"{source.path}: fps={options.fps:g}, but the file states {keyed.fps:g}; "
                          f"its .sample(fps=...) gives frames at any rate")  # fmt: skip
    return keyed


def _keyed(source: Source) -> KeyedMotion:
    json = clip.parse(source, FORMAT_NAME, VERSION, FIELDS)
    source.check_keys(len(json.array("keys")), 0, len(json.object("skeleton").array("joints")))
    head = clip.read_clip(json)
    skeleton, keys = head["skeleton"], clip.key_frames(json, "keys", head["n_frames"])
    orders, cubic = _rotation_orders(json, skeleton.n_joints), _is_cubic(json)
    return KeyedMotion(
        **head,
        keys=keys,
        translations=_curves(json, "translations", skeleton, len(keys), 3, cubic=cubic),
        rotations=_curves(json, "rotations", skeleton, len(keys), 4 if orders is None else 3, cubic=cubic),
        rotation_orders=orders,
        residual=_residual(json, skeleton.n_joints),
        extremes=_extremes(json, len(keys)),
    )


def _is_cubic(json: Part) -> bool:
    interpolation = json.text("interpolation")
    if interpolation not in ("cubic", "straight"):
        raise json.wrong("interpolation", "'cubic' or 'straight'")
    return interpolation == "cubic"


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
            still = "still" in part
            clip.check_unit(part, "still" if still else "values", arrays[0, 0, j] if still else arrays[0, :, j])
    values, *slopes = (give_away(array) for array in arrays)
    return Curves(values, *slopes)


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
    shape = shape_of(part, joints, 3)
    part.source.check_size(shape[0], joints)
    return unpacked(part, shape)
