"""UsdSkel through OpenUSD, run in a child process by ``_child_main.py``: what the file says, as plain arrays.

Nothing outside the file is opened: references, payloads, sublayers and clips of other files are taken out
before the scene is composed, and named in the facts.
"""

import re
from typing import Any

import numpy as np

LIBRARY = "pxr"
LEAST_FPS = 10.0  # evenly spaced samples sparser than this are keys to sample between, not frames


class Refused(Exception):  # noqa: N818 - an answer, not a failure
    """The file is not taken; ``facts`` say why."""

    def __init__(self, **facts: Any) -> None:
        self.facts = facts


def read(request: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The skeleton, its chosen animation at every frame, and the scene's unit, axis and rate."""
    from pxr import Tf, Usd, UsdGeom

    try:
        layer, left_out = open_alone(request["file"])
        stage = Usd.Stage.Open(layer)
        skeleton, animation, facts = choose(stage, request["animation"], left_out)
        arrays, timing = sample(stage, skeleton, animation, request)
    except Tf.ErrorException as error:
        raise Refused(**complaint(str(error), request["file"])) from None
    own = skeleton.GetPrim().GetCustomDataByKey("keypose")
    facts |= timing | {
        "left_out": left_out,
        "up": str(UsdGeom.GetStageUpAxis(stage)),
        "metres_per_unit": UsdGeom.GetStageMetersPerUnit(stage)
        if UsdGeom.StageHasAuthoredMetersPerUnit(stage)
        else None,
        "joints": tokens(skeleton.GetJointsAttr()),
        "joint_names": tokens(skeleton.GetJointNamesAttr()),
        "keypose": own if isinstance(own, str) else None,
    }
    return arrays, facts


def complaint(text: str, path: str) -> dict[str, Any]:
    """OpenUSD's own words, without the places in its own source, and the line of the file that they name."""
    first = text.strip().split("\n")[0]
    said = first.split(" : '", 1)[-1].removesuffix("'")
    line = re.search(re.escape(path) + r":(\d+):\d+: |on line (\d+)", said)
    if line is not None and line[1]:
        said = said[line.end() :]
    said = re.sub(r"(parse error matching )?pxrInternal\S+", "not understood", said).replace(path, "the file")
    return {"problem": f"OpenUSD says: {said.strip()[:300]}", "line": int(line[1] or line[2]) if line else None}


def open_alone(path: str) -> tuple[Any, list[str]]:
    """The file's layer in memory, with every way to other files taken out; the names of those files."""
    from pxr import Sdf

    layer = Sdf.Layer.OpenAsAnonymous(path)
    if not layer:
        raise Refused(problem="OpenUSD cannot open it, expected a usda or usdc layer")
    left_out = [name for name in layer.GetCompositionAssetDependencies() if name]
    for name in left_out:
        layer.UpdateCompositionAssetDependency(name, "")
    layer.subLayerPaths.clear()

    def without_clips(at: Any) -> None:
        if at.IsPrimPath() or at.IsPrimVariantSelectionPath():
            prim = layer.GetPrimAtPath(at)
            if prim is not None and prim.HasInfo("clips"):
                prim.ClearInfo("clips")
                left_out.append("value clips")

    layer.Traverse(Sdf.Path.absoluteRootPath, without_clips)
    if any(layer.GetCompositionAssetDependencies()):
        raise Refused(problem=f"depends on {left_out[0]!r}, expected a file that stands alone (usdcat --flatten)")
    return layer, left_out[:20]


def choose(stage: Any, wanted: str | int | None, left_out: list[str]) -> tuple[Any, Any, dict[str, Any]]:
    """The skeleton and the animation to read: bound ones first, in scene order."""
    from pxr import Usd, UsdSkel

    prims = list(Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()))
    skeletons = [UsdSkel.Skeleton(prim) for prim in prims if prim.IsA(UsdSkel.Skeleton)]
    loose = [UsdSkel.Animation(prim) for prim in prims if prim.IsA(UsdSkel.Animation)]
    elsewhere = f"; it refers to {left_out[0]!r}, which is not followed" if left_out else ""
    if not skeletons:
        raise Refused(problem=f"no Skeleton prim (UsdSkel) in the scene{elsewhere}")
    pairs = []
    for skeleton in skeletons:
        source = UsdSkel.BindingAPI(skeleton.GetPrim()).GetInheritedAnimationSource()
        if source and source.IsA(UsdSkel.Animation):
            pairs.append((skeleton, UsdSkel.Animation(source)))
    bound = {pair[1].GetPath() for pair in pairs}
    n_bound = len(pairs)
    pairs += [(best_for(animation, skeletons), animation) for animation in loose if animation.GetPath() not in bound]
    if not pairs:
        raise Refused(problem=f"a skeleton but no SkelAnimation, expected at least one{elsewhere}")
    names = [animation.GetPrim().GetName() for _, animation in pairs]
    paths = [str(animation.GetPath()) for _, animation in pairs]
    at: int | None = 0
    if isinstance(wanted, str):
        at = next((k for k in range(len(names)) if wanted in (names[k], paths[k])), None)
    elif wanted is not None:
        at = wanted if 0 <= wanted < len(names) else None
    if at is None:
        raise Refused(animations_there=names)
    facts = {"animations": paths[:20], "n_animations": len(paths), "chosen": paths[at], "bound": at < n_bound}
    return *pairs[at], facts


def best_for(animation: Any, skeletons: list[Any]) -> Any:
    """The skeleton that has most of the joints of an animation that is bound to none."""
    joints = set(tokens(animation.GetJointsAttr()))
    return max(skeletons, key=lambda skeleton: len(joints & set(tokens(skeleton.GetJointsAttr()))))


def tokens(attribute: Any) -> list[str]:
    """A list of tokens as strings; empty where there is none."""
    return [str(token) for token in attribute.Get() or ()]


def matrices(attribute: Any) -> Any:
    """Matrices (N, 4, 4); none where there are none."""
    found = np.array(attribute.Get() or np.zeros((0, 4, 4)))
    if found.dtype.kind != "f" or found.shape[1:] != (4, 4):
        raise Refused(problem=f"{attribute.GetName()} is {attribute.GetTypeName()}, expected matrix4d[]")
    return found


def sample(stage: Any, skeleton: Any, animation: Any, request: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Rest and bind matrices, and what the animation says at every frame; matrices act on row vectors."""
    from pxr import UsdGeom

    joints, moved = tokens(skeleton.GetJointsAttr()), tokens(animation.GetJointsAttr())
    if max(len(joints), len(moved)) > request["most_joints"]:
        raise Refused(too_many={"joints": max(len(joints), len(moved))})
    channels = {
        "rotations": animation.GetRotationsAttr(),
        "translations": animation.GetTranslationsAttr(),
        "scales": animation.GetScalesAttr(),
    }
    channels = {name: attribute for name, attribute in channels.items() if attribute.HasAuthoredValue()}
    movers, prim = [], skeleton.GetPrim()
    while prim:
        xform = UsdGeom.Xformable(prim)
        if xform and xform.TransformMightBeTimeVarying():
            movers.append(xform)
        prim = prim.GetParent()
    keyed = {t for attribute in channels.values() for t in attribute.GetTimeSamples()}
    keyed |= {t for xform in movers for t in xform.GetTimeSamples()}
    times, rate, first = frame_times(stage, np.array(sorted(keyed)), request, max(len(joints), len(moved)))
    arrays: dict[str, Any] = {
        "rest": matrices(skeleton.GetRestTransformsAttr()),
        "bind": matrices(skeleton.GetBindTransformsAttr()),
        "world_from_skeleton": np.stack(
            [
                np.array(UsdGeom.XformCache(t).GetLocalToWorldTransform(skeleton.GetPrim()))
                for t in (times if movers else times[:1])
            ]
        ),
    }
    for name, attribute in channels.items():
        width = 4 if name == "rotations" else 3
        values = np.empty((len(times), len(moved), width))
        for i, t in enumerate(times):
            found = attribute.Get(float(t))
            if found is None or len(found) != len(moved):
                count = "no" if found is None else len(found)
                raise Refused(problem=f"{name} at time {t:g}: {count} values, expected {len(moved)} (one per joint)")
            if len(moved):
                values[i] = np.array(found)
        arrays[name] = np.roll(values, 1, axis=2) if name == "rotations" else values  # xyzw in memory
    return arrays, {"rate": rate, "first": first, "moved": moved}


def frame_times(stage: Any, keyed: Any, request: dict[str, Any], n_joints: int) -> tuple[Any, float, float | None]:
    """The time codes of the frames, frames per second, and the number of the first frame if codes count frames.

    Evenly spaced samples are the frames. Else the scene is sampled at its time codes.
    """
    codes_per_s = stage.GetTimeCodesPerSecond()
    if not np.isfinite(keyed).all() or not (np.isfinite(codes_per_s) and codes_per_s > 0):
        raise Refused(problem=f"{codes_per_s} time codes per second, expected a positive number and finite times")
    if len(keyed) == 0:
        return np.zeros(1), request["fps"] or codes_per_s, None
    first, span = float(keyed[0]), float(keyed[-1] - keyed[0])
    step = span / (len(keyed) - 1) if len(keyed) > 1 else 1.0
    even = np.abs(keyed - (first + step * np.arange(len(keyed)))).max() <= 1e-3 * step
    rate = codes_per_s / step
    if request["fps"] or not even or rate < LEAST_FPS:
        frames_per_s = stage.GetFramesPerSecond()
        rate = request["fps"] or (codes_per_s if codes_per_s >= LEAST_FPS else max(frames_per_s, LEAST_FPS))
        count = np.floor(span / codes_per_s * rate + 1e-6) + 1
        check_size(count, n_joints, request)
        keyed = np.minimum(first + np.arange(int(count)) * (codes_per_s / rate), keyed[-1])
    check_size(len(keyed), n_joints, request)
    counts_frames = first.is_integer() and abs(rate - codes_per_s) <= 1e-9 * codes_per_s
    return keyed, codes_per_s if counts_frames else rate, first if counts_frames else None


def check_size(frames: float, joints: int, request: dict[str, Any]) -> None:
    """Stops before more is allocated than the limits allow."""
    if frames > request["most_frames"] or frames * joints > request["most_poses"]:
        raise Refused(too_many={"frames": int(min(frames, 1e15)), "joints": joints})
