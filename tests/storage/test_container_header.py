"""The header: everything but the frames comes back to the last bit, in few bytes, and as docs/kps.md says."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from headers import assert_same, clip_of, clips, read_back, same_bits, written
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keypose as kp
import naive_storage
from keypose.storage.container import CHECK_BYTES, HEAD_CHECK_BYTES
from keypose.storage.groups import Coded, CodingError, group_bounds, group_count, group_frames
from keypose.storage.head import clips as clip_code
from keypose.storage.head import cmu, texts, words
from keypose.storage.head.coder import Decoder, Encoder

relaxed = settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))


@relaxed
@given(clips())
def test_everything_comes_back(made):
    clip, coded, keys, swings = made
    data = written(clip, coded, keys, swings)
    contents = read_back(data)
    assert_same(contents.clip, clip)
    assert contents.coding == coded.clip and contents.size == len(data)
    assert keys is None or data[slice(*contents.keys()[:2])] == keys
    assert swings is None or data[slice(*contents.swings()[:2])] == swings
    for g, (pose, body) in enumerate(zip(coded.poses, coded.bodies, strict=True)):
        assert data[slice(*contents.group(g))] == pose + body + b"".join(coded.poses[g + 1 : g + 2])


@settings(relaxed, max_examples=30)
@given(clips())
def test_another_reader_finds_the_same(made):
    """One that was written from docs/kps.md alone."""
    clip, coded, _, swings = made
    clip = replace(clip, keys_bytes=None)
    data = written(clip, coded, None, swings)
    found = naive_storage.read(data)
    bones, s = found["skeleton"], clip.skeleton
    assert [bones["names"], bones["orders"]] == [list(s.names), list(s.rotation_orders)]
    assert [bones["parents"], bones["ends"]] == [s.parents.tolist(), s.end_joints.tolist()]
    assert tuple(bones["channels"]) == s.channels
    same_bits(s.offsets, bones["offsets"], s.offsets.shape)
    same_bits(s.end_offsets, bones["end_offsets"], s.end_offsets.shape)
    for name in ("kind", "tolerance_mm", "fps", "n_frames", "name", "up", "metres_per_unit", "first_frame"):
        assert found[name] == getattr(clip, name), name
    assert tuple(found["notes"]) == clip.notes and (found["coding"], found["swings"]) == (coded.clip, swings)
    assert found["groups"] == list(zip(coded.poses, coded.bodies, strict=True))
    if clip.reference_pose is not None:
        assert np.array_equal(found["reference_pose"]["translations"], clip.reference_pose.translations)
        off = np.abs(np.array(found["reference_pose"]["rotations"]) - clip.reference_pose.rotations)
        assert off.max() < 1e-15  # sines may round otherwise there


def test_the_page_has_the_lists_of_the_code():
    assert naive_storage.SAMPLE.split() == texts.SAMPLE.split()
    assert naive_storage.NAMES.strip() == words.SKELETONS.strip()
    assert [naive_storage.GUESSES.split(), naive_storage.MINUS_ZEROS.split(), naive_storage.EITHER_ZEROS.split()] == [
        cmu.GUESSES.split(), cmu.MINUS_ZEROS.split(), cmu.EITHER_ZEROS.split(),
    ]  # fmt: skip
    assert (naive_storage.NOTE,) == clip_code.USUAL_NOTES
    assert len(words.words()) <= 1 << words.INDEX_BITS


def _groups(motion, rng) -> Coded:
    """Sections about as long as those of a second of a CMU clip at 5 mm."""
    count = group_count(motion.n_frames, motion.fps)
    poses, bodies = ([bytes(max(0, round(rng.gauss(m, d)))) for _ in range(count)] for m, d in ((60, 6), (400, 80)))
    return Coded(1, b"", tuple(poses), tuple(bodies))


@pytest.mark.data
def test_headers_of_cmu_clips_are_small(data_dir):
    """With checksums and the index: 125 bytes, and 5.5 for each second."""
    rng = random.Random(1)
    sizes, groups = [], []
    for path in sorted([*data_dir.glob("cmu30/*/*.bvh"), *data_dir.glob("cmu120/*.bvh")])[::4]:
        motion = kp.load(path)
        coded = _groups(motion, rng)
        clip = clip_of(motion, coded)
        contents = read_back(written(clip, coded, None, None))
        assert_same(contents.clip, clip)
        assert contents.start <= 125 + 5.5 * clip.n_groups, path
        sizes.append(contents.start)
        groups.append(clip.n_groups)
    assert np.mean(sizes) < 105 + 5.2 * np.mean(groups)


@pytest.mark.data
@pytest.mark.parametrize("pattern", ["formats/bvh/*.bvh", "asf-amc/0*.amc", "gltf/*.gl*", "c3d/*.c3d"])
@pytest.mark.filterwarnings("ignore::keypose.FormatWarning")
def test_headers_of_real_files_come_back(data_dir, pattern):
    for path in sorted(data_dir.glob(pattern)):
        motion = kp.load(path)
        coded = _groups(motion, random.Random(0))
        clip = clip_of(motion, coded)
        assert_same(read_back(written(clip, coded, None, None)).clip, clip)


def _cmu(**changes) -> kp.Skeleton:
    """The skeleton of CMU with just the numbers that are guessed."""
    wholes, numbers = [0] * len(cmu._places()), list(cmu._zeros())
    for guess in cmu._guesses():
        wholes[guess.number] = guess.value(wholes)
        numbers[guess.number] = wholes[guess.number] / 100_000
    for name, value in changes.pop("numbers", {}).items():
        numbers[cmu._places()[name]] = value
    return replace(cmu.skeleton(tuple(numbers)), **changes)


def _size(skeleton: kp.Skeleton) -> int:
    rotations = np.tile((1.0, 0, 0, 0), (1, skeleton.n_joints, 1))
    motion = kp.Motion("m", skeleton, 30, skeleton.offsets[None], rotations)
    clip = clip_of(motion, Coded(1, b"", (b"",), (b"",)))
    data = written(clip, Coded(1, b"", (b"",), (b"",)), None, None)
    assert_same(read_back(data).clip, clip)
    return len(data)


def test_a_skeleton_that_is_nearly_usual_comes_back_too():
    usual = _cmu()
    names = list(usual.names)
    names[5] = "Toe"
    small = _size(usual)
    for unlike in (
        _cmu(numbers={"Hips.x": 1.0}),
        _cmu(numbers={"Hips.x": -0.0}),
        _cmu(numbers={"LeftHand.z": 0.5}),
        _cmu(numbers={"LeftLeg.x": 1 / 3}),
        _cmu(numbers={"LeftLeg.x": 1e9}),
        _cmu(names=tuple(names)),
        _cmu(channels=(usual.channels[0],) * 31),
        _cmu(rotation_orders=("ZXY",) * 31, channels=()),
        _cmu(end_joints=usual.end_joints[::-1]),
    ):
        assert _size(unlike) > small
    assert _size(_cmu(numbers={"LeftLeg.x": 5000.0, "Head.y": -0.0, "RightHand.z": -0.0})) <= small + 30


def test_many_joints_and_odd_ones():
    n = 170
    rng = np.random.default_rng(0)
    some = np.round(rng.normal(size=(n, 3)), 4)
    some[n // 2 :] = some[: n // 2] * (-1, 1, 1)  # the other side
    names = tuple(f"bone_{j}" for j in range(n))
    assert _size(kp.Skeleton(names, np.arange(n) - 1, some)) < 6 * n  # the numbers of one side, the names' digits
    n = 2000
    markers = kp.Skeleton(tuple(f"M{j}" for j in range(n)), np.full(n, -1), np.zeros((n, 3)))
    assert _size(markers) < 5 * n  # names are deflated together
    assert _size(kp.Skeleton(("",), np.array([-1]), np.zeros((1, 3)))) < 25


def test_names_that_follow_each_other_cost_nothing():
    listed = words.words()[110:140]
    parents = [j - word.back if word.back and word.back <= j else j - 1 for j, word in enumerate(listed)]
    usual = kp.Skeleton(tuple(word.name for word in listed), np.array(parents), np.zeros((30, 3)))
    spelled = replace(usual, names=tuple(name[::-1] for name in usual.names))
    assert _size(usual) < 45 and _size(spelled) > 150


# The coder by itself

QUESTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("bit"), st.sampled_from("ab"), st.integers(0, 1)),
        st.tuples(st.just("flag"), st.sampled_from("cd"), st.booleans()),
        st.tuples(st.just("plain"), st.just(33), st.integers(0, 2**33 - 1)),
        st.tuples(st.just("whole"), st.just("w"), st.integers(0, 2**32 - 2)),
        st.tuples(st.just("signed"), st.just("s"), st.integers(-(2**20), 2**20)),
    ),
    max_size=60,
)


@relaxed
@given(QUESTIONS, st.binary(max_size=6))
def test_answers_come_back_whatever_follows_them(questions, tail):
    encoder = Encoder()
    for kind, context, value in questions:
        assert getattr(encoder, kind)(context, value) == value
    decoder = Decoder(encoder.finish() + tail)
    assert [getattr(decoder, kind)(context, None) for kind, context, _ in questions] == [q[2] for q in questions]


def test_what_comes_again_costs_little():
    encoder = Encoder()
    for _ in range(4000):
        encoder.bit("same", 1)
    assert len(encoder.finish()) < 12
    even = Encoder()
    for k in range(4000):
        even.bit("even", k * 7919 % 2)
    assert 480 < len(even.finish()) < 540


def test_a_decoder_ends():
    decoder = Decoder(b"")
    with pytest.raises(CodingError, match="asks for more than it holds"):
        while True:
            decoder.plain(1, None)
    with pytest.raises(TypeError):
        Encoder().bit("a", None)
    with pytest.raises(TypeError):
        Encoder().apart(1, None)


# Groups


@relaxed
@given(st.integers(1, 5000), st.floats(1e-3, 1e3))
def test_groups_share_all_frames(n_frames, fps):
    bounds, size = group_bounds(n_frames, fps), group_frames(fps)
    assert bounds == naive_storage.bounds(n_frames, fps) and len(bounds) == group_count(n_frames, fps)
    assert bounds[0][0] == 0 and bounds[-1][1] == n_frames
    assert all(before[1] == after[0] for before, after in pairwise(bounds))
    assert all(stop - start == size for start, stop in bounds[:-1])
    assert len(bounds) == 1 or size / 2 <= bounds[-1][1] - bounds[-1][0] <= 1.5 * size


def test_the_json_of_keys_is_that_of_the_format(tmp_path):
    keyed = kp.unbake(kp.demo_motion(fps=30)[:40], keys=4)
    kp.save(keyed, tmp_path / "x.kps")
    kp.save(keyed, tmp_path / "x.keys.json")
    found = naive_storage.read((tmp_path / "x.kps").read_bytes())
    assert json.loads(found["keys"]) == json.loads((tmp_path / "x.keys.json").read_bytes())
    assert HEAD_CHECK_BYTES == 4 and CHECK_BYTES == 3
