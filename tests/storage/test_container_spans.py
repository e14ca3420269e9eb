"""Spans of a stored motion: exact frames, read from no more bytes than needed."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.limits import limit_hint
from keypose.model import Motion, Skeleton
from keypose.storage import encode_kps
from keypose.storage.container import FIRST_READ_BYTES
from keypose.storage.groups import CodedFrames, group_count
from support import raw_codec
from support.errors import raises
from support.headers import build_file, build_header, read_back

pytestmark = pytest.mark.usefixtures("raw")
MOTION = kp.demo_motion(fps=20)[:148]  # 6 groups of 20 frames and a last one of 28


@pytest.fixture
def data() -> bytes:
    return encode_kps(MOTION)


class CountingSource:
    """A byte source that records its requests."""

    def __init__(self, data: bytes) -> None:
        self.data, self.requests = data, []

    def __call__(self, start: int, stop: int) -> bytes:
        self.requests.append((start, stop))
        return self.data[start:stop]


def assert_frames(part: kp.Motion, start: int, stop: int) -> None:
    assert np.array_equal(part.rotations, MOTION.rotations[start:stop])
    assert np.array_equal(part.translations, MOTION.translations[start:stop])
    assert (part.first_frame, part.fps, part.name) == (MOTION.first_frame + start, MOTION.fps, MOTION.name)


def test_any_span_of_frames(data):
    stored = kp.open_kps(data)
    rng = np.random.default_rng(0)
    for _ in range(40):
        start, stop = sorted(rng.choice(149, 2, replace=False).tolist())
        assert_frames(stored.frames(start, stop), start, stop)
    for frame in range(148):
        assert_frames(stored.frames(frame, frame + 1), frame, frame + 1)
    assert_frames(stored.motion(), 0, 148)
    assert_frames(stored.frames(140, 10_000), 140, 148)


def test_any_span_of_seconds(data):
    stored = kp.open_kps(data)
    assert_frames(stored[:], 0, 148)
    assert_frames(stored[2.0:3.5], 40, 70)
    assert_frames(stored[2.01:2.06], 41, 42)  # a frame counts if its time is within
    assert_frames(stored[7:], 140, 148)
    assert_frames(stored[: 1 / 20], 0, 1)
    assert_frames(stored[7:1e308], 140, 148)
    for k in range(148):
        assert_frames(stored[k / 20 : (k + 1) / 20], k, k + 1)


@pytest.mark.parametrize(
    ("times", "fields"),
    [
        (slice(3, 2), {"problem": "seconds 3 to 2 of 7.4 hold no frame"}),
        (slice(7.5, 9), {"problem": "second 7.5 is behind the end: the motion has 7.4 s"}),
        (slice(20.0, None), {"problem": "second 20 is behind the end: the motion has 7.4 s"}),
        (slice(None, 0), {"problem": "seconds 0 to 0 of 7.4 hold no frame"}),
        (slice(2.01, 2.02), {"problem": "seconds 2.01 to 2.02 of 7.4 hold no frame"}),
        (slice(-1, 2), {"option": "start of the seconds", "value": -1, "expected": "a number of at least 0"}),
        (slice(0, float("nan")), {"option": "stop of the seconds", "expected": "a number of at least 0"}),
        (slice(0, float("inf")), {"option": "stop of the seconds", "expected": "a number of at least 0"}),
        (slice(1e308, None), {"problem": "second 1e+308 is behind the end: the motion has 7.4 s"}),
        (slice("a", 2), {"option": "start of the seconds", "value": "a", "expected": "a number of at least 0"}),
        (slice(0, 2, 2), {"hint": ".frames(start, stop) takes frames"}),
        (2.0, {"hint": ".frames(start, stop) takes frames"}),
    ],
    ids=str,
)
def test_invalid_spans_are_refused(data, times, fields):
    with raises(kp.OptionError, **fields):
        kp.open_kps(data)[times]


@pytest.mark.parametrize("span", [(5, 5), (3, 1), (150, 160), (-1, 4), (0.5, 2)], ids=str)
def test_invalid_frames_are_refused(data, span):
    with pytest.raises(kp.OptionError):
        kp.open_kps(data).frames(*span)


def test_header_fields(data):
    stored = kp.open_kps(data)
    assert (stored.name, stored.fps, stored.n_frames, stored.n_joints) == ("demo", 20, 148, MOTION.n_joints)
    assert (stored.duration_s, stored.group_s, stored.n_groups, stored.n_bytes) == (7.4, 1.0, 7, len(data))
    assert (stored.up, stored.metres_per_unit, stored.first_frame) == (MOTION.up, MOTION.metres_per_unit, 0)
    assert (stored.tolerance_mm, stored.lossless, stored.has_frames) == (1.0, False, True)
    assert (stored.has_keys, stored.has_swings, stored.keyed(), stored.swings()) == (False, False, None, None)
    assert stored.channels() is None and stored.notes == MOTION.notes and stored.reference_pose is None
    assert stored.skeleton.names == MOTION.skeleton.names
    assert repr(stored) == (f"StoredMotion('demo', 148 frames at 20 fps, {MOTION.n_joints} joints, 7.40 s, within 1 mm, "
                            f"{len(data)} bytes)")  # fmt: skip
    assert stored.damage() == () and stored.intact_spans() == ((0.0, 7.4),)


def test_only_the_bytes_of_the_groups_are_read(data):
    contents = read_back(data)
    source = CountingSource(data)
    stored = kp.open_kps(source)
    assert source.requests == [(0, FIRST_READ_BYTES)]
    for start_s, end_s, first, last in ((2.0, 3.0, 2, 2), (2.5, 4.1, 2, 4), (6.0, 7.4, 6, 6)):
        source.requests.clear()
        assert_frames(stored[start_s:end_s], round(20 * start_s), round(20 * end_s))
        assert source.requests == [(contents.group_range(first)[0], contents.group_range(last)[1])]
    source.requests.clear()
    assert_frames(stored[0.0:1.0], 0, 20)  # the first bytes are cached
    assert source.requests == [(FIRST_READ_BYTES, contents.group_range(0)[1])]


def test_long_header_is_read_in_two_requests():
    rng = np.random.default_rng(0)
    names = tuple(rng.bytes(30).hex() for _ in range(100))
    skeleton = kp.Skeleton(names, np.arange(100) - 1, rng.normal(size=(100, 3)))
    motion = kp.Motion("long", skeleton, 30, np.zeros((3, 100, 3)), np.tile((1.0, 0, 0, 0), (3, 100, 1)))
    data = encode_kps(motion)
    source = CountingSource(data)
    stored = kp.open_kps(source)
    assert stored.skeleton.names == names
    assert source.requests == [(0, FIRST_READ_BYTES), (FIRST_READ_BYTES, read_back(data).start_byte)]


def test_paths_files_and_functions(data, tmp_path):
    path = tmp_path / "a.kps"
    path.write_bytes(data)
    with kp.open_kps(path) as stored, kp.open_kps(str(path)) as decoded:
        assert_frames(stored[1:2], 20, 40)
        assert_frames(decoded[1:2], 20, 40)
    with raises(kp.FileError, code="read_failed", path=str(path)):
        stored[3:4]  # closed
    with path.open("rb") as file:
        with kp.open_kps(file) as stored:
            assert_frames(stored[1:2], 20, 40)
        assert not file.closed  # closed by its owner only
    assert_frames(kp.open_kps(io.BytesIO(data))[1:2], 20, 40)
    assert_frames(kp.open_kps(lambda start, stop: memoryview(data)[start:stop])[1:2], 20, 40)


def test_file_with_short_reads(data):
    class Trickle(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 1000))

    assert_frames(kp.open_kps(Trickle(data))[1:3], 20, 60)


def test_invalid_sources_are_refused(tmp_path):
    for wrong in (3, None, ["a"]):
        with raises(kp.OptionError, expected="a path, a binary file or a function (start, stop) -> bytes"):
            kp.open_kps(wrong)
    with raises(kp.OptionError, subject="<lambda>", expected="bytes"):
        kp.open_kps(lambda start, stop: "text")
    with raises(kp.OptionError, subject="<file>", expected="one opened as binary: open(path, 'rb')"):
        kp.open_kps(io.StringIO("KPS"))
    with raises(kp.FileError, code="no_such_file"):
        kp.open_kps(tmp_path / "absent.kps")
    with raises(kp.FileError, code="not_a_file", expected="a .kps file"):
        kp.open_kps(tmp_path)
    with raises(kp.FileError, code="read_failed"):
        kp.open_kps("a\0b.kps")

    def broken(start, stop):
        raise OSError(5, "the network is gone")

    with raises(kp.FileError, code="read_failed", problem="cannot be read (the network is gone)"):
        kp.open_kps(broken)


@pytest.mark.parametrize("n_frames", [1, 2, 14, 15, 29, 30, 31])
def test_short_clips(n_frames):
    motion = MOTION[:n_frames]
    stored = kp.open_kps(encode_kps(motion, tolerance_mm=0.5))
    assert (stored.n_groups, stored.tolerance_mm) == (2 if n_frames >= 30 else 1, 0.5)
    assert np.array_equal(stored.motion().rotations, motion.rotations)


def test_frames_take_no_more_memory_than_the_limits_allow():
    """A codec could decode any number of frames from no bytes."""
    motion = MOTION[:2]
    coded_frames = raw_codec.encode(motion, 1.0)
    n_frames = 4_000_000
    clip = build_header(motion, coded_frames)
    vars_ = {name: getattr(clip, name) for name in vars(clip)} | {"n_frames": n_frames, "fps": 1e6}
    count = group_count(n_frames, 1e6)
    vars_ |= {"pose_bytes": (0,) * count, "body_bytes": (0,) * count, "parameters_bytes": 4}
    data = build_file(type(clip)(**vars_), type(coded_frames)(1, b"raw!", (b"",) * count, (b"",) * count), None, None)
    stored = kp.open_kps(data)
    with raises(kp.LimitError, hint=limit_hint("expansion")):
        stored.motion()
    with raises(kp.LimitError, value=4000000, hint=limit_hint("frames")):
        kp.open_kps(data, limits=kp.Limits(frames=1_000_000))
    with raises(kp.LimitError, value=26, hint=limit_hint("joints")):
        kp.open_kps(data, limits=kp.Limits(joints=3))
    with raises(kp.LimitError, value=9, hint=limit_hint("depth")):
        kp.open_kps(data, limits=kp.Limits(depth=2))


def test_a_group_of_few_bytes_takes_little_memory():
    """Many joints and frames in few bytes: refused before anything is decoded."""
    n = 2000
    skeleton = Skeleton(tuple(f"{j}" for j in range(n)), np.array([-1] + [0] * (n - 1)), np.zeros((n, 3)))
    motion = Motion("many", skeleton, 480.0, np.zeros((1, n, 3)), np.tile((1.0, 0, 0, 0), (1, n, 1)))
    clip = replace(build_header(motion, CodedFrames(1, b"raw!", (b"",), (b"",))), n_frames=480)
    stored = kp.open_kps(build_file(clip, CodedFrames(1, b"raw!", (b"",), (b"",)), None, None))
    with raises(kp.LimitError, hint=limit_hint("expansion")):
        stored.frames(0, 1)


def test_source_errors(data):
    def late(start: int, stop: int) -> bytes:
        raise TimeoutError

    def own(start: int, stop: int) -> bytes:
        raise KeyError("mine")

    with raises(kp.FileError, code="read_failed", problem="cannot be read (TimeoutError)"):
        kp.open_kps(late)
    with pytest.raises(KeyError, match="mine"):
        kp.open_kps(own)
