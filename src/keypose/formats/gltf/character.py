"""Write the keys of a motion into the GLB file of a character.

The file keeps its meshes, skins, materials, nodes and other animations; only the animation that the motion was read
from is replaced, or another one is added. The new channels are those of the joints' translations and rotations. All
other channels of the replaced animation (scale, morph weights, other nodes) stay as they are, but scales and morph
weights with a key on every frame are reduced to a few keys, as those of the motion were.

A motion has no scale, so the reader applied the scales of the nodes to it. Here they are divided out again.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats
from keypose.curves.cubic_fit import fit_cubics
from keypose.curves.reduce import ReducedCurves
from keypose.errors import FormatWarning, KeyposeError, OptionError, format_count
from keypose.formats.base import Source, list_names, warn_caller
from keypose.formats.gltf.animation import Animation, Sampler, animation_names
from keypose.formats.gltf.container import (
    WIDTHS,
    Container,
    is_index,
    list_objects,
    open_container,
    remove_data,
    walk_objects,
)
from keypose.formats.gltf.curves import (
    WARN_MM,
    Buffer,
    Keys,
    Placement,
    build_animation,
    convert_tangents_to_metres,
    convert_to_metres,
    fit_quaternion_curves,
    float32,
)
from keypose.formats.gltf.extras import KEY, build_animation_extras, build_key_extras
from keypose.formats.gltf.nodes import (
    SAME_SCALE,
    LocalPoses,
    apply_uniform_scale,
    remove_general_scale,
    uniform_scale_factors,
)
from keypose.formats.gltf.read import Scene, open_scene, read, root_bases
from keypose.formats.gltf.tracks import KINDS, TrackKeys, encode_track, reduce_track, sample_track
from keypose.formats.json_document import JsonObject
from keypose.formats.orientation import metres_per_unit
from keypose.model import KeyedMotion, Motion, Pose
from keypose.model.keyed_motion import SpanPosition
from keypose.options import LoadOptions, Option
from keypose.rotations import align_signs, to_matrix

SAME_LENGTH = 0.01  # of the longest bone: the rest pose of the same figure
STILL = 1e-6  # relative change of a joint that does not move, as dividing by scales rounds
# Extensions whose references to accessors are known; data of the replaced animation stay in files with others.
KNOWN_EXTENSIONS = ("KHR_", "EXT_texture_", "EXT_mesh_gpu_instancing", "EXT_meshopt_compression", "VRM")


# Reduced tracks of scale and morph weights, by the accessors of their times and values.
ReducedTracks: TypeAlias = Mapping[tuple[int, int], ReducedCurves]


def write_into(clips: Sequence[KeyedMotion], character: Source, path: Path, *, reduce_tracks: bool = True) -> bytes:
    """Encode the GLB ``character`` with the curves of motions; ``path`` is where it will be written."""
    container = open_container(character)
    _check_external_files(container, path)
    names, document = animation_names(container.json), dict(container.json.values)
    insertions = [
        _prepare_insertion(fit_quaternion_curves(keyed), character, names, reduce_tracks=reduce_tracks)
        for keyed in clips
    ]
    animations = document.setdefault("animations", [])
    replaced = [{} if each.index is None else animations[each.index] for each in insertions]
    for each in insertions:
        if each.index is not None:
            animations[each.index] = {"samplers": [c.sampler for c in each.other_channels if c.new_keys is None]}
    buffer = _open_buffer(container, document, replaced)
    indices = []
    for each, old in zip(insertions, replaced, strict=True):
        entry = _build_entry(each, old, buffer)
        indices.append(len(animations) if each.index is None else each.index)
        if each.index is None:
            animations.append(entry)
        else:
            animations[each.index] = entry
    try:
        content = buffer.glb(document, clips[0].name, container.more_chunks)
    except ValueError as error:
        if isinstance(error, KeyposeError):
            raise
        # a number that reads as infinity
        raise character.error(f"its JSON cannot be written again ({error})", code="bad_number") from None
    result = Source(character.path, content, character.limits)
    for each, index in zip(insertions, indices, strict=True):
        if not each.is_exact:
            _warn_deviation(each.keyed, result, index)
    return content


@dataclass(frozen=True)
class CharacterContents:
    """What the file of a character has besides its joints and their motion. The API takes the class as it is."""

    n_meshes: int
    n_tracks: Annotated[int, Option("Tracks of scale and morph weights, of all animations.")]


def find_character_contents(source: Source) -> CharacterContents | None:
    """Return what a GLB has that only ``write_into`` keeps; None: neither meshes nor tracks of scale and weights."""
    json = open_container(source).json
    targets = [
        channel.required_object("target").text("path")
        for animation in json.objects("animations")
        for channel in animation.objects("channels")
    ]
    contents = CharacterContents(len(json.objects("meshes")), sum(path in KINDS for path in targets))
    return contents if contents.n_meshes or contents.n_tracks else None


@dataclass(frozen=True)
class _Insertion:
    """The keys of one motion, relative to the nodes of the character."""

    keyed: KeyedMotion
    index: int | None  # of the animation that is replaced; None: another one is added
    animation: Animation  # the replaced one; without tracks if there is none
    nodes: list[int]  # of the joints
    motion: Motion  # the poses at keys
    keys: Keys
    rest: Pose  # of the nodes
    is_exact: bool  # the curves between keys are exactly those of ``keyed``
    other_channels: list[_OtherChannel]


@dataclass(frozen=True)
class _OtherChannel:
    """A channel of the replaced animation that stays."""

    entry: dict[str, Any]
    sampler: dict[str, Any]
    new_keys: TrackKeys | None = None  # in place of those of ``sampler``


def _prepare_insertion(keyed: KeyedMotion, character: Source, names: list[str], *, reduce_tracks: bool) -> _Insertion:
    """Find the animation and the nodes that the motion belongs to, and convert its keys."""
    index = _find_animation(names, keyed.name, character.name)
    scene = open_scene(character, LoadOptions(animation=index))
    unit = float(metres_per_unit(keyed.sample(frames=keyed.keys)))
    joints = _match_joints(keyed, scene, unit)
    nodes = [scene.joints[j] for j in joints]
    animation = scene.animation if index is not None else Animation([], scene.animation.accessors)
    reduced = _reduce_tracks(animation, keyed) if reduce_tracks else {}
    motion, keys, rest, is_exact = _convert_to_nodes(keyed, scene, animation, joints, unit, reduced)
    other_channels = _list_other_channels(scene, animation, nodes, keyed, reduced)
    return _Insertion(keyed, index, animation, nodes, motion, keys, rest, is_exact, other_channels)


def _build_entry(insertion: _Insertion, old: dict[str, Any], buffer: Buffer) -> dict[str, Any]:
    """Return the new animation, with the name and all other members of the ``old`` one."""
    animation, nodes = insertion.animation, insertion.nodes
    entry = build_animation(
        insertion.motion, insertion.keys, insertion.rest, buffer,
        Placement(nodes, animation.start_s, _animated_paths(insertion)),
    )  # fmt: skip
    inputs: dict[bytes, int] = {}
    for channel in insertion.other_channels:
        entry["channels"].append(channel.entry | {"sampler": len(entry["samplers"])})
        entry["samplers"].append(
            channel.sampler if channel.new_keys is None else _build_sampler(channel.new_keys, buffer, inputs)
        )
    extras = old.get("extras")
    entry["extras"] = (extras if isinstance(extras, dict) else {}) | {KEY: _build_extras(insertion.keyed)}
    if insertion.index is not None:
        del entry["name"]
    return old | entry


def _animated_paths(insertion: _Insertion) -> dict[str, Bools] | None:
    """Return masks (J,) of the joints whose rotation and translation the replaced animation has channels for."""
    if insertion.index is None:
        return None
    targets = {(track.node, track.path) for track in insertion.animation.tracks}
    return {
        path: np.array([(node, path) in targets for node in insertion.nodes]) for path in ("rotation", "translation")
    }


def _find_animation(names: list[str], motion_name: str, file_name: str) -> int | None:
    """Return the index of the animation that a motion of this name was read from; None if it is a new one."""
    if names and motion_name == file_name and len(names) == 1:
        return 0
    found = [k for k, name in enumerate(names) if motion_name in (name, f"{file_name}-{name}")]
    if len(found) > 1:
        raise OptionError(
            f"animations {found[0]} and {found[1]} of {file_name!r} may both be {motion_name!r}",
            option="into",
            code="ambiguous_animation",
            subject=motion_name,
            expected="animations with different names",
        )
    return found[0] if found else None


def _check_external_files(container: Container, path: Path) -> None:
    """Raise OptionError if the file refers to others, which would be missing beside the new one."""
    entries = [*container.json.objects("buffers"), *container.json.objects("images")]
    uris = [uri for entry in entries if isinstance(uri := entry.values.get("uri"), str) and not uri.startswith("data:")]
    if uris and path.resolve().parent != container.source.path.resolve().parent:
        raise OptionError(
            f"refers to {list_names(uris)} beside it",
            path=container.source.path,
            option="into",
            code="needs_other_file",
            expected="a result in the same folder, or a file that stands alone",
        )


def _match_joints(keyed: KeyedMotion, scene: Scene, unit: float) -> list[int]:
    """Return the joint of the scene for each joint of the motion; raise OptionError if it is another figure."""
    skeleton, joint_of = keyed.skeleton, {name: j for j, name in enumerate(scene.joint_names)}

    def error(problem: str, expected: str) -> OptionError:
        return OptionError(
            problem, path=scene.source.path, subject=keyed.name, option="into", code="different_motions",
            expected=expected,
        )  # fmt: skip

    missing = [name for name in skeleton.names if name not in joint_of]
    if missing:
        raise error(f"has no joint {list_names(missing)}", "the character that the motion was read from")
    joints = [joint_of[name] for name in skeleton.names]
    own_joint = {joint: j for j, joint in enumerate(joints)}
    for j, parent in enumerate(skeleton.parents.tolist()):
        if own_joint.get(scene.parents[joints[j]], -1) != parent or (parent < 0) != (scene.parents[joints[j]] < 0):
            raise error(f"joint {skeleton.names[j]!r} hangs on another joint", "the same hierarchy")
    inner = skeleton.parents >= 0
    lengths = np.linalg.norm(skeleton.offsets, axis=1) * unit
    rests = _rest_lengths(scene)[joints]
    differences = np.abs(lengths - rests)[inner]
    if differences.max(initial=0.0) > SAME_LENGTH * rests[inner].max(initial=0.0):
        j = int(np.flatnonzero(inner)[np.argmax(differences)])
        raise error(
            f"joint {skeleton.names[j]!r} is {rests[j]:.4g} m from its parent, in the motion {lengths[j]:.4g} m",
            "the same figure",
        )
    return joints


def _rest_lengths(scene: Scene) -> Floats:
    """Return the distances (J,) in metres of the joints from their parents at rest."""
    rests = scene.nodes.rest_transforms(scene.joints)
    bases = root_bases(scene.nodes, scene.joints)
    matrices = to_matrix(rests.rotations) * rests.scales[:, None]
    linears: list[Floats] = []  # (3, 3) world_from_local
    lengths = []
    for j, parent in enumerate(scene.parents):
        linear = linears[parent] if parent >= 0 else bases[j][:3, :3]
        lengths.append(float(np.linalg.norm(linear @ rests.translations[j])))
        linears.append(linear @ matrices[j])
    return np.array(lengths)


def _convert_to_nodes(
    keyed: KeyedMotion, scene: Scene, animation: Animation, joints: list[int], unit: float, reduced: ReducedTracks
) -> tuple[Motion, Keys, Pose, bool]:
    """Return the poses at keys and the keys with tangents, relative to the nodes of the joints with reduced scales.

    Also return the rest pose of the nodes, and whether the curves between keys are exactly those of ``keyed``.
    """
    all_rests, all_bases = scene.nodes.rest_transforms(scene.joints), root_bases(scene.nodes, scene.joints)
    rest = Pose(all_rests.translations[joints], all_rests.rotations[joints])
    scales = list(all_rests.scales[joints, None])
    times = animation.start_s + np.arange(keyed.n_frames) / keyed.fps
    sampler = Sampler(animation, times, keyed.fps)
    joint_of_node = {scene.joints[joint]: j for j, joint in enumerate(joints)}
    for track in animation.tracks:
        if track.path == "scale" and track.node in joint_of_node:
            curves = reduced.get((track.times, track.values))
            scale = sampler.sample(track) if curves is None else sample_track(curves, times)
            scales[joint_of_node[track.node]] = scale
    bases = {j: all_bases[joint] for j, joint in enumerate(joints) if joint in all_bases}
    motion = convert_to_metres(keyed.sample(frames=keyed.keys), unit)
    poses = LocalPoses(
        keyed.skeleton.parents.tolist(), bases, motion.translations.copy(), motion.rotations.copy(), scales
    )
    factors = uniform_scale_factors(poses)
    if factors is not None:
        translations, rotations = _remove_uniform_scale(keyed, unit, poses, factors)
    else:
        dense = convert_to_metres(keyed.sample(), unit)
        poses = replace(poses, translations=dense.translations.copy(), rotations=dense.rotations.copy())
        translations, rotations = _remove_general_scale(keyed, poses)
    # the sign of a quaternion is arbitrary
    signs = np.where(np.sum(rotations[0][0] * rest.rotations, axis=1) < 0, -1.0, 1.0)
    rest = Pose(rest.translations, signs[:, None] * rest.rotations)
    max_tangent = STILL / max(1, int(np.diff(keyed.keys).max(initial=0)))
    _remove_rounding_errors(translations, rest.translations, max_tangent)
    _remove_rounding_errors(rotations, rest.rotations, max_tangent)
    local = replace(motion, translations=translations[0], rotations=rotations[0], reference_pose=None)
    keys = Keys.of(keyed) if factors is not None else Keys(keyed.keys, keyed.n_frames)  # refitted curves need all keys
    keys = replace(keys, translation_tangents=tuple(translations[1:]), rotation_tangents=tuple(rotations[1:]))
    return local, keys, rest, factors is not None


def _remove_uniform_scale(
    keyed: KeyedMotion, unit: float, poses: LocalPoses, factors: list[float]
) -> tuple[list[Floats], list[Floats]]:
    """Return the translations and rotations of ``poses`` at keys relative to uniformly scaled nodes, with tangents."""
    keys = convert_tangents_to_metres(Keys.of(keyed), keyed.up, unit)
    bases: dict[int, Floats] = {j: np.asarray(np.linalg.inv(base), np.float64) for j, base in poses.bases.items()}
    sides = [replace(poses, bases=bases)]
    unmoved_bases = {j: np.block([[base[:3, :3], np.zeros((3, 1))], [np.eye(4)[3:]]]) for j, base in bases.items()}
    for translations, rotations in zip(keys.translation_tangents, keys.rotation_tangents, strict=True):
        sides.append(replace(poses, bases=unmoved_bases, translations=translations.copy(), rotations=rotations.copy()))
    for side in sides:
        apply_uniform_scale(side, [1.0 / factor for factor in factors])
    return [side.translations for side in sides], [side.rotations for side in sides]


def _remove_general_scale(keyed: KeyedMotion, poses: LocalPoses) -> tuple[list[Floats], list[Floats]]:
    """Return the translations and rotations of the keys relative to unevenly scaled nodes, with tangents fitted again.

    ``poses`` are rigid and those of all frames; they are changed.
    """
    remove_general_scale(poses)
    translations, rotations = poses.translations, align_signs(poses.rotations)
    if not keyed.is_cubic or len(keyed.keys) == 1:
        return [translations[keyed.keys]], [rotations[keyed.keys]]
    # the curves are normalised when they are sampled; with their own lengths they are cubics, which are fitted exactly
    position = SpanPosition.locate(keyed.keys, np.arange(float(keyed.n_frames)))
    lengths = np.linalg.norm(keyed.rotations.at(position), axis=-1, keepdims=True)
    fitted = [fit_cubics(values, keyed.keys) for values in (translations, rotations * lengths)]
    sides = [[side.copy() for side in (c.values, c.in_tangents, c.out_tangents) if side is not None] for c in fitted]
    return sides[0], sides[1]


def _remove_rounding_errors(sides: list[Floats], rests: Floats, max_tangent: float) -> None:
    """Remove the rounding errors of joints that do not move, in place: they get one value, or that of ``rests``.

    ``max_tangent`` is the largest tangent of such a joint, relative to its value.
    """
    values, *tangents = sides  # (K, J, 3 or 4)
    sizes = np.abs(values).max(axis=(0, 2))
    sizes = np.maximum(sizes, STILL * sizes.max())
    tolerance = STILL * sizes
    still = np.ptp(values, axis=0).max(axis=1) <= tolerance
    for tangent in tangents:
        still &= np.abs(tangent).max(axis=(0, 2)) <= max_tangent * sizes
    values[:, still] = values[0, still]
    for tangent in tangents:
        tangent[:, still] = 0.0
    at_rest = still & (np.abs(values[0] - rests).max(axis=1) <= tolerance)
    values[:, at_rest] = rests[at_rest]


def _is_whole(animation: Animation, keyed: KeyedMotion) -> bool:
    """Return whether a motion is as long as an animation."""
    duration_s = (keyed.n_frames - 1) / keyed.fps
    return abs(duration_s - (animation.end_s - animation.start_s)) <= 0.5 / keyed.fps


def _reduce_tracks(animation: Animation, keyed: KeyedMotion) -> ReducedTracks:
    """Return the reduced tracks of an animation; none if the motion has a key on every frame itself."""
    reduced: dict[tuple[int, int], ReducedCurves] = {}
    if animation.entry is None or not _is_whole(animation, keyed) or len(keyed.keys) == keyed.n_frames:
        return reduced
    samplers, n_accessors = animation.entry.objects("samplers"), len(animation.accessors)
    for channel in animation.entry.objects("channels"):
        path = channel.required_object("target").values["path"]
        sampler = samplers[channel.index("sampler", len(samplers))]
        curves = reduce_track(animation, sampler, path)
        if curves is not None:
            reduced[sampler.index("input", n_accessors), sampler.index("output", n_accessors)] = curves
    return reduced


def _list_other_channels(
    scene: Scene, animation: Animation, nodes: list[int], keyed: KeyedMotion, reduced: ReducedTracks
) -> list[_OtherChannel]:
    """Return the channels that the keys of these nodes do not replace.

    If the motion is not as long as the animation, each gets one key; one that changes is an OptionError.
    """
    if animation.entry is None:
        return []
    is_whole, n_accessors = _is_whole(animation, keyed), len(animation.accessors)
    samplers = animation.entry.objects("samplers")
    own_nodes = set(nodes)
    other_channels = []
    for channel in animation.entry.objects("channels"):
        target = channel.required_object("target").values
        if target["path"] in ("translation", "rotation") and target.get("node") in own_nodes:
            continue
        sampler = samplers[channel.index("sampler", len(samplers))]
        new_keys = None
        if not is_whole:
            value = _constant_value(scene, animation, sampler, keyed)
            new_keys = TrackKeys(np.array([animation.start_s]), value, "STEP")
        elif reduced and target["path"] in KINDS:
            curves = reduced.get((sampler.index("input", n_accessors), sampler.index("output", n_accessors)))
            new_keys = None if curves is None else encode_track(curves, target["path"])
        other_channels.append(_OtherChannel(dict(channel.values), copy.deepcopy(dict(sampler.values)), new_keys))
    return other_channels


def _constant_value(scene: Scene, animation: Animation, sampler: JsonObject, keyed: KeyedMotion) -> NDArray[np.float32]:
    """Return the value (N, width) of a channel that never changes; raise OptionError for another one."""
    accessors = animation.accessors
    n_keys = len(accessors.floats(sampler.index("input", len(accessors)), "SCALAR"))
    output = sampler.index("output", len(accessors))
    kind = scene.json.objects("accessors")[output].text("type")
    values = accessors.floats(output, kind) if kind in WIDTHS else np.zeros((0, 1))
    is_cubic = sampler.text("interpolation", "LINEAR") == "CUBICSPLINE"
    n_parts = n_keys * (3 if is_cubic else 1)
    if not len(values) or len(values) % n_parts:
        values = np.arange(2.0 * n_parts)[:, None]  # of another kind, which is taken to change
    parts = values.reshape(n_keys, 3 if is_cubic else 1, -1, values.shape[1])
    poses = parts[:, int(is_cubic)]
    change = max(np.abs(poses - poses[0]).max(), np.abs(parts[:, (0, -1)]).max() if is_cubic and n_keys > 1 else 0.0)
    if change > SAME_SCALE * np.abs(poses[0]).max():
        raise OptionError(
            f"its animation also changes scales, morph weights or other nodes, and lasts from {animation.start_s:g} "
            f"to {animation.end_s:g} s; the motion has {format_count(keyed.n_frames, 'frame')} at {keyed.fps:g} fps",
            path=scene.source.path,
            subject=keyed.name,
            option="into",
            code="different_motions",
            expected="a motion as long as the animation",
        )
    return float32(poses[0], keyed.name)


def _build_sampler(keys: TrackKeys, buffer: Buffer, inputs: dict[bytes, int]) -> dict[str, Any]:
    """Return a sampler with these keys; ``inputs`` are accessors of times, to which that of new ones is added."""
    times = keys.times.astype("<f4")[:, None]
    if times.tobytes() not in inputs:
        inputs[times.tobytes()] = buffer.add(times, bounds=True)
    return {
        "input": inputs[times.tobytes()],
        "output": buffer.add(keys.values),
        "interpolation": keys.interpolation,
    }


def _open_buffer(container: Container, document: dict[str, Any], replaced: list[dict[str, Any]]) -> Buffer:
    """Return the binary chunk with the views and accessors of ``document``, to which more can be added.

    Accessors of the ``replaced`` animations are removed with their bytes if nothing else uses them.
    """
    binary = b"" if container.binary is None else bytes(container.binary)
    buffers = document.setdefault("buffers", [])
    views = document.setdefault("bufferViews", [])
    if not buffers or "uri" in buffers[0] or container.binary is None:  # make it the first buffer
        for part in walk_objects(views):
            if is_index(part.get("buffer")):
                part["buffer"] += 1
        buffers.insert(0, {})
        binary = b""
    accessors = document.setdefault("accessors", [])
    if all(str(name).startswith(KNOWN_EXTENSIONS) for name in container.json.array("extensionsUsed")):
        samplers = [sampler for entry in replaced for sampler in list_objects(entry.get("samplers"))]
        unused = {value for sampler in samplers for value in (sampler.get("input"), sampler.get("output"))}
        binary = remove_data(document, binary, set(filter(is_index, unused)))
        accessors, views = document["accessors"], document["bufferViews"]
    binary += bytes(-len(binary) % 4)
    return Buffer([binary], len(binary), views, accessors)


def _build_extras(keyed: KeyedMotion) -> dict[str, Any]:
    extras = build_animation_extras(keyed.sample(frames=keyed.keys[:1]), keyed.n_frames)
    return extras if len(keyed.keys) == keyed.n_frames else extras | {"keyed": build_key_extras(keyed)}


def _warn_deviation(keyed: KeyedMotion, result: Source, index: int) -> None:
    """Warn if the curves of ``result`` between keys are visibly away from those of ``keyed``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        motion = read(result, LoadOptions(animation=index, fps=keyed.fps, reference_pose="keep"))
    dense = keyed.sample()
    dense = convert_to_metres(dense, float(metres_per_unit(dense)))
    if dense.height <= 0:
        return
    joints = [motion.skeleton.names.index(name) for name in keyed.skeleton.names]
    distances = np.linalg.norm(motion.world_positions()[:, joints] - dense.world_positions(), axis=-1)
    max_mm = float(distances.max()) * dense.mm_per_unit
    if max_mm > WARN_MM:
        warn_caller(
            FormatWarning(
                f"its joints are scaled unevenly or in time; between keys they are up to {max_mm:.1f} mm away from the "
                "curves, on a figure of 1.7 m",
                code="curves_differ",
                path=result.path,
                subject=keyed.name,
                value=max_mm,
            )
        )
