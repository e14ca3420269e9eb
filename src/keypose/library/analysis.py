"""New clips: read a file, analyse its frames, and prepare all that is stored about it."""

from __future__ import annotations

import hashlib
import math
import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from keypose.api.select import ladder
from keypose.arrays import Frozen
from keypose.errors import FileError, FormatError, FormatWarning, ModelError, OptionError
from keypose.formats import Limits, acclaim, gltf, kps, recognise_format
from keypose.formats.base import GZIP_MAGIC, Format, Source, gunzip, read_bytes
from keypose.library.blobs import sha256_hex
from keypose.library.canonical import FPS, CanonicalBody, canonical_body
from keypose.library.descriptors import Description, Windows, describe_body
from keypose.library.descriptors.description import Posture, posture
from keypose.library.search.part_gallery import PartTrack, build_part_track
from keypose.library.search.swing_overlap import BODY_PARTS, SwingTable, build_body_swing_table
from keypose.model import Motion, Selection, Skeleton, list_notes
from keypose.options import DEFAULT_LOAD_OPTIONS, LoadOptions, check_option_number
from keypose.options.library import AddOptions
from keypose.pictures.strip import strip
from keypose.storage import encode_kps
from keypose.swings.action_rules import ActionKind
from keypose.swings.actions import count_actions

ANALYSIS_VERSION = 3  # analyses of other versions are replaced by ``rebuild``
KEY_POSES = 8
STRIP_HEIGHT_PX = 80.0
POSE_STEP_M = 0.15  # mean joint movement between two stored poses, on a figure of 1.7 m
MIN_FPS = 2.0  # minimum frame rate at which motion is compared
MAX_SWING_SAMPLES = 1 << 24  # joints x frames at 30 fps; no swings are computed for larger motions
MAX_DRAWN_JOINTS = 500
# Minimum angle of a swing of a moving body part, in degrees. Such a swing of a limb is in a third to a half of CMU's
# clips, a smaller one in nearly all of them, and one of the head in a fifth.
MIN_SWING_DEG = {"left_arm": 75.0, "right_arm": 75.0, "left_leg": 75.0, "right_leg": 75.0, "torso": 75.0, "head": 30.0}
FACET_BODY_PARTS = tuple(MIN_SWING_DEG)
FACET_ACTIONS = tuple(kind for kind in get_args(ActionKind) if kind != "swing")  # any other movement is in most clips
_ARM_PARTS = ("collar", "upper_arm", "forearm", "hand")
_HEAD_PARTS = ("neck", "head")
KPS_SUFFIX = kps.FORMAT.suffixes[0]
MULTI_FILE_SUFFIXES = (*acclaim.AMC.suffixes, *gltf.GLTF.suffixes)  # formats that usually need other files, unlike .glb
Conversion = Literal["other_file", "load_options"]  # why a motion is stored as .kps, not as the original bytes
CONVERSION_NOTES: Mapping[Conversion, str] = {
    "other_file": "stored as lossless .kps, not with its original bytes: it needs another file beside it",
    "load_options": "stored as lossless .kps, not with its original bytes: these alone would be read as another motion",
}


@dataclass(frozen=True)
class PrepareJob:
    """A file to prepare. The job contains the bytes, so that a worker needs no access to the disk of this machine."""

    data: bytes
    path: str  # for messages, and for finding other files of it
    placeholder: str  # a path without other files beside it; if ``path`` is the same, no other file is read
    limits: Limits
    tolerance_mm: float | None
    options: LoadOptions = DEFAULT_LOAD_OPTIONS


@dataclass(frozen=True, eq=False)
class PreparedClip(Frozen):
    """A new clip without its metadata."""

    data: bytes  # to store
    hash: str
    suffix: str
    analysis: Analysis
    tolerance_mm: float | None = None
    notes: tuple[str, ...] = ()  # of the reader
    conversion: Conversion | None = None  # why the stored bytes are not the original ones


@dataclass(frozen=True)
class FileContent:
    """The bytes to store, and the hash of the original content."""

    data: bytes  # perhaps gzipped
    hash: str  # of the unzipped content; of lossy bytes: of the original
    unzipped: bytes


@dataclass(frozen=True)
class SourceFile:
    """A motion and the bytes from which it can be read again."""

    content: FileContent
    suffix: str
    motion: Motion
    tolerance_mm: float | None = None  # of lossy storage; None: the original bytes
    conversion: Conversion | None = None  # why the bytes are not the original ones


@dataclass(frozen=True, eq=False)
class Analysis(Frozen):
    """Everything that is stored about the frames of a clip; without a recognisable body there are no data for
    search."""

    facts: Facts
    key_frames: tuple[int, ...]  # of the most different poses, ascending
    strip: str  # SVG of these key poses; "" if they cannot be drawn
    swing_table: SwingTable
    actions: Mapping[str, int]  # how many of each of FACET_ACTIONS, if any
    description: Description | None
    track: PartTrack | None
    poses: Windows | None  # 17 x 3 joint positions from the hips, and height above the floor
    version: int = ANALYSIS_VERSION


@dataclass(frozen=True)
class Facts:
    """Properties of a motion that are columns of table ``clips``."""

    fps: float
    n_frames: int
    duration_s: float
    n_joints: int
    skeleton: str  # hash


def run_prepare_job(job: PrepareJob) -> PreparedClip:
    """Prepare the clip of a job; the result does not contain bytes that are stored unchanged, as the sender has
    them."""
    path = Path(job.path)
    content = unzip_content(job.data, path, job.limits)
    prepared = prepare_clip(
        read_source(content, path, Path(job.placeholder), job.limits, job.options), job.tolerance_mm
    )
    return replace(prepared, data=b"") if prepared.data is job.data else prepared


def prepare_clip(source: SourceFile, tolerance_mm: float | None) -> PreparedClip:
    """Return the analysis of a source file with the bytes to store."""
    stored = apply_tolerance(source, tolerance_mm)
    return PreparedClip(
        stored.content.data,
        stored.content.hash,
        stored.suffix,
        analyse(source.motion),
        stored.tolerance_mm,
        list_notes(source.motion),
        source.conversion,
    )


def read_content(path: Path, limits: Limits) -> FileContent:
    """Return the bytes of a file with their unzipped content."""
    return unzip_content(read_bytes(path, limits, unzip=False), path, limits)


def unzip_content(data: bytes, path: Path, limits: Limits) -> FileContent:
    """Return bytes with their unzipped content; ``path`` is named in errors."""
    unzipped = gunzip(path, data, limits) if data.startswith(GZIP_MAGIC) else data
    return FileContent(data, sha256_hex(unzipped), unzipped)


def read_source(
    content: FileContent, path: Path, placeholder: Path, limits: Limits, options: LoadOptions = DEFAULT_LOAD_OPTIONS
) -> SourceFile:
    """Read the motion; if ``path`` is the placeholder, a file that needs others is a FormatError."""
    try:
        return read_source_file(content, path, placeholder, limits, options)
    except FormatError:
        raise
    except FileError:
        if path != placeholder:
            raise
        problem = "needs another file beside it"
        raise FormatError(path, problem, code="needs_other_file", expected="bytes that can be read alone") from None


def read_source_file(
    content: FileContent, path: Path, placeholder: Path, limits: Limits, options: LoadOptions = DEFAULT_LOAD_OPTIONS
) -> SourceFile:
    """Read the motion of ``content`` from ``path``; ``placeholder`` is a path without other files beside it.

    The bytes are stored if they are read as the same motion without other files and with default options. Otherwise
    (AMC, glTF with external buffers, another animation than the first) the motion is stored as lossless ``.kps``, as a
    separate clip.
    """
    source = Source(path, content.unzipped, limits)
    format_ = recognise_format(source)
    motion = _read(source, format_, options)
    suffix = _suffix(path, format_, content)
    may_need_others = any(suffix.startswith(may) for may in MULTI_FILE_SUFFIXES) and path != placeholder
    if not may_need_others and options == DEFAULT_LOAD_OPTIONS:
        return SourceFile(content, suffix, motion)
    standalone = _try_read_standalone(content, placeholder.with_name(f"clip{suffix}"), limits)
    if standalone is None and may_need_others:
        return SourceFile(encode_motion(motion), KPS_SUFFIX, motion, conversion="other_file")
    if options != DEFAULT_LOAD_OPTIONS and (standalone is None or not _have_same_frames(standalone, motion)):
        return SourceFile(encode_motion(motion), KPS_SUFFIX, motion, conversion="load_options")
    return SourceFile(content, suffix, motion)


def read_standalone(content: FileContent, placeholder: Path, limits: Limits) -> Motion:
    """Return the motion of ``content`` without any other file."""
    source = Source(placeholder, content.unzipped, limits)
    return _read(source, recognise_format(source), DEFAULT_LOAD_OPTIONS)


def _try_read_standalone(content: FileContent, placeholder: Path, limits: Limits) -> Motion | None:
    """Return the motion that the library will read from the bytes alone; None if it is unreadable. Warnings were
    already issued."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        try:
            return read_standalone(content, placeholder, limits)
        except (FileError, FormatError):
            return None


def _have_same_frames(motion: Motion, other: Motion) -> bool:
    """Return whether two motions have the same frames, whatever their notes."""
    first, second = (encode_motion(replace(each, notes=(), tolerance_mm=None)) for each in (motion, other))
    return first.hash == second.hash


def _read(source: Source, format_: Format, options: LoadOptions) -> Motion:
    try:
        return format_.read(source, options)
    except ModelError as error:
        raise source.error(str(error), code="inconsistent") from None


def _suffix(path: Path, format_: Format, content: FileContent) -> str:
    """Return the suffix of the file if the format has it, else the first suffix of the format."""
    name = os.path.basename(path).lower().removesuffix(".gz")  # noqa: PTH119 - a name with odd characters stays one
    suffix_found = next((suffix for suffix in format_.suffixes if name.endswith(suffix)), format_.suffixes[0])
    return suffix_found + (".gz" if content.data is not content.unzipped else "")


def encode_motion(motion: Motion) -> FileContent:
    """Return a motion as lossless ``.kps``; its name is not part of the content."""
    data = encode_kps(replace(motion, name="clip"), lossless=True)
    return FileContent(data, sha256_hex(data), data)


def check_tolerance_mm(tolerance_mm: float | None) -> float | None:
    """Return the checked tolerance of lossy storage; None: the original bytes are stored."""
    if tolerance_mm is None:
        return None
    return check_option_number(AddOptions, "tolerance_mm", tolerance_mm)


def apply_tolerance(source: SourceFile, tolerance_mm: float | None) -> SourceFile:
    """Return the source with its bytes encoded as ``.kps`` within a tolerance (None: unchanged); the hash does not
    change."""
    if tolerance_mm is None:
        return source
    data = encode_kps(replace(source.motion, name="clip"), tolerance_mm=tolerance_mm)
    return replace(
        source,
        content=FileContent(data, source.content.hash, data),
        suffix=KPS_SUFFIX,
        tolerance_mm=tolerance_mm,
    )


def analyse(motion: Motion) -> Analysis:
    """Return the analysis of ``motion``; it depends on the frames only, not on the name.

    Everything except the facts is computed at no more than 30 fps, so that clips of all frame rates are comparable.
    """
    named = replace(motion, name="clip")
    resampled = _resample(named)
    body = _comparable_body(resampled)
    keys = _select_key_poses(resampled, motion)
    swing_table = _swing_table(resampled, motion.duration_s, body)
    return Analysis(
        facts=motion_facts(motion),
        key_frames=tuple(keys),
        strip=_strip(named, keys),
        swing_table=swing_table,
        actions=_count_actions(resampled, swing_table),
        description=None if body is None else describe_body(body),
        track=None if body is None else build_part_track(body),
        poses=None if body is None else sample_poses(posture(body)),
    )


def motion_facts(motion: Motion) -> Facts:
    """Return the properties of a motion that are columns of table ``clips``."""
    return Facts(motion.fps, motion.n_frames, motion.duration_s, motion.n_joints, skeleton_hash(motion.skeleton))


def skeleton_hash(skeleton: Skeleton) -> str:
    """Return a hash of joint names and hierarchy, the same for all figures of one rig."""
    identity = repr((skeleton.names, skeleton.parents.tolist()))
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()


def compute_swing_table(motion: Motion) -> SwingTable:
    """Return the swings of a motion as a library stores them."""
    resampled = _resample(motion)
    return _swing_table(resampled, motion.duration_s, _comparable_body(resampled))


def empty_swing_table(duration_s: float) -> SwingTable:
    """Return the table of a motion without swings."""
    empty = np.zeros(0)
    return SwingTable(
        duration_s, np.zeros(len(BODY_PARTS), bool), empty.astype(np.int32), empty, empty, empty.reshape(0, 3), empty
    )


def sample_poses(body_posture: Posture) -> Windows:
    """Return as many poses that every pose of the body is within POSE_STEP_M of one of them."""
    vectors = np.column_stack((body_posture.positions.reshape(len(body_posture.positions), -1), body_posture.heights))
    step_lengths = np.linalg.norm(np.diff(vectors, axis=0), axis=1) / np.sqrt(body_posture.positions.shape[1])
    step_counts = np.floor(np.concatenate(([0.0], np.cumsum(step_lengths))) / POSE_STEP_M + 0.5)
    frames = np.flatnonzero(np.diff(step_counts, prepend=-1.0))
    starts_s = frames / FPS
    ends_s = np.append(starts_s[1:], len(vectors) / FPS)
    weights = np.full(len(frames), 1.0 / len(frames), np.float32)
    return Windows(vectors[frames].astype(np.float32), starts_s, ends_s, weights, (0.0, 1.0))


def facet_of(part: str) -> str:
    """Return the facet of a body part (one of ``BODY_PARTS`` of swing tables)."""
    side, _, rest = part.partition("_")
    if side not in ("left", "right"):
        return "head" if part in _HEAD_PARTS else "torso"
    return f"{side}_arm" if rest in _ARM_PARTS else f"{side}_leg"


def find_moving_body_parts(swings: Iterable[tuple[str, float]]) -> frozenset[str]:
    """Return the facets with a wide swing, from pairs of body part and rotation angle in radians."""
    return frozenset(facet_of(part) for part, angle in swings if math.degrees(angle) >= MIN_SWING_DEG[facet_of(part)])


def _resample(motion: Motion) -> Motion:
    """Return the motion at no more than 30 fps."""
    return motion.at_fps(FPS) if motion.fps > FPS else motion


def _comparable_body(resampled: Motion) -> CanonicalBody | None:
    """Return the canonical body; None if there is none, if the frame rate is too low or the motion too long."""
    if resampled.fps < MIN_FPS:
        return None
    try:
        return canonical_body(resampled)
    except OptionError:  # too long to be resampled to 30 fps
        return None


def _select_key_poses(resampled: Motion, motion: Motion) -> Selection:
    """Return the frames of ``motion`` that differ most, ranked."""
    try:
        key_ladder = ladder(resampled, "farthest", max_keys=min(KEY_POSES, resampled.n_frames))
        frames = key_ladder.at(int(key_ladder.counts[-1])).order
    except ModelError:  # the motion is so far from the origin that poses cannot be distinguished
        frames = None
    is_ranked = frames is not None
    if frames is None:
        frames = np.linspace(0, resampled.n_frames - 1, min(KEY_POSES, resampled.n_frames)).astype(np.int32)
    own_frames = np.minimum(np.rint(frames * (motion.fps / resampled.fps)), motion.n_frames - 1).astype(np.int32)
    order = np.array(list(dict.fromkeys(own_frames.tolist())), np.int32)
    return Selection(np.sort(order), motion.n_frames, "farthest", order if is_ranked else None)


def _strip(motion: Motion, keys: Selection) -> str:
    """Return the SVG of the key poses, less important ones more transparent."""
    if motion.n_joints > MAX_DRAWN_JOINTS:
        return ""
    is_ranked = keys.order is not None
    return strip(motion, keys, rank=is_ranked, height_px=STRIP_HEIGHT_PX, captions=False, background=False).svg


def _swing_table(resampled: Motion, duration_s: float, body: CanonicalBody | None) -> SwingTable:
    if body is None or resampled.n_frames * resampled.n_joints > MAX_SWING_SAMPLES:
        return empty_swing_table(duration_s)
    return replace(build_body_swing_table(resampled, body), duration_s=duration_s)


def _count_actions(resampled: Motion, swing_table: SwingTable) -> dict[str, int]:
    """Return how many actions of each kind the swings of a motion form, in the order of FACET_ACTIONS."""
    if not swing_table.present.any():
        return {}
    joint_of = {part: joint for joint, part in enumerate(resampled.skeleton.anatomy.body_parts)}
    joints = np.array([joint_of.get(part, -1) for part in BODY_PARTS], np.int32)
    starts, ends = (
        np.rint(times * resampled.fps).astype(np.int32) for times in (swing_table.starts_s, swing_table.ends_s)
    )
    angles_deg = np.rad2deg(swing_table.angles)
    counts = count_actions(resampled, joints[swing_table.body_parts], starts, ends - 1, angles_deg)
    return {kind: counts[kind] for kind in FACET_ACTIONS if kind in counts}
