"""Any part of a stored motion, in any order, in any process: always the same bits."""

from __future__ import annotations

import hashlib
import io
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lossy_motions
import numpy as np
import pytest
from lossy_shapes import chain, moved, skeleton_of

import keypose as kp
from keypose.storage import stored_bytes
from keypose.storage.codec import LossyDecoder, encode
from keypose.storage.groups import group_bounds

MOTIONS = ("three roots", "spins", "23.976 fps", "all places move", "1 fps", "1000 fps", "markers")


@pytest.mark.parametrize("what", MOTIONS)
def test_any_part_is_the_part_of_the_whole(what: str, tmp_path: Path):
    motion = lossy_motions.EXOTIC[what]()
    kp.save(motion, tmp_path / "clip.kps")
    whole = kp.load(tmp_path / "clip.kps")
    rng = random.Random(what)
    with kp.open_kps(tmp_path / "clip.kps") as stored:
        assert stored.tolerance_mm == 1.0
        spans = [(0, 1), (motion.n_frames - 1, motion.n_frames), *group_bounds(motion.n_frames, motion.fps)[:3]]
        spans += [tuple(sorted(rng.sample(range(motion.n_frames + 1), 2))) for _ in range(12)]
        for start, stop in spans:
            by_number, by_time = stored.frames(start, stop), stored[start / motion.fps : stop / motion.fps]
            for part in (by_number, by_time):
                assert part.rotations.tobytes() == whole.rotations[start:stop].tobytes()
                assert part.translations.tobytes() == whole.translations[start:stop].tobytes()
                assert part.first_frame == motion.first_frame + start


def test_groups_in_any_order_and_again():
    motion = moved(skeleton_of([-1, 0, 1, -1, 3]), 200)
    coded = encode(motion, 1.0)
    follow = (*coded.poses[1:], None)
    decoder = LossyDecoder(motion.skeleton, motion.fps, motion.n_frames, coded.clip)
    found: dict[int, set[bytes]] = {}
    for g in (6, 0, 3, 3, 5, 1, 0, 2, 4, 6):
        translations, rotations = decoder.group(g, coded.poses[g], coded.bodies[g], follow[g])
        found.setdefault(g, set()).add(translations.tobytes() + rotations.tobytes())
    assert sorted(found) == list(range(7)) and all(len(same) == 1 for same in found.values())
    fresh = LossyDecoder(motion.skeleton, motion.fps, motion.n_frames, coded.clip)
    for g, same in found.items():
        translations, rotations = fresh.group(g, coded.poses[g], coded.bodies[g], follow[g])
        assert {translations.tobytes() + rotations.tobytes()} == same


def test_a_group_needs_no_bytes_but_its_own():
    motion = moved(chain(4), 300)
    data = stored_bytes(motion)
    whole = kp.open_kps(data).motion()
    asked: list[tuple[int, int]] = []

    def some(start: int, stop: int) -> bytes:
        asked.append((start, stop))
        return data[start:stop]

    with kp.open_kps(some) as stored:
        part = stored[4.0:5.0]
    assert part.rotations.tobytes() == whole.rotations[120:150].tobytes()
    assert len(data) < 4096 or sum(stop - start for start, stop in asked) < len(data)
    with kp.open_kps(io.BytesIO(data)) as stored:
        assert stored[4.0:5.0].translations.tobytes() == whole.translations[120:150].tobytes()


@pytest.mark.parametrize("what", ["hinges, pairs, fixed turns", "pops of half a turn", "markers"])
def test_the_same_motion_makes_the_same_bytes(what: str):
    one, other = (stored_bytes(lossy_motions.EXOTIC[what]()) for _ in range(2))
    assert one == other


CHILD = """
import sys
sys.path[:0] = sys.argv[1:]
from test_lossy_access import digests
print(*digests())
"""


def digests() -> list[str]:
    """Of the bytes of a stored motion and of the frames that they hold."""
    parts: list[bytes] = []
    for what in ("hinges, pairs, fixed turns", "three roots"):
        data = stored_bytes(lossy_motions.EXOTIC[what]())
        again = kp.open_kps(data).motion()
        parts += [data, again.translations.tobytes(), again.rotations.tobytes()]
    return [hashlib.sha256(part).hexdigest() for part in parts]


def test_another_process_finds_the_same():
    here = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    for seed in ("0", "4711"):
        words = [sys.executable, "-c", CHILD, *here]
        told = subprocess.run(
            words, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        assert told.stdout.split() == digests()


def test_threads_do_not_disturb_each_other():
    data = stored_bytes(moved(chain(6), 300))
    whole = kp.open_kps(data).motion()
    with kp.open_kps(data) as stored, ThreadPoolExecutor(4) as pool:
        for second, part in zip([*range(10)] * 4, pool.map(lambda s: stored[s : s + 1], [*range(10)] * 4), strict=True):
            assert np.array_equal(part.rotations, whole.rotations[30 * second : 30 * second + 30])
