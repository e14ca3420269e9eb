"""Acclaim ASF/AMC, the pair of files (skeleton and motion) in which CMU publishes its motion capture.

A bone's values are in its own frame C (its ``axis``): with M the rotations of its ``dof`` about fixed axes, the first
one written applied first, the rotation of the bone relative to its parent is ``C M C^-1``, and a translation moves the
bone's start by ``C t``. The ``position`` and ``orientation`` of the root are the frame in which it moves. ``l`` moves
the end of a bone along the bone.

The files do not state the frame rate; 120 fps, that of CMU, is assumed. They do not state which skeleton belongs to a
motion either; it is searched in the same folder. The skeleton of another person with the same bones and degrees of
freedom can only be detected by its name.
"""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from keypose import _core
from keypose.arrays import Floats, freeze
from keypose.errors import FileError, Hint
from keypose.formats.acclaim.amc import AmcFrames, read_frames
from keypose.formats.acclaim.asf import BOM, ROTATIONS, STRETCH, TRANSLATIONS, AcclaimSkeleton, read_skeleton
from keypose.formats.base import GZIP_MAGIC, SNIFF_BYTES, Format, Source, gunzip, printable_text, read_bytes
from keypose.formats.orientation import find_up, frames_to_skip
from keypose.model import FIRST_FRAME_NOTE, Motion, Pose
from keypose.options import LoadOptions
from keypose.rotations import IDENTITY, multiply, rotate, to_matrix

logger = logging.getLogger("keypose")

DEFAULT_FPS = 120.0
_ASF_HINT = Hint(python="give it with asf=...", command="give it with --asf FILE")
_OTHER_SUBJECT_HINT = Hint(
    python="if it is the right one, give it with asf=...", command="if it is the right one, give it with --asf FILE"
)


def read_amc(source: Source, options: LoadOptions) -> Motion:
    """Read an AMC file with the skeleton of ``options.asf``, by default the one found in the same folder."""
    asf_source = _skeleton_source(source, options)
    if _sniff_amc(asf_source.data[:SNIFF_BYTES]):
        raise asf_source.error("is an AMC motion", code="syntax", expected="an ASF skeleton")
    asf = read_skeleton(asf_source)
    logger.info("%s: skeleton from %s", source.path, asf_source.path)
    source.note(f"skeleton from {'the given .asf file' if options.asf is not None else 'the .asf file beside it'}")
    source.notes += asf_source.notes
    frames = read_frames(source, asf)
    source.check_size(len(frames.values), asf.skeleton.n_joints)
    for joint in sorted(set(asf.skeleton.end_joints.tolist())):
        if STRETCH in asf.dof[joint]:
            source.note(f"bone {asf.skeleton.names[joint]!r} changes its length, but its end site does not move")
    translations, rotations = _compute_poses(source, asf, frames)
    return _build_motion(source, options, asf, translations, rotations, frames.first_frame)


def read_asf(source: Source, options: LoadOptions) -> Motion:
    """Read an ASF file as a single frame: the skeleton in its rest pose."""
    asf = read_skeleton(source)
    source.note("a skeleton without motion: one frame in its rest pose")
    rotations = np.tile(np.array(IDENTITY), (1, asf.skeleton.n_joints, 1))
    rotations[0, 0] = asf.axes[0]
    return _build_motion(source, options, asf, asf.skeleton.offsets[None].copy(), rotations, 0)


def _build_motion(
    source: Source,
    options: LoadOptions,
    asf: AcclaimSkeleton,
    translations: Floats,
    rotations: Floats,
    first_frame: int,
) -> Motion:
    if options.fps is None:
        source.note(
            f"the file does not state its frame rate; {DEFAULT_FPS:g} fps is assumed "
            "(the option fps, on the command line --read-fps, sets another)"
        )
    skip = frames_to_skip(rotations, options.reference_pose)
    reference = Pose(translations[0], rotations[0]) if skip else None
    if skip:
        source.note(FIRST_FRAME_NOTE)
    translations, rotations = freeze(translations)[skip:], freeze(rotations)[skip:]
    return Motion(
        name=source.name,
        skeleton=asf.skeleton,
        fps=options.fps or DEFAULT_FPS,
        translations=translations,
        rotations=rotations,
        up=find_up(asf.skeleton, translations, rotations),
        metres_per_unit=asf.metres_per_unit,
        first_frame=first_frame + skip,
        reference_pose=reference,
        notes=tuple(source.notes),
    )


def _compute_poses(source: Source, asf: AcclaimSkeleton, frames: AmcFrames) -> tuple[Floats, Floats]:
    """Return local translations (T, J, 3) in file units and rotations (T, J, 4), wxyz."""
    joints = asf.skeleton.n_joints
    rotation_columns, axes = np.full((2, joints, 3), -1, np.int32)
    for joint, start in frames.columns.items():
        rotation_dofs = [(start + k, "xyz".index(d[1])) for k, d in enumerate(asf.dof[joint]) if d in ROTATIONS]
        for k, (column, axis) in enumerate(reversed(rotation_dofs)):  # the kernel's rotations are intrinsic
            rotation_columns[joint, k], axes[joint, k] = column, axis
    values = frames.values
    degrees = asf.degrees if frames.degrees is None else frames.degrees
    if not degrees:
        values = values.copy()
        with np.errstate(over="ignore"):
            values[:, rotation_columns[rotation_columns >= 0]] *= 180.0 / np.pi
        _check_finite(source, values, frames)
    no_positions = np.full((joints, 3), -1, np.int32)
    translations, rotations = _core.poses_from_channels(
        values, no_positions, rotation_columns, axes, asf.skeleton.offsets
    )
    _rotate_into_bone_frames(asf, rotations)
    with np.errstate(over="ignore", invalid="ignore"):
        _move_joints(asf, frames, translations)
    _check_finite(source, translations, frames)
    return translations, rotations


def _rotate_into_bone_frames(asf: AcclaimSkeleton, rotations: Floats) -> None:
    """Change M, the rotations of the file, to C M C^-1 for bones and C M for the root, in place."""
    has_axis = (asf.axes != IDENTITY).any(axis=1)
    matrices = to_matrix(asf.axes)
    for joint in np.flatnonzero(has_axis[1:]) + 1:
        rotations[:, joint, 1:] @= matrices[joint].T  # conjugation rotates the axis of M by C
    if has_axis[0]:
        rotations[:, 0] = multiply(asf.axes[0], rotations[:, 0])


def _move_joints(asf: AcclaimSkeleton, frames: AmcFrames, translations: Floats) -> None:
    """Add the translations of tx, ty, tz and l, in place."""
    parents = asf.skeleton.parents
    for joint, start in frames.columns.items():
        for k, dof in enumerate(asf.dof[joint]):
            value = frames.values[:, start + k, None]  # (T, 1)
            if dof in TRANSLATIONS:
                translations[:, joint] += value * rotate(asf.axes[joint], np.eye(3)["xyz".index(dof[1])])
            elif dof == STRETCH:
                translations[:, parents == joint] += (value * asf.directions[joint])[:, None]


def _check_finite(source: Source, values: Floats, frames: AmcFrames) -> None:
    if not np.isfinite(values).all():
        frame = frames.first_frame + int(np.argwhere(~np.isfinite(values))[0, 0])
        raise source.error(f"frame {frame} holds numbers too large to compute with", code="bad_number", value=frame)


def _skeleton_source(source: Source, options: LoadOptions) -> Source:
    """Return the skeleton file: that of ``options.asf``, the companion of the motion, or one in its folder."""
    if source.companions is None or options.asf is not None:
        path = options.asf or find_skeleton(source)
        return Source(path, read_bytes(path, source.limits), source.limits)
    names = tuple(source.companions)
    if len(names) != 1:
        name_list = ", ".join(map(repr, names)) or "nothing"
        raise source.error(
            f"{name_list} came with it",
            code="inconsistent",
            value=list(names),
            expected="its .asf and no other file",
        )
    data = source.find_companion(names[0]) or b""
    path = Path(printable_text(names[0]))
    return Source(path, gunzip(path, data, source.limits) if data.startswith(GZIP_MAGIC) else data, source.limits)


def find_skeleton(source: Source) -> Path:
    """Return the ASF file in the folder of the motion: that with the same name, that of its subject (02_01 -> 02), or
    the only one."""
    folder = source.path.parent
    try:
        asf_paths = (path for path in folder.iterdir() if path.name.lower().endswith((".asf", ".asf.gz")))
        files = sorted((path for path in asf_paths if path.is_file()), reverse=True)
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"cannot be searched for an ASF skeleton ({reason})", path=folder) from None
    # In reverse order, so that 02.asf replaces 02.asf.gz.
    skeletons = {path.name[: path.name.lower().rindex(".asf")]: path for path in files}
    prefixes = [source.name]
    while "_" in prefixes[-1]:
        prefixes.append(prefixes[-1].rpartition("_")[0])
    for prefix in prefixes:
        if prefix in skeletons:
            return skeletons[prefix]
    expected = " or ".join(f"{prefix}.asf" for prefix in prefixes if prefix)
    if len(skeletons) != 1:
        others = f"{len(skeletons)} others" if skeletons else "none"
        raise source.error(
            f"no skeleton: expected {expected} or a single .asf beside it, found {others}",
            code="missing_data",
            value=len(skeletons),
            hint=_ASF_HINT,
        )
    ((name, path),) = skeletons.items()
    subject = prefixes[-1]
    if name.isdigit() and subject.isdigit() and int(name) != int(subject):
        raise source.error(
            f"no skeleton: found only {path.name}, by its name the skeleton of subject {name}, not {subject}",
            code="missing_data",
            expected=f"{expected} beside it",
            hint=_OTHER_SUBJECT_HINT,
        )
    return path


def _sniff_amc(head: bytes) -> bool:
    lines = _first_lines(head)
    if not lines:
        return False
    if lines[0][0].startswith(b":"):
        return lines[0][0] in (b":fully-specified", b":degrees", b":radians")
    return len(lines[0]) == 1 and lines[0][0].isdigit() and len(lines) > 1 and lines[1][0] == b"root"


def _first_lines(head: bytes) -> list[list[bytes]]:
    """Return the words of the first two lines that are neither blank nor comment."""
    lines = (line.split(b"#", 1)[0].lower().split() for line in head.removeprefix(BOM).splitlines())
    return [words for words in lines if words][:2]


def _sniff_asf(head: bytes) -> bool:
    lines = _first_lines(head)
    sections = (b":version", b":name", b":units", b":documentation", b":root", b":bonedata", b":hierarchy")
    return bool(lines) and lines[0][0] in sections


AMC = Format("AMC", (".amc",), _sniff_amc, read_amc, gzip=True, has_companions=True)
ASF = Format("ASF", (".asf",), _sniff_asf, read_asf, gzip=True)
