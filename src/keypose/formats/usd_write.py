"""USD out: a SkelRoot with a Skeleton, its SkelAnimation, and a simple figure bound to it that any viewer shows.

One time sample per frame, time codes counting frames from ``first_frame``. USD stores rotations and translations
in single precision. A motion without a unit leaves ``metersPerUnit`` out; viewers then take centimetres, USD's
default. What USD has no words for goes along as text (``usd_own.py``).
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats
from keypose.errors import MissingExtra, OptionError
from keypose.formats.base import WriteOptions
from keypose.formats.usd_own import USD_UPS, own_text, y_from
from keypose.model import Motion, Pose, Skeleton
from keypose.rotations import IDENTITY, to_matrix

BONE_WIDTH = 0.08  # of a bone's length
JOINT_SIZE = 0.01  # of the figure's extent, for joints without a bone


def write(motion: Motion, suffix: str, options: WriteOptions) -> bytes:
    """The content of a .usda (text) or .usdc and .usd (binary) file."""
    try:
        from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt
    except ImportError:
        raise MissingExtra("writing USD needs: pip install 'keypose[usd]'") from None

    extra_frame = motion.reference_pose is not None and options.reference_pose
    own = own_text(motion, with_reference_pose=not extra_frame)
    rest = motion.reference_pose or _rest(motion.skeleton)
    if extra_frame:
        motion = _with_first_pose(motion, rest)
    translations, rotations = _single(motion, motion.translations), _single(motion, motion.rotations)
    skeleton = motion.skeleton
    rest_world = _matrices(
        *kinematics.forward(skeleton.parents, rest.translations[None], rest.rotations[None])
    )[0]

    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, motion.up if motion.up in USD_UPS else "Y")
    if motion.metres_per_unit is not None:
        UsdGeom.SetStageMetersPerUnit(stage, motion.metres_per_unit)
    stage.SetTimeCodesPerSecond(motion.fps)
    stage.SetFramesPerSecond(motion.fps)
    stage.SetStartTimeCode(motion.first_frame)
    stage.SetEndTimeCode(motion.first_frame + motion.n_frames - 1)

    root = UsdSkel.Root.Define(stage, f"/{_identifier(motion.name)}")
    stage.SetDefaultPrim(root.GetPrim())
    if motion.up not in USD_UPS:
        w, *xyz = y_from(motion.up).tolist()
        root.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Quatd(w, *xyz))
    prim = UsdSkel.Skeleton.Define(stage, root.GetPath().AppendChild("Skeleton"))
    paths = Vt.TokenArray(_joint_paths(skeleton))
    prim.CreateJointsAttr(paths)
    prim.CreateJointNamesAttr(Vt.TokenArray([_text(name) for name in skeleton.names]))
    prim.CreateRestTransformsAttr(_matrix_array(_matrices(rest.translations, rest.rotations)))
    prim.CreateBindTransformsAttr(_matrix_array(rest_world))
    prim.GetPrim().SetCustomDataByKey("keypose", own)

    animation = UsdSkel.Animation.Define(stage, prim.GetPath().AppendChild("Animation"))
    animation.CreateJointsAttr(paths)
    animation.CreateScalesAttr(Vt.Vec3hArray(len(skeleton.names), Gf.Vec3h(1, 1, 1)))
    turns, places = animation.CreateRotationsAttr(), animation.CreateTranslationsAttr()
    xyzw = np.roll(rotations, -1, axis=2)
    with Sdf.ChangeBlock():
        for i in range(motion.n_frames):
            turns.Set(Vt.QuatfArray.FromNumpy(np.ascontiguousarray(xyzw[i])), motion.first_frame + i)
            places.Set(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(translations[i])), motion.first_frame + i)
    binding = UsdSkel.BindingAPI.Apply(prim.GetPrim())
    binding.CreateAnimationSourceRel().SetTargets([animation.GetPath()])

    _add_figure(stage, root, prim, motion.skeleton, rest_world)
    everywhere = np.concatenate((motion.world_positions(), motion.end_positions()), axis=1).reshape(-1, 3)
    root.CreateExtentAttr(_extent(everywhere))
    return _content(stage.GetRootLayer(), suffix)


def _with_first_pose(motion: Motion, pose: Pose) -> Motion:
    return replace(
        motion,
        translations=np.concatenate((pose.translations[None], motion.translations)),
        rotations=np.concatenate((pose.rotations[None], motion.rotations)),
    )


def _rest(skeleton: Skeleton) -> Pose:
    return Pose(skeleton.offsets, np.tile(IDENTITY, (skeleton.n_joints, 1)))


def _single(motion: Motion, values: Floats) -> Any:
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    if not np.isfinite(single).all():
        raise OptionError(
            f"{motion.name}: coordinates beyond 3e38 cannot be written to USD (single precision)"
        )
    return single


def _matrices(translations: Floats, rotations: Floats) -> Floats:
    """Matrices (..., 4, 4) for row vectors, as USD has them."""
    matrices = np.zeros((*translations.shape[:-1], 4, 4))
    matrices[..., :3, :3] = to_matrix(rotations).swapaxes(-1, -2)
    matrices[..., 3, :3] = translations
    matrices[..., 3, 3] = 1.0
    return matrices


def _matrix_array(matrices: Floats) -> Any:
    from pxr import Vt

    return Vt.Matrix4dArray.FromNumpy(np.ascontiguousarray(matrices))


def _extent(points: Floats) -> Any:
    from pxr import Vt

    return Vt.Vec3fArray.FromNumpy(np.stack((points.min(axis=0), points.max(axis=0))).astype(np.float32))


def _joint_paths(skeleton: Skeleton) -> list[str]:
    """One path per joint, of unique identifiers that look like the names."""
    taken: set[str] = set()
    paths: list[str] = []
    for name, parent in zip(skeleton.names, skeleton.parents.tolist(), strict=True):
        plain = unique = _identifier(name)
        if unique in taken:
            unique = f"{plain}_{len(paths)}"
            while unique in taken:
                unique += "_"
        taken.add(unique)
        paths.append(f"{paths[parent]}/{unique}" if parent >= 0 else unique)
    return paths


def _identifier(name: str) -> str:
    """``name`` with everything but ASCII letters, digits and underscores replaced."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return plain if re.match(r"[A-Za-z_]", plain) else f"_{plain}"


def _text(name: str) -> str:
    """``name`` as USD can hold it: valid Unicode without control characters."""
    valid = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return re.sub(r"[\x00-\x1f]", " ", valid)


def _add_figure(stage: Any, root: Any, prim: Any, skeleton: Skeleton, rest_world: Floats) -> None:
    """A mesh of one slim octahedron per bone, each moved by the joint at which its bone begins."""
    from pxr import UsdGeom, UsdSkel, Vt

    heads, tails, owners = _bones(skeleton, rest_world)
    points, faces = _octahedra(heads, tails)
    mesh = UsdGeom.Mesh.Define(stage, root.GetPath().AppendChild("Figure"))
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(points.astype(np.float32)))
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(faces), 3, np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(faces.astype(np.int32).ravel()))
    mesh.CreateSubdivisionSchemeAttr("none")
    mesh.CreateDoubleSidedAttr(True)
    mesh.CreateExtentAttr(_extent(points))
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets([prim.GetPath()])
    binding.CreateJointIndicesPrimvar(False, 1).Set(
        Vt.IntArray.FromNumpy(np.repeat(owners, 6).astype(np.int32))
    )
    binding.CreateJointWeightsPrimvar(False, 1).Set(Vt.FloatArray(len(points), 1.0))


def _bones(skeleton: Skeleton, rest_world: Floats) -> tuple[Floats, Floats, Floats]:
    """Where bones begin and end (B, 3) in the rest pose, and the joints that move them (B,).

    A joint without any bone becomes a small upright one of its own, so that markers show too.
    """
    at = rest_world[:, 3, :3]
    child = np.flatnonzero(skeleton.parents >= 0)
    ends = skeleton.end_joints
    sites = at[ends] + np.einsum("ek,eki->ei", skeleton.end_offsets, rest_world[ends, :3, :3])
    owners = np.concatenate((skeleton.parents[child], ends))
    heads, tails = at[owners], np.concatenate((at[child], sites))
    long = np.linalg.norm(tails - heads, axis=1) > 0
    heads, tails, owners = heads[long], tails[long], owners[long]
    lone = np.setdiff1d(np.arange(skeleton.n_joints), np.concatenate((owners, child)))
    size = JOINT_SIZE * max(float(np.ptp(at, axis=0).max()), 1e-6 if skeleton.n_joints > 1 else 100.0)
    half = np.array((0.0, size, 0.0))
    return (
        np.concatenate((heads, at[lone] - half)),
        np.concatenate((tails, at[lone] + half)),
        np.concatenate((owners, lone)),
    )


def _octahedra(heads: Floats, tails: Floats) -> tuple[Floats, Floats]:
    """Points (6B, 3) and triangles (8B, 3) of slim octahedra from heads to tails."""
    along = tails - heads
    length = np.linalg.norm(along, axis=1, keepdims=True)
    least = np.eye(3)[np.argmin(np.abs(along), axis=1)]  # an axis far from the bone's own
    side = np.cross(along, least)
    side *= BONE_WIDTH * length / np.linalg.norm(side, axis=1, keepdims=True)
    other = np.cross(along, side) / length
    ring = heads + 0.2 * along
    points = np.stack((heads, ring + side, ring + other, ring - side, ring - other, tails), axis=1)
    shape = np.array([[0, 2, 1], [0, 3, 2], [0, 4, 3], [0, 1, 4], [5, 1, 2], [5, 2, 3], [5, 3, 4], [5, 4, 1]])
    faces = shape[None] + 6 * np.arange(len(heads))[:, None, None]
    return points.reshape(-1, 3), faces.reshape(-1, 3)


def _content(layer: Any, suffix: str) -> bytes:
    if suffix == ".usda":
        return str(layer.ExportToString()).encode()
    with tempfile.TemporaryDirectory(prefix="keypose-") as folder:  # the binary form exists only as a file
        path = Path(folder) / f"out{suffix}"
        layer.Export(str(path))
        return path.read_bytes()
