"""Read UsdSkel with OpenUSD; run in a child process by ``main.py``.

No other file is opened: references, payloads, sublayers and value clips are removed before the scene is composed, and
listed in the facts.
"""

import re
from typing import Any

import numpy as np

LIBRARY = "pxr"
OWN_MESH = "Figure"  # the mesh that Keypose writes
MIN_FPS = 10.0  # evenly spaced samples sparser than this are keys, not frames


class FileRejectedError(Exception):
    """The file cannot be read; ``facts`` describe the reason."""

    def __init__(self, **facts: Any) -> None:
        self.facts = facts


def read(request: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return arrays and facts: the skeleton, the chosen animation at every frame, the scene's unit, axis and rate."""
    from pxr import Tf, Usd, UsdGeom

    try:
        layer, skipped_files = open_without_references(request["file"])
        stage = Usd.Stage.Open(layer)
        if request["only_names"]:
            pairs, _ = find_animations(stage, skipped_files)
            return {}, {"animations": [animation.GetPrim().GetName() for _, animation in pairs]}
        skeleton, animation, facts = choose_animation(stage, request["animation"], skipped_files)
        arrays, timing = sample_animation(stage, skeleton, animation, request)
    except Tf.ErrorException as error:
        raise FileRejectedError(**parse_usd_error(str(error), request["file"])) from None
    keypose_data = skeleton.GetPrim().GetCustomDataByKey("keypose")
    facts |= timing | {
        "skipped_files": skipped_files,
        "up": str(UsdGeom.GetStageUpAxis(stage)),
        "metres_per_unit": UsdGeom.GetStageMetersPerUnit(stage)
        if UsdGeom.StageHasAuthoredMetersPerUnit(stage)
        else None,
        "joints": read_tokens(skeleton.GetJointsAttr()),
        "joint_names": read_tokens(skeleton.GetJointNamesAttr()),
        "keypose": keypose_data if isinstance(keypose_data, str) else None,
    }
    return arrays, facts


def parse_usd_error(text: str, path: str) -> dict[str, Any]:
    """Return the facts of an error: OpenUSD's message without locations in its own source, and the file's line."""
    first = text.strip().split("\n")[0]
    message = first.split(" : '", 1)[-1].removesuffix("'")
    line = re.search(re.escape(path) + r":(\d+):\d+: |on line (\d+)", message)
    if line is not None and line[1]:
        message = message[line.end() :]
    message = re.sub(r"(parse error matching )?pxrInternal\S+", "not understood", message).replace(path, "the file")
    return {"problem": f"OpenUSD says: {message.strip()[:300]}", "line": int(line[1] or line[2]) if line else None}


def open_without_references(path: str) -> tuple[Any, list[str]]:
    """Return the file's layer in memory without references to other files, and the names of those files."""
    from pxr import Sdf

    layer = Sdf.Layer.OpenAsAnonymous(path)
    if not layer:
        raise FileRejectedError(problem="OpenUSD cannot open it, expected a usda or usdc layer")
    skipped_files = [name for name in layer.GetCompositionAssetDependencies() if name]
    for name in skipped_files:
        layer.UpdateCompositionAssetDependency(name, "")
    layer.subLayerPaths.clear()

    def remove_clips(at: Any) -> None:
        if at.IsPrimPath() or at.IsPrimVariantSelectionPath():
            prim = layer.GetPrimAtPath(at)
            if prim is not None and prim.HasInfo("clips"):
                prim.ClearInfo("clips")
                skipped_files.append("value clips")

    layer.Traverse(Sdf.Path.absoluteRootPath, remove_clips)
    if any(layer.GetCompositionAssetDependencies()):
        raise FileRejectedError(
            problem=f"depends on {skipped_files[0]!r}, expected a file that stands alone (usdcat --flatten)"
        )
    return layer, skipped_files[:20]


def list_prims(stage: Any) -> list[Any]:
    """Return all prims of the scene, those of instances too."""
    from pxr import Usd

    return list(Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()))


def find_animations(stage: Any, skipped_files: list[str]) -> tuple[list[tuple[Any, Any]], int]:
    """Return each animation with its skeleton, bound ones first, in scene order; and the number of bound ones."""
    from pxr import UsdSkel

    prims = list_prims(stage)
    skeletons = [UsdSkel.Skeleton(prim) for prim in prims if prim.IsA(UsdSkel.Skeleton)]
    unbound = [UsdSkel.Animation(prim) for prim in prims if prim.IsA(UsdSkel.Animation)]
    hint = f"; it refers to {skipped_files[0]!r}, which is not followed" if skipped_files else ""
    if not skeletons:
        value = {"value": skipped_files[0]} if skipped_files else {}
        raise FileRejectedError(problem=f"no Skeleton prim (UsdSkel) in the scene{hint}", **value)
    pairs = []
    for skeleton in skeletons:
        source = UsdSkel.BindingAPI(skeleton.GetPrim()).GetInheritedAnimationSource()
        if source and source.IsA(UsdSkel.Animation):
            pairs.append((skeleton, UsdSkel.Animation(source)))
    bound = {pair[1].GetPath() for pair in pairs}
    n_bound = len(pairs)
    pairs += [
        (best_skeleton(animation, skeletons), animation) for animation in unbound if animation.GetPath() not in bound
    ]
    if not pairs:
        raise FileRejectedError(problem=f"a skeleton but no SkelAnimation, expected at least one{hint}")
    return pairs, n_bound


def choose_animation(
    stage: Any, selector: str | int | None, skipped_files: list[str]
) -> tuple[Any, Any, dict[str, Any]]:
    """Return the skeleton and the animation to read, and facts about them."""
    pairs, n_bound = find_animations(stage, skipped_files)
    names = [animation.GetPrim().GetName() for _, animation in pairs]
    paths = [str(animation.GetPath()) for _, animation in pairs]
    at: int | None = 0
    if isinstance(selector, str):
        at = next((k for k in range(len(names)) if selector in (names[k], paths[k])), None)
    elif selector is not None:
        at = selector if 0 <= selector < len(names) else None
    if at is None:
        raise FileRejectedError(available_animations=names)
    facts = {
        "not_read": list_not_read(list_prims(stage), pairs[at][0]),
        "animations": paths[:20],
        "n_animations": len(paths),
        "chosen": paths[at],
        "bound": at < n_bound,
    }
    return *pairs[at], facts


def list_not_read(prims: list[Any], skeleton: Any) -> dict[str, list[str]]:
    """Return the names of meshes, morph targets and skeletons that are not read, by kind."""
    from pxr import UsdSkel

    is_own = skeleton.GetPrim().GetCustomDataByKey("keypose") is not None
    meshes = [p for p in prims if p.GetTypeName() == "Mesh" and not (is_own and p.GetName() == OWN_MESH)]
    skinned = [p for p in meshes if p.HasAPI(UsdSkel.BindingAPI)]
    others = [p for p in prims if p.IsA(UsdSkel.Skeleton) and p.GetPath() != skeleton.GetPath()]
    return {
        "skinned mesh": [p.GetName() for p in skinned],
        "prop": [p.GetName() for p in meshes if p not in skinned],
        "morph target": [p.GetName() for p in prims if p.IsA(UsdSkel.BlendShape)],
        "other skeleton": [p.GetName() for p in others],
    }


def best_skeleton(animation: Any, skeletons: list[Any]) -> Any:
    """Return the skeleton that has most of the joints of an unbound animation."""
    joints = set(read_tokens(animation.GetJointsAttr()))
    return max(skeletons, key=lambda skeleton: len(joints & set(read_tokens(skeleton.GetJointsAttr()))))


def read_tokens(attribute: Any) -> list[str]:
    """Return a list of tokens as strings; empty if there is none."""
    return [str(token) for token in attribute.Get() or ()]


def read_matrices(attribute: Any) -> Any:
    """Return matrices (N, 4, 4); N is 0 if there are none."""
    values = np.array(attribute.Get() or np.zeros((0, 4, 4)))
    if values.dtype.kind != "f" or values.shape[1:] != (4, 4):
        raise FileRejectedError(problem=f"{attribute.GetName()} is {attribute.GetTypeName()}, expected matrix4d[]")
    return values


def sample_animation(
    stage: Any, skeleton: Any, animation: Any, request: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return rest and bind matrices and the animation at every frame, and the timing; matrices act on row vectors."""
    from pxr import UsdGeom

    joints, animated = read_tokens(skeleton.GetJointsAttr()), read_tokens(animation.GetJointsAttr())
    if max(len(joints), len(animated)) > request["max_joints"]:
        raise FileRejectedError(too_many={"joints": max(len(joints), len(animated))})
    channels = {
        "rotations": animation.GetRotationsAttr(),
        "translations": animation.GetTranslationsAttr(),
        "scales": animation.GetScalesAttr(),
    }
    channels = {name: attribute for name, attribute in channels.items() if attribute.HasAuthoredValue()}
    moving_prims, prim = [], skeleton.GetPrim()
    while prim:
        xform = UsdGeom.Xformable(prim)
        if xform and xform.TransformMightBeTimeVarying():
            moving_prims.append(xform)
        prim = prim.GetParent()
    sample_times = {t for attribute in channels.values() for t in attribute.GetTimeSamples()}
    sample_times |= {t for xform in moving_prims for t in xform.GetTimeSamples()}
    times, rate, first = frame_times(stage, np.array(sorted(sample_times)), request, max(len(joints), len(animated)))
    arrays: dict[str, Any] = {
        "rest": read_matrices(skeleton.GetRestTransformsAttr()),
        "bind": read_matrices(skeleton.GetBindTransformsAttr()),
        "world_from_skeleton": np.stack(
            [
                np.array(UsdGeom.XformCache(t).GetLocalToWorldTransform(skeleton.GetPrim()))
                for t in (times if moving_prims else times[:1])
            ]
        ),
    }
    for name, attribute in channels.items():
        width = 4 if name == "rotations" else 3
        values = np.empty((len(times), len(animated), width))
        for i, t in enumerate(times):
            frame_values = attribute.Get(float(t))
            if frame_values is None or len(frame_values) != len(animated):
                count = "no" if frame_values is None else len(frame_values)
                raise FileRejectedError(
                    problem=f"{name} at time {t:g}: {count} values, expected {len(animated)} (one per joint)"
                )
            if len(animated):
                values[i] = np.array(frame_values)
        arrays[name] = np.roll(values, 1, axis=2) if name == "rotations" else values  # xyzw in memory
    return arrays, {"rate": rate, "first": first, "animated_joints": animated}


def frame_times(
    stage: Any, sample_times: Any, request: dict[str, Any], n_joints: int
) -> tuple[Any, float, float | None]:
    """Return the time codes of the frames, frames per second, and the first frame's number if codes count frames.

    Evenly spaced samples are the frames; else the scene is sampled at its time codes.
    """
    codes_per_s = stage.GetTimeCodesPerSecond()
    if not np.isfinite(sample_times).all() or not (np.isfinite(codes_per_s) and codes_per_s > 0):
        raise FileRejectedError(
            problem=f"{codes_per_s} time codes per second, expected a positive number and finite times"
        )
    if len(sample_times) == 0:
        return np.zeros(1), request["fps"] or codes_per_s, None
    first, span = float(sample_times[0]), float(sample_times[-1] - sample_times[0])
    step = span / (len(sample_times) - 1) if len(sample_times) > 1 else 1.0
    is_even = np.abs(sample_times - (first + step * np.arange(len(sample_times)))).max() <= 1e-3 * step
    rate = codes_per_s / step
    if request["fps"] or not is_even or rate < MIN_FPS:
        frames_per_s = stage.GetFramesPerSecond()
        rate = request["fps"] or (codes_per_s if codes_per_s >= MIN_FPS else max(frames_per_s, MIN_FPS))
        count = np.floor(span / codes_per_s * rate + 1e-6) + 1
        check_size(count, n_joints, request)
        sample_times = np.minimum(first + np.arange(int(count)) * (codes_per_s / rate), sample_times[-1])
    check_size(len(sample_times), n_joints, request)
    counts_frames = first.is_integer() and abs(rate - codes_per_s) <= 1e-9 * codes_per_s
    return sample_times, codes_per_s if counts_frames else rate, first if counts_frames else None


def check_size(frames: float, joints: int, request: dict[str, Any]) -> None:
    """Raise FileRejectedError if more memory than the limits would be allocated."""
    if frames > request["max_frames"] or frames * joints > request["max_poses"]:
        raise FileRejectedError(too_many={"frames": int(min(frames, 1e15)), "joints": joints})
