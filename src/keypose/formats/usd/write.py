"""Write USD: a SkelRoot with a Skeleton, its SkelAnimation, and a simple figure bound to it that any viewer shows.

One time sample per frame; time codes count frames from ``first_frame``. USD stores rotations and translations in single
precision. A motion of unknown unit gets one in which the figure has natural size, and is read back without a unit. Data
that USD cannot represent are added as text (``KeyposeData``).
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from keypose.arrays import Floats
from keypose.errors import MissingExtra, ModelError
from keypose.formats.base import SaveOptions, Source
from keypose.formats.figure import ROUGHNESS, SIDE_COLOURS, Figure, bind_pose, build_figure, linear_colour, world_pose
from keypose.formats.orientation import ROTATION_TO_Y_UP, metres_per_unit, prepend_pose
from keypose.kinematics import UPS, Up
from keypose.model import KeyedMotion, Motion, Pose, Skeleton
from keypose.rotations import conjugate, multiply, rotate, to_matrix

VERSION = 1
USD_UPS = ("Y", "Z")  # the up axes that a USD file can state


def write_keyed(keyed: KeyedMotion, suffix: str, options: SaveOptions) -> bytes:
    """Encode every frame of a keyed motion, with its keys in ``customLayerData``, as UsdSkel has no curves."""
    return write(keyed.sample(), suffix, options, keyed)


def write(motion: Motion, suffix: str, options: SaveOptions, keyed: KeyedMotion | None = None) -> bytes:
    """Encode a .usda (text) or .usdc and .usd (binary) file, with the keys of ``keyed`` in its metadata."""
    try:
        from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt
    except ImportError:
        raise MissingExtra("writing USD needs", "pip install 'keypose[usd]'") from None

    extra_frame = motion.reference_pose is not None and options.reference_pose
    keypose_data = build_keypose_data(motion, with_reference_pose=not extra_frame)
    unit = metres_per_unit(motion)
    rest = bind_pose(motion)
    if extra_frame:
        motion = prepend_pose(motion, rest)
    skeleton = motion.skeleton
    world_positions, world_rotations, ends = world_pose(skeleton, rest)

    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, motion.up if motion.up in USD_UPS else "Y")
    UsdGeom.SetStageMetersPerUnit(stage, unit)
    stage.SetTimeCodesPerSecond(motion.fps)
    stage.SetFramesPerSecond(motion.fps)
    stage.SetStartTimeCode(motion.first_frame)
    stage.SetEndTimeCode(motion.first_frame + motion.n_frames - 1)

    if keyed is not None:
        time_codes = keyed.first_frame + keyed.keys.astype(np.int64)
        notes = {"keys": Vt.Int64Array(time_codes.tolist()), "extremes": Vt.BoolArray(keyed.extremes.tolist())}
        stage.GetRootLayer().customLayerData = {"keypose": notes}

    root = UsdSkel.Root.Define(stage, f"/{_identifier(motion.name)}")
    stage.SetDefaultPrim(root.GetPrim())
    if motion.up not in USD_UPS:
        w, *xyz = ROTATION_TO_Y_UP[motion.up]
        root.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Quatd(w, *xyz))
    prim = UsdSkel.Skeleton.Define(stage, root.GetPath().AppendChild("Skeleton"))
    paths = Vt.TokenArray(_joint_paths(skeleton))
    prim.CreateJointsAttr(paths)
    prim.CreateJointNamesAttr(Vt.TokenArray([_valid_text(name) for name in skeleton.names]))
    prim.CreateRestTransformsAttr(_matrix_array(_matrices(rest.translations, rest.rotations)))
    prim.CreateBindTransformsAttr(_matrix_array(_matrices(world_positions, world_rotations)))
    prim.GetPrim().SetCustomDataByKey("keypose", keypose_data)

    animation = UsdSkel.Animation.Define(stage, prim.GetPath().AppendChild("Animation"))
    animation.CreateJointsAttr(paths)
    animation.CreateScalesAttr(Vt.Vec3hArray(len(skeleton.names), Gf.Vec3h(1, 1, 1)))
    rotations_attribute, translations_attribute = animation.CreateRotationsAttr(), animation.CreateTranslationsAttr()
    xyzw = np.roll(motion.rotations, -1, axis=2).astype(np.float32)
    translations = motion.translations.astype(np.float32)
    with Sdf.ChangeBlock():
        for i in range(motion.n_frames):
            rotations_attribute.Set(Vt.QuatfArray.FromNumpy(np.ascontiguousarray(xyzw[i])), motion.first_frame + i)
            translations_attribute.Set(
                Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(translations[i])), motion.first_frame + i
            )
    binding = UsdSkel.BindingAPI.Apply(prim.GetPrim())
    binding.CreateAnimationSourceRel().SetTargets([animation.GetPath()])

    size = motion.height or float(np.ptp(np.concatenate((world_positions, ends)), axis=0).max()) or 1.0 / unit
    _add_figure(stage, root, prim, build_figure(skeleton, world_positions, ends, size))
    all_points = np.concatenate((motion.world_positions(), motion.end_positions()), axis=1).reshape(-1, 3)
    root.CreateExtentAttr(_extent(all_points))
    return _export(stage.GetRootLayer(), suffix)


def _matrices(translations: Floats, rotations: Floats) -> Floats:
    """Return matrices (..., 4, 4) for row vectors, as in USD."""
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
    """Return one path per joint, of unique identifiers similar to the names."""
    used: set[str] = set()
    paths: list[str] = []
    for name, parent in zip(skeleton.names, skeleton.parents.tolist(), strict=True):
        identifier = unique = _identifier(name)
        if unique in used:
            unique = f"{identifier}_{len(paths)}"
            while unique in used:
                unique += "_"
        used.add(unique)
        paths.append(f"{paths[parent]}/{unique}" if parent >= 0 else unique)
    return paths


def _identifier(name: str) -> str:
    """Return ``name`` with everything but ASCII letters, digits and underscores replaced."""
    identifier = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return identifier if re.match(r"[A-Za-z_]", identifier) else f"_{identifier}"


def _valid_text(name: str) -> str:
    """Return ``name`` as valid Unicode without control characters."""
    valid = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return re.sub(r"[\x00-\x1f]", " ", valid)


def _add_figure(stage: Any, root: Any, skeleton: Any, figure: Figure) -> None:
    """Add a mesh in which every vertex follows one joint."""
    from pxr import UsdGeom, UsdSkel, Vt

    triangles = np.concatenate(list(figure.triangles.values()))
    mesh = UsdGeom.Mesh.Define(stage, root.GetPath().AppendChild("Figure"))
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(figure.positions.astype(np.float32)))
    mesh.CreateNormalsAttr(Vt.Vec3fArray.FromNumpy(figure.normals.astype(np.float32)))
    mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(triangles), 3, np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(triangles.astype(np.int32).ravel()))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    mesh.CreateExtentAttr(_extent(figure.positions))
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    binding.CreateJointIndicesPrimvar(False, 1).Set(Vt.IntArray.FromNumpy(figure.joints.astype(np.int32)))
    binding.CreateJointWeightsPrimvar(False, 1).Set(Vt.FloatArray(len(figure.positions), 1.0))
    _bind_materials(stage, root, mesh, figure)


def _bind_materials(stage: Any, root: Any, mesh: Any, figure: Figure) -> None:
    """Give the triangles of each side of the body its colour."""
    from pxr import Gf, Sdf, UsdGeom, UsdShade, Vt

    materials = UsdGeom.Scope.Define(stage, root.GetPath().AppendChild("Materials")).GetPath()
    UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim())
    first = 0
    for side, triangles in figure.triangles.items():
        material = UsdShade.Material.Define(stage, materials.AppendChild(side))
        shader = UsdShade.Shader.Define(stage, material.GetPath().AppendChild("Surface"))
        shader.CreateIdAttr("UsdPreviewSurface")
        shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(Gf.Vec3f(*linear_colour(SIDE_COLOURS[side])))
        shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(ROUGHNESS)
        material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
        faces = Vt.IntArray.FromNumpy(np.arange(first, first + len(triangles), dtype=np.int32))
        subset = UsdShade.MaterialBindingAPI(mesh).CreateMaterialBindSubset(side, faces)
        UsdShade.MaterialBindingAPI.Apply(subset.GetPrim()).Bind(material)
        first += len(triangles)


def _export(layer: Any, suffix: str) -> bytes:
    if suffix == ".usda":
        return str(layer.ExportToString()).encode()
    with tempfile.TemporaryDirectory(prefix="keypose-") as folder:  # OpenUSD writes the binary form only to files
        path = Path(folder) / f"out{suffix}"
        layer.Export(str(path))
        return path.read_bytes()


@dataclass(frozen=True)
class KeyposeData:
    """The skeleton and other fields of the motion that was written."""

    skeleton: Skeleton
    up: Up
    reference_pose: Pose | None
    is_unit_known: bool = True  # if not, the unit in USD is estimated

    def to_own_axes(self, translations: Floats, rotations: Floats) -> tuple[Floats, Floats]:
        """Return the poses with the roots rotated back to an up axis that USD cannot state."""
        if self.up in USD_UPS:
            return translations, rotations
        roots = list(self.skeleton.roots)
        rotation = conjugate(np.array(ROTATION_TO_Y_UP[self.up]))
        translations, rotations = translations.copy(), rotations.copy()
        translations[:, roots] = rotate(rotation, translations[:, roots])
        rotations[:, roots] = multiply(np.broadcast_to(rotation, rotations[:, roots].shape), rotations[:, roots])
        return translations, rotations


def build_keypose_data(motion: Motion, *, with_reference_pose: bool) -> str:
    """Return the JSON text for a motion."""
    s, pose = motion.skeleton, motion.reference_pose if with_reference_pose else None
    return json.dumps(
        {
            "version": VERSION,
            "names": s.names,
            "offsets": s.offsets.tolist(),
            "rotation_orders": s.rotation_orders,
            "channels": s.channels,
            "end_joints": s.end_joints.tolist(),
            "end_offsets": s.end_offsets.tolist(),
            "up": motion.up,
            "unit_known": motion.metres_per_unit is not None,
            "reference_pose": None if pose is None else [pose.translations.tolist(), pose.rotations.tolist()],
        },
        separators=(",", ":"),
    )


def read_keypose_data(source: Source, text: Any, skeleton: Skeleton, up: Up) -> KeyposeData | None:
    """Parse the data in ``text``; None if there are none, or with a warning if they do not match ``skeleton``."""
    if not isinstance(text, str):
        return None
    try:
        return _parse(json.loads(text), skeleton, up)
    except (ModelError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        source.warn(f"its data for Keypose do not match the skeleton ({error}) and are left out", code="unused_data")
        return None


def _parse(data: Any, usd_skeleton: Skeleton, up: Up) -> KeyposeData:
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise ValueError(f"not of version {VERSION}")
    n = usd_skeleton.n_joints
    names, orders, channels = (_read_list(data, key, n) for key in ("names", "rotation_orders", "channels"))
    if not all(isinstance(text, str) for text in (*names, *orders)):
        raise TypeError("names or rotation orders that are no text")
    end_joints = _read_list(data, "end_joints", None)
    if not all(type(j) is int and 0 <= j < n for j in end_joints):
        raise ValueError("an end site at no joint")
    skeleton = Skeleton(
        names=tuple(names),
        parents=usd_skeleton.parents,
        offsets=_read_numbers(data["offsets"], (n, 3)),
        rotation_orders=tuple(orders),
        channels=tuple(tuple(str(c) for c in _read_list({"channels": own}, "channels", None)) for own in channels),
        end_offsets=_read_numbers(data["end_offsets"], (len(end_joints), 3)),
        end_joints=np.array(end_joints, np.int32),
    )
    if data["up"] not in UPS:
        raise ValueError(f"up axis {data['up']!r}")
    pose = data["reference_pose"]
    if pose is not None:
        pose = Pose(*(_read_numbers(values, (n, width)) for values, width in zip(pose, (3, 4), strict=True)))
    # An axis that USD can represent is read from USD, as another program may have changed it.
    return KeyposeData(skeleton, up if data["up"] in USD_UPS else data["up"], pose, data["unit_known"] is not False)


def _read_list(data: dict[str, Any], key: str, count: int | None) -> list[Any]:
    values = data[key]
    if not isinstance(values, list) or (count is not None and len(values) != count):
        raise ValueError(f"{key} that are not a list of {count if count is not None else 'anything'}")
    return values


def _read_numbers(values: Any, shape: tuple[int, ...]) -> Floats:
    """Return numbers of exactly this shape; raise ValueError for anything else."""
    if not values and shape[0] == 0:
        return np.zeros(shape)
    array = np.array(values)
    if array.dtype.kind not in "fi" or array.shape != shape:
        raise ValueError(f"{array.dtype} numbers of shape {array.shape}, expected {shape}")
    return array.astype(np.float64)
