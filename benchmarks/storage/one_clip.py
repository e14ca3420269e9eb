"""One clip in every design: bytes, largest errors, and how long the encoder took."""

from __future__ import annotations

import gzip
import lzma
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.storage import acl_like, fitted_keys
from benchmarks.storage.clips import HELD_OUT
from benchmarks.storage.figure import largest_error_mm

import keypose as kp
from keypose.storage.container import written
from keypose.storage.error import largest_error
from keypose.storage.groups import NO_FRAMES, Coded
from keypose.storage.head.clips import Clip
from keypose.swings.packed import packed_parts

TOLERANCES_MM = (0.1, 1.0, 5.0)
RAW_BYTES = 40  # of a joint in a frame: rotation, translation and scale in 32-bit numbers

TEXT, GZIP, ZSTD, XZ = "BVH text", "BVH text, gzip -9", "BVH text, zstd -19", "BVH text, xz -9"
SWINGS, KEYS, ACL = "swings, joints only", "fitted keys, quantised", "ACL-like"
OURS, LOSSLESS = "kps", "kps, lossless"
PLAIN = (TEXT, GZIP, ZSTD, XZ, LOSSLESS)  # of no tolerance
WITHIN = (SWINGS, KEYS, ACL, OURS)

SWING_THRESHOLD = 0.4  # the thesis's; by default four are tried, which takes longer and gains a few percent at most
SAME_MM = 1e-6  # by which two measures of the same error may differ


@dataclass
class Stored:
    """What one clip takes; keys are a design and a tolerance, 0 for designs that have none."""

    corpus: str
    path: Path
    seconds: float
    raw_bytes: int
    header_bytes: int  # of what is no frame: names, bones, channels, rate
    bytes: dict[tuple[str, float], int] = field(default_factory=dict)
    errors_mm: dict[tuple[str, float], float] = field(default_factory=dict)
    encode_s: dict[tuple[str, float], float] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    corpus: str
    path: Path
    folder: Path  # for the files

    def file(self, tolerance_mm: float) -> Path:
        """Where the clip is stored within a tolerance; 0: without loss."""
        return self.folder / f"{self.path.name.split('.')[0]} {self.corpus} {tolerance_mm:g}.kps"


def stored(job: Job) -> Stored:
    """Stores a clip in all designs; of clips that are held out only as text, ACL-like and as we do."""
    motion = kp.load(job.path)
    head = header_bytes(motion)
    out = Stored(job.corpus, job.path, motion.duration_s, RAW_BYTES * motion.n_joints * motion.n_frames, head)
    _texts(out)
    _ours(out, job, motion)
    for tolerance_mm in TOLERANCES_MM:
        _acl_like(out, motion, tolerance_mm)
        if job.corpus != HELD_OUT:
            found = fitted_keys.store(motion, tolerance_mm)
            out.bytes[KEYS, tolerance_mm], out.errors_mm[KEYS, tolerance_mm] = head + found.n_bytes, found.error_mm
            swings = kp.swings_within(motion, max_mm=tolerance_mm, thresholds=SWING_THRESHOLD)
            packed, parts = packed_parts(swings)
            out.bytes[SWINGS, tolerance_mm] = head + len(packed) - parts["header"]
            out.errors_mm[SWINGS, tolerance_mm] = largest_error_mm(motion, swings.play())
    return out


def header_bytes(motion: kp.Motion) -> int:
    """What our file says of a clip besides its frames: names, bones, channels, rate. Counted for the rivals as well."""
    clip = Clip(
        kind=NO_FRAMES,
        tolerance_mm=None,
        name=motion.name,
        skeleton=motion.skeleton,
        fps=motion.fps,
        n_frames=motion.n_frames,
        up=motion.up,
        metres_per_unit=motion.metres_per_unit,
        first_frame=motion.first_frame,
        reference_pose=motion.reference_pose,
        notes=motion.notes,
        coding_bytes=0,
        pose_bytes=(),
        body_bytes=(),
        keys_bytes=None,
        swings_bytes=None,
    )
    return len(written(clip, Coded(NO_FRAMES, b"", (), ()), None, None))


def _texts(out: Stored) -> None:
    from zstandard import ZstdCompressor

    text = out.path.read_bytes()
    if out.path.suffix == ".gz":
        text = gzip.decompress(text)
    out.bytes[TEXT, 0.0] = len(text)
    out.bytes[ZSTD, 0.0] = len(ZstdCompressor(level=19).compress(text))
    if out.corpus != HELD_OUT:
        out.bytes[GZIP, 0.0] = len(gzip.compress(text, 9))
        out.bytes[XZ, 0.0] = len(lzma.compress(text, preset=9))


def _acl_like(out: Stored, motion: kp.Motion, tolerance_mm: float) -> None:
    data = acl_like.encode(motion, tolerance_mm)
    out.bytes[ACL, tolerance_mm] = out.header_bytes + len(data)
    out.errors_mm[ACL, tolerance_mm] = largest_error_mm(motion, acl_like.decode(data, motion))


def _ours(out: Stored, job: Job, motion: kp.Motion) -> None:
    """The real files, read back by ``kp.load``; the error by the package's measure and by the one of this benchmark."""
    for tolerance_mm in (0.0, *TOLERANCES_MM):
        key, path = (OURS if tolerance_mm else LOSSLESS, tolerance_mm), job.file(tolerance_mm)
        start = time.process_time()  # of all threads
        if tolerance_mm:
            kp.save(motion, path, tolerance_mm=tolerance_mm)
        else:
            kp.save(motion, path, lossless=True)
        out.encode_s[key] = time.process_time() - start
        out.bytes[key] = path.stat().st_size
        back = kp.load(path)
        out.errors_mm[key] = largest_error_mm(motion, back)
        theirs = largest_error(motion, back).mm
        assert abs(theirs - out.errors_mm[key]) <= SAME_MM, f"{path}: {theirs} mm and {out.errors_mm[key]} mm"
        if not tolerance_mm:
            same = (back.translations == motion.translations).all() and (back.rotations == motion.rotations).all()
            assert same, f"{path}: not the same numbers"
