"""Any span of a stored motion, in any order and process: always the same bits."""

from __future__ import annotations

import hashlib
import io
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.storage import encode_kps
from keypose.storage.codec import LossyDecoder, encode
from keypose.storage.groups import group_bounds
from support import lossy_motions
from support.lossy_shapes import animate, build_skeleton, chain

MOTIONS = ("three roots", "spins", "23.976 fps", "all places move", "1 fps", "1000 fps", "markers")


@pytest.mark.parametrize("name", MOTIONS)
def test_any_span_equals_that_of_the_full_motion(name: str, tmp_path: Path):
    motion = lossy_motions.EXOTIC[name]()
    kp.save(motion, tmp_path / "clip.kps")
    full_motion = kp.load(tmp_path / "clip.kps")
    rng = random.Random(name)
    with kp.open_kps(tmp_path / "clip.kps") as stored:
        assert stored.tolerance_mm == 1.0
        spans = [(0, 1), (motion.n_frames - 1, motion.n_frames), *group_bounds(motion.n_frames, motion.fps)[:3]]
        spans += [tuple(sorted(rng.sample(range(motion.n_frames + 1), 2))) for _ in range(12)]
        for start, stop in spans:
            by_number, by_time = stored.frames(start, stop), stored[start / motion.fps : stop / motion.fps]
            for part in (by_number, by_time):
                assert part.rotations.tobytes() == full_motion.rotations[start:stop].tobytes()
                assert part.translations.tobytes() == full_motion.translations[start:stop].tobytes()
                assert part.first_frame == motion.first_frame + start


def test_groups_decode_in_any_order_and_repeatedly():
    motion = animate(build_skeleton([-1, 0, 1, -1, 3]), 200)
    coded_frames = encode(motion, 1.0)
    follow = (*coded_frames.poses[1:], None)
    decoder = LossyDecoder(motion.skeleton, motion.fps, motion.n_frames, coded_frames.parameters)
    result: dict[int, set[bytes]] = {}
    for g in (6, 0, 3, 3, 5, 1, 0, 2, 4, 6):
        translations, rotations = decoder.decode_group(g, coded_frames.poses[g], coded_frames.bodies[g], follow[g])
        result.setdefault(g, set()).add(translations.tobytes() + rotations.tobytes())
    assert sorted(result) == list(range(7)) and all(len(same) == 1 for same in result.values())
    fresh = LossyDecoder(motion.skeleton, motion.fps, motion.n_frames, coded_frames.parameters)
    for g, same in result.items():
        translations, rotations = fresh.decode_group(g, coded_frames.poses[g], coded_frames.bodies[g], follow[g])
        assert {translations.tobytes() + rotations.tobytes()} == same


def test_a_group_reads_only_its_own_bytes():
    motion = animate(chain(4), 300)
    data = encode_kps(motion)
    full_motion = kp.open_kps(data).motion()
    requests: list[tuple[int, int]] = []

    def some(start: int, stop: int) -> bytes:
        requests.append((start, stop))
        return data[start:stop]

    with kp.open_kps(some) as stored:
        part = stored[4.0:5.0]
    assert part.rotations.tobytes() == full_motion.rotations[120:150].tobytes()
    assert len(data) < 4096 or sum(stop - start for start, stop in requests) < len(data)
    with kp.open_kps(io.BytesIO(data)) as stored:
        assert stored[4.0:5.0].translations.tobytes() == full_motion.translations[120:150].tobytes()


@pytest.mark.parametrize("name", ["hinges, pairs, fixed turns", "pops of half a turn", "markers"])
def test_the_same_motion_makes_the_same_bytes(name: str):
    first, other = (encode_kps(lossy_motions.EXOTIC[name]()) for _ in range(2))
    assert first == other


CHILD = """
import sys
sys.path[:0] = sys.argv[1:]
from test_lossy_access import digests
print(*digests())
"""


def digests() -> list[str]:
    """Return digests of the bytes of a stored motion and of its frames."""
    spans: list[bytes] = []
    for name in ("hinges, pairs, fixed turns", "three roots"):
        data = encode_kps(lossy_motions.EXOTIC[name]())
        decoded = kp.open_kps(data).motion()
        spans += [data, decoded.translations.tobytes(), decoded.rotations.tobytes()]
    return [hashlib.sha256(part).hexdigest() for part in spans]


def test_another_process_decodes_the_same():
    expected = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    for seed in ("0", "4711"):
        command = [sys.executable, "-c", CHILD, *expected]
        output = subprocess.run(
            command, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        assert output.stdout.split() == digests()


def test_concurrent_reads():
    data = encode_kps(animate(chain(6), 300))
    full_motion = kp.open_kps(data).motion()
    with kp.open_kps(data) as stored, ThreadPoolExecutor(4) as pool:
        for second, part in zip([*range(10)] * 4, pool.map(lambda s: stored[s : s + 1], [*range(10)] * 4), strict=True):
            assert np.array_equal(part.rotations, full_motion.rotations[30 * second : 30 * second + 30])
