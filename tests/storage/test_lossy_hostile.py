"""Frames that no encoder wrote, under checksums that fit: a clear error or a sound motion, soon and in little memory."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from headers import clip_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lossy_shapes import chain, moved, skeleton_of

import keypose as kp
from keypose.model import Motion, Skeleton
from keypose.storage.codec import LossyDecoder, encode
from keypose.storage.container import written
from keypose.storage.groups import Coded, CodingError, group_count
from keypose.storage.lossy.plan import JointPlan, Plan, Turn

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.fuzz.mutate import damage

pytestmark = pytest.mark.one_python

relaxed = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
MOTION = moved(skeleton_of([-1, 0, 1, 1, -1]), 75, stretch=0.0)
CODED = encode(MOTION, 1.0)
PLAN = Plan.from_bytes(CODED.clip, MOTION.n_joints)
SECONDS = 2.0  # for a file of a few hundred bytes: a hundred times what it takes


def outcome(coded: Coded, motion: Motion = MOTION) -> str:
    """What becomes of a whole file with these frames: an error that says which, or a motion."""
    start = time.process_time()
    try:
        again = kp.open_kps(written(clip_of(motion, coded), coded, None, None)).motion()
    except kp.FormatError as error:
        assert "not what an encoder writes" in str(error) or "expected finite numbers up to" in str(error)
        assert len(str(error)) < 400
        return "refused"
    finally:
        assert time.process_time() - start < SECONDS
    assert again.n_frames == motion.n_frames
    assert np.allclose(np.linalg.norm(again.rotations, axis=2), 1)
    return "read"


def test_what_an_encoder_writes_is_read():
    assert len(CODED.bodies) == 3 and outcome(CODED) == "read"


@pytest.mark.parametrize("part", ["clip", "poses", "bodies"])
def test_damage_under_checksums_that_fit(part: str):
    rng = random.Random(part)
    others = [CODED.clip, *CODED.poses, *CODED.bodies]
    found = Counter()
    for _ in range(250):
        if part == "clip":
            found[outcome(replace(CODED, clip=damage(CODED.clip, others, rng)))] += 1
        else:
            sections = list(getattr(CODED, part))
            at = rng.randrange(len(sections))
            sections[at] = damage(sections[at], others, rng)
            found[outcome(replace(CODED, **{part: tuple(sections)}))] += 1
    assert min(found["refused"], found["read"]) > 3, found


@pytest.mark.parametrize("part", ["poses", "bodies"])
def test_sections_that_were_swapped_left_out_or_cut_short(part: str):
    sections = getattr(CODED, part)
    for other in (sections[::-1], (b"",) * 3, (b"\0",) * 3, (b"\xff\xff",) * 3, (sections[0],) * 3):
        outcome(replace(CODED, **{part: other}))
    for length in range(0, len(sections[1]), 5):
        outcome(replace(CODED, **{part: (sections[0], sections[1][:length], sections[2])}))


@relaxed
@given(st.binary(max_size=120), st.binary(max_size=40), st.binary(max_size=80))
def test_any_bytes(clip: bytes, pose: bytes, body: bytes):
    outcome(replace(CODED, clip=clip))
    outcome(replace(CODED, poses=(pose,) * 3, bodies=(body,) * 3))


# Plans that are well formed and mad

steps = st.one_of(st.integers(-200, 200), st.sampled_from((-4096, 4096, 1000, -1000)))


@settings(relaxed, max_examples=60)
@given(data=st.data(), bits=st.integers(2, 40))
def test_any_plan(data: st.DataObject, bits: int):
    """Any steps, centres and priors of any size, with frames that were meant otherwise."""
    tracks = PLAN.n_tracks
    each = {"min_size": tracks, "max_size": tracks}
    plan = replace(
        PLAN,
        steps=tuple(data.draw(st.lists(steps, **each))),
        centres=tuple(data.draw(st.lists(st.integers(-(2**30), 2**30), **each))),
        track_priors=tuple(data.draw(st.lists(st.integers(-1000, 1000), **each))),
        level_priors=tuple(data.draw(st.lists(st.integers(-1000, 1000), min_size=11, max_size=11))),
    )
    outcome(replace(CODED, clip=plan.to_bytes()))
    outcome(replace(CODED, clip=replace(PLAN, bits=bits).to_bytes()))


@pytest.mark.parametrize("step", [500, 2000, 4096])
def test_places_and_turns_beyond_all_measure(step: int):
    shifts = [shift for j in PLAN.joints for shift in [True] * (3 if j.moves else 0) + [False] * j.turn.tracks]
    far = tuple(step if shift else here for shift, here in zip(shifts, PLAN.steps, strict=True))
    round_ = tuple(here if shift else step for shift, here in zip(shifts, PLAN.steps, strict=True))
    assert outcome(replace(CODED, clip=replace(PLAN, steps=far).to_bytes())) == "refused"
    assert outcome(replace(CODED, clip=replace(PLAN, steps=round_).to_bytes())) == "refused"


def test_a_plan_for_other_joints():
    outcomes = [outcome(CODED, moved(chain(joints), MOTION.n_frames)) for joints in (1, 2, 4, 6, 40)]
    assert outcomes.count("refused") >= 3, outcomes


# Few bytes that ask for much

MOST_MB, JOINTS = 40, 2000
BOMB = """
import resource, sys, time
sys.path[:0] = sys.argv[1:]
from test_lossy_hostile import bomb

read = bomb()
before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
told = [read(body) for body in (b"", b"x", bytes(16), bytes(range(256)))]
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(grown // 1024, time.process_time() - start, *told, sep="|")
"""


def bomb() -> Callable[[bytes], str]:
    """Reads a group of a clip of 1.5 million frames, with thousands of joints that all turn and move; how that ends."""
    skeleton = Skeleton(tuple(map(str, range(JOINTS))), np.full(JOINTS, -1), np.zeros((JOINTS, 3)))
    tracks = 6 * JOINTS
    joint = JointPlan(Turn.UPRIGHT, moves=True)
    plan = Plan(10, (joint,) * JOINTS, (0,) * tracks, (0,) * tracks, (-16,) * tracks)
    decoder = LossyDecoder(skeleton, 1e6, 1_500_000, plan.to_bytes())
    pose = plan.kernel(skeleton).write_pose(0, np.zeros(tracks, np.int32))

    def read(body: bytes) -> str:
        try:
            return f"{len(decoder.group(0, pose, body, pose)[1])} frames"
        except CodingError as error:
            return str(error)

    return read


def test_few_bytes_take_little_memory_and_time():
    here = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    done = subprocess.run([sys.executable, "-c", BOMB, *here], capture_output=True, text=True, check=True)
    grown_mb, seconds, *told = done.stdout.strip().split("|")
    assert set(told) == {"too few bytes for so many numbers"}
    assert int(grown_mb) < MOST_MB and float(seconds) < SECONDS, done.stdout


def test_frames_of_next_to_no_bytes_are_refused_before_memory_is_taken():
    """Joints that never move need no bytes: a million frames of them are a few kilobytes, and two gigabytes."""
    joints, n_frames = 40, 1_000_000
    still = Motion("still", chain(joints), 1e6, np.zeros((1, joints, 3)), np.tile((1.0, 0, 0, 0), (1, joints, 1)))
    coded = encode(still, 1.0)
    count = group_count(n_frames, still.fps)
    many = replace(coded, poses=coded.poses * count, bodies=(b"0",) * count)
    data = written(replace(clip_of(still, many), n_frames=n_frames), many, None, None)
    start = time.process_time()
    with kp.open_kps(data) as stored:
        with pytest.raises(kp.LimitError, match="1000000 frames x 40 joints need"):
            stored.motion()
        assert stored.frames(500_000, 500_010).n_frames == 10
    assert time.process_time() - start < SECONDS and len(data) < 40_000
