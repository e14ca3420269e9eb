"""Invalid frames with valid checksums: a clear error or a valid motion, in little time and memory."""

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
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz.mutate import damage

import keypose as kp
from keypose.limits import limit_hint
from keypose.model import Motion, Skeleton
from keypose.storage.codec import LossyDecoder, encode
from keypose.storage.container import build_file
from keypose.storage.groups import CodedFrames, CodingError, group_count
from keypose.storage.lossy.plan import JointPlan, Plan, RotationKind
from support.errors import raises
from support.headers import build_header
from support.lossy_shapes import animate, build_skeleton, chain

pytestmark = pytest.mark.one_python

relaxed = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
MOTION = animate(build_skeleton([-1, 0, 1, 1, -1]), 75, stretch=0.0)
CODED_FRAMES = encode(MOTION, 1.0)
PLAN = Plan.from_bytes(CODED_FRAMES.parameters, MOTION.n_joints)
SECONDS = 2.0  # for a file of a few hundred bytes: 100 times what it takes


def outcome(coded_frames: CodedFrames, motion: Motion = MOTION) -> str:
    """Return the outcome of reading a file with these frames: an error that names the file, or a motion."""
    start = time.process_time()
    try:
        decoded = kp.open_kps(build_file(build_header(motion, coded_frames), coded_frames, None, None)).motion()
    except kp.FormatError as error:
        assert error.code in ("damaged", "inconsistent")
        assert len(str(error)) < 400
        return "refused"
    finally:
        assert time.process_time() - start < SECONDS
    assert decoded.n_frames == motion.n_frames
    assert np.allclose(np.linalg.norm(decoded.rotations, axis=2), 1)
    return "read"


def test_valid_data_is_decoded():
    assert len(CODED_FRAMES.bodies) == 3 and outcome(CODED_FRAMES) == "read"


@pytest.mark.parametrize("part", ["parameters", "poses", "bodies"])
def test_damage_with_valid_checksums(part: str):
    rng = random.Random(part)
    others = [CODED_FRAMES.parameters, *CODED_FRAMES.poses, *CODED_FRAMES.bodies]
    result = Counter()
    for _ in range(250):
        if part == "parameters":
            result[outcome(replace(CODED_FRAMES, parameters=damage(CODED_FRAMES.parameters, others, rng)))] += 1
        else:
            sections = list(getattr(CODED_FRAMES, part))
            at = rng.randrange(len(sections))
            sections[at] = damage(sections[at], others, rng)
            result[outcome(replace(CODED_FRAMES, **{part: tuple(sections)}))] += 1
    assert min(result["refused"], result["read"]) > 3, result


@pytest.mark.parametrize("part", ["poses", "bodies"])
def test_swapped_missing_or_truncated_sections(part: str):
    sections = getattr(CODED_FRAMES, part)
    for other in (sections[::-1], (b"",) * 3, (b"\0",) * 3, (b"\xff\xff",) * 3, (sections[0],) * 3):
        outcome(replace(CODED_FRAMES, **{part: other}))
    for length in range(0, len(sections[1]), 5):
        outcome(replace(CODED_FRAMES, **{part: (sections[0], sections[1][:length], sections[2])}))


@relaxed
@given(st.binary(max_size=120), st.binary(max_size=40), st.binary(max_size=80))
def test_any_bytes(clip: bytes, pose: bytes, body: bytes):
    outcome(replace(CODED_FRAMES, parameters=clip))
    outcome(replace(CODED_FRAMES, poses=(pose,) * 3, bodies=(body,) * 3))


# Well-formed but extreme plans

steps = st.one_of(st.integers(-200, 200), st.sampled_from((-4096, 4096, 1000, -1000)))


@settings(relaxed, max_examples=60)
@given(data=st.data(), bits=st.integers(2, 40))
def test_any_plan(data: st.DataObject, bits: int):
    """Steps, centres and priors of any size, with frames of another plan."""
    tracks = PLAN.n_tracks
    value = {"min_size": tracks, "max_size": tracks}
    plan = replace(
        PLAN,
        steps=tuple(data.draw(st.lists(steps, **value))),
        centres=tuple(data.draw(st.lists(st.integers(-(2**30), 2**30), **value))),
        track_priors=tuple(data.draw(st.lists(st.integers(-1000, 1000), **value))),
        level_priors=tuple(data.draw(st.lists(st.integers(-1000, 1000), min_size=11, max_size=11))),
    )
    outcome(replace(CODED_FRAMES, parameters=plan.to_bytes()))
    outcome(replace(CODED_FRAMES, parameters=replace(PLAN, bits=bits).to_bytes()))


@pytest.mark.parametrize("step", [500, 2000, 4096])
def test_huge_positions_and_rotations(step: int):
    shifts = [shift for j in PLAN.joints for shift in [True] * (3 if j.moves else 0) + [False] * j.rotation.n_tracks]
    far = tuple(step if shift else here for shift, here in zip(shifts, PLAN.steps, strict=True))
    round_ = tuple(here if shift else step for shift, here in zip(shifts, PLAN.steps, strict=True))
    assert outcome(replace(CODED_FRAMES, parameters=replace(PLAN, steps=far).to_bytes())) == "refused"
    assert outcome(replace(CODED_FRAMES, parameters=replace(PLAN, steps=round_).to_bytes())) == "refused"


def test_a_plan_for_other_joints():
    outcomes = [outcome(CODED_FRAMES, animate(chain(joints), MOTION.n_frames)) for joints in (1, 2, 4, 6, 40)]
    assert outcomes.count("refused") >= 3, outcomes


# Few bytes with huge contents

MAX_MB, JOINTS = 40, 2000
BOMB = """
import resource, sys, time
sys.path[:0] = sys.argv[1:]
from test_lossy_hostile import bomb

read = bomb()
before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
outcomes = [read(body) for body in (b"", b"x", bytes(16), bytes(range(256)))]
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(grown // 1024, time.process_time() - start, *outcomes, sep="|")
"""


def bomb() -> Callable[[bytes], str]:
    """Read a group of a clip of 1.5 million frames with thousands of moving joints; print the outcome."""
    skeleton = Skeleton(tuple(map(str, range(JOINTS))), np.full(JOINTS, -1), np.zeros((JOINTS, 3)))
    tracks = 6 * JOINTS
    joint = JointPlan(RotationKind.UPRIGHT, moves=True)
    plan = Plan(10, (joint,) * JOINTS, (0,) * tracks, (0,) * tracks, (-16,) * tracks)
    decoder = LossyDecoder(skeleton, 1e6, 1_500_000, plan.to_bytes())
    pose = plan.build_kernel(skeleton).write_pose(0, np.zeros(tracks, np.int32))

    def read(body: bytes) -> str:
        try:
            return f"{len(decoder.decode_group(0, pose, body, pose)[1])} frames"
        except CodingError as error:
            return str(error)

    return read


def test_few_bytes_take_little_memory_and_time():
    here = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    process = subprocess.run([sys.executable, "-c", BOMB, *here], capture_output=True, text=True, check=True)
    grown_mb, seconds, *output = process.stdout.strip().split("|")
    assert set(output) == {"too few bytes for so many numbers"}
    assert int(grown_mb) < MAX_MB and float(seconds) < SECONDS, process.stdout


def test_too_many_frames_for_the_bytes_are_refused_before_allocation():
    """Still joints need no bytes: a million frames of them take a few kilobytes, and two gigabytes decoded."""
    joints, n_frames = 40, 1_000_000
    still = Motion("still", chain(joints), 1e6, np.zeros((1, joints, 3)), np.tile((1.0, 0, 0, 0), (1, joints, 1)))
    coded_frames = encode(still, 1.0)
    count = group_count(n_frames, still.fps)
    many = replace(coded_frames, poses=coded_frames.poses * count, bodies=(b"0",) * count)
    data = build_file(replace(build_header(still, many), n_frames=n_frames), many, None, None)
    start = time.process_time()
    with kp.open_kps(data) as stored:
        with raises(kp.LimitError, hint=limit_hint("expansion")):
            stored.motion()
        assert stored.frames(500_000, 500_010).n_frames == 10
    assert time.process_time() - start < SECONDS and len(data) < 40_000
