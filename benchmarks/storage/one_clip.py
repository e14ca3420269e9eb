"""One clip in every format: bytes, largest errors and encoding times."""

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
from keypose.storage.container import build_file
from keypose.storage.error import largest_error
from keypose.storage.groups import NO_FRAMES, CodedFrames
from keypose.storage.header.clip_header import ClipHeader
from keypose.swings.codec import pack_with_sizes

TOLERANCES_MM = (0.1, 1.0, 5.0)
RAW_BYTES = 40  # of a joint in a frame: rotation, translation and scale in 32-bit numbers

TEXT, GZIP, ZSTD, XZ = "BVH text", "BVH text, gzip -9", "BVH text, zstd -19", "BVH text, xz -9"
SWINGS, KEYS, ACL = "swings, joints only", "fitted keys, quantised", "ACL-like"
OURS, LOSSLESS = "kps", "kps, lossless"
WITHOUT_TOLERANCE = (TEXT, GZIP, ZSTD, XZ, LOSSLESS)  # have no tolerance
WITH_TOLERANCE = (SWINGS, KEYS, ACL, OURS)

SWING_THRESHOLD = 0.4  # of the thesis; trying four, the default, is slower and saves a few percent at most
MAX_DIFFERENCE_MM = 1e-6  # between two implementations of the error


@dataclass
class ClipSizes:
    """Sizes, errors and times of one clip by (design, tolerance in mm), with tolerance 0 for designs without one."""

    corpus: str
    path: Path
    seconds: float
    raw_bytes: int
    header_bytes: int  # names, bones, channels, rate
    bytes: dict[tuple[str, float], int] = field(default_factory=dict)
    errors_mm: dict[tuple[str, float], float] = field(default_factory=dict)
    encode_s: dict[tuple[str, float], float] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    corpus: str
    path: Path
    folder: Path  # for the files

    def file(self, tolerance_mm: float) -> Path:
        """Return the file of the clip at a tolerance; 0: lossless."""
        return self.folder / f"{self.path.name.split('.')[0]} {self.corpus} {tolerance_mm:g}.kps"


def measure_clip(job: Job) -> ClipSizes:
    """Store a clip in all designs; held-out clips only as text, ACL-like and .kps."""
    motion = kp.load(job.path)
    n_header_bytes = header_bytes(motion)
    sizes = ClipSizes(
        job.corpus, job.path, motion.duration_s, RAW_BYTES * motion.n_joints * motion.n_frames, n_header_bytes
    )
    _measure_text(sizes)
    _measure_kps(sizes, job, motion)
    for tolerance_mm in TOLERANCES_MM:
        _measure_acl(sizes, motion, tolerance_mm)
        if job.corpus != HELD_OUT:
            size = fitted_keys.store(motion, tolerance_mm)
            sizes.bytes[KEYS, tolerance_mm], sizes.errors_mm[KEYS, tolerance_mm] = (
                n_header_bytes + size.n_bytes,
                size.error_mm,
            )
            swings = kp.swings_within(motion, max_mm=tolerance_mm, thresholds=SWING_THRESHOLD)
            packed, part_sizes = pack_with_sizes(swings)
            sizes.bytes[SWINGS, tolerance_mm] = n_header_bytes + len(packed) - part_sizes["header"]
            sizes.errors_mm[SWINGS, tolerance_mm] = largest_error_mm(motion, swings.play())
    return sizes


def header_bytes(motion: kp.Motion) -> int:
    """Return the bytes of a .kps file without frames (names, bones, channels, rate), counted for rivals as well."""
    clip = ClipHeader(
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
        parameters_bytes=0,
        pose_bytes=(),
        body_bytes=(),
        keys_bytes=None,
        swings_bytes=None,
    )
    return len(build_file(clip, CodedFrames(NO_FRAMES, b"", (), ()), None, None))


def _measure_text(sizes: ClipSizes) -> None:
    from zstandard import ZstdCompressor

    text = sizes.path.read_bytes()
    if sizes.path.suffix == ".gz":
        text = gzip.decompress(text)
    sizes.bytes[TEXT, 0.0] = len(text)
    sizes.bytes[ZSTD, 0.0] = len(ZstdCompressor(level=19).compress(text))
    if sizes.corpus != HELD_OUT:
        sizes.bytes[GZIP, 0.0] = len(gzip.compress(text, 9))
        sizes.bytes[XZ, 0.0] = len(lzma.compress(text, preset=9))


def _measure_acl(sizes: ClipSizes, motion: kp.Motion, tolerance_mm: float) -> None:
    data = acl_like.encode(motion, tolerance_mm)
    sizes.bytes[ACL, tolerance_mm] = sizes.header_bytes + len(data)
    sizes.errors_mm[ACL, tolerance_mm] = largest_error_mm(motion, acl_like.decode(data, motion))


def _measure_kps(sizes: ClipSizes, job: Job, motion: kp.Motion) -> None:
    """Write .kps files, read them by ``kp.load``, and check the error by two independent implementations."""
    for tolerance_mm in (0.0, *TOLERANCES_MM):
        key, path = (OURS if tolerance_mm else LOSSLESS, tolerance_mm), job.file(tolerance_mm)
        start = time.process_time()  # of all threads
        if tolerance_mm:
            kp.save(motion, path, tolerance_mm=tolerance_mm)
        else:
            kp.save(motion, path, lossless=True)
        sizes.encode_s[key] = time.process_time() - start
        sizes.bytes[key] = path.stat().st_size
        decoded = kp.load(path)
        sizes.errors_mm[key] = largest_error_mm(motion, decoded)
        package_error_mm = largest_error(motion, decoded).mm
        assert abs(package_error_mm - sizes.errors_mm[key]) <= MAX_DIFFERENCE_MM, (
            f"{path}: {package_error_mm} mm and {sizes.errors_mm[key]} mm"
        )
        if not tolerance_mm:
            same = (decoded.translations == motion.translations).all() and (decoded.rotations == motion.rotations).all()
            assert same, f"{path}: not the same numbers"
