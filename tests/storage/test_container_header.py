"""The header: everything but the frames is restored exactly, in few bytes, as specified in docs/kps.md."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.storage.container import CHECKSUM_BYTES, HEADER_CHECKSUM_BYTES
from keypose.storage.groups import CodedFrames, CodingError, group_bounds, group_count, group_frames
from keypose.storage.header import clip_header as clip_code
from keypose.storage.header import cmu
from keypose.storage.header import names as header_names
from keypose.storage.header.coder import Decoder, Encoder
from keypose.storage.header.names import SAMPLE
from reference import naive_storage
from support.headers import assert_same_bits, assert_same_header, build_file, build_header, clip_headers, read_back

relaxed = settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))


@relaxed
@given(clip_headers())
def test_round_trip(header):
    clip, coded_frames, keys, swings = header
    data = build_file(clip, coded_frames, keys, swings)
    contents = read_back(data)
    assert_same_header(contents.header, clip)
    assert contents.coding_parameters == coded_frames.parameters and contents.n_bytes == len(data)
    assert keys is None or data[slice(*contents.keys_range()[:2])] == keys
    assert swings is None or data[slice(*contents.swings_range()[:2])] == swings
    for g, (pose, body) in enumerate(zip(coded_frames.poses, coded_frames.bodies, strict=True)):
        assert data[slice(*contents.group_range(g))] == pose + body + b"".join(coded_frames.poses[g + 1 : g + 2])


@settings(relaxed, max_examples=30)
@given(clip_headers())
def test_reference_reader_agrees(header):
    """The reference reader is written from docs/kps.md alone."""
    clip, coded_frames, _, swings = header
    clip = replace(clip, keys_bytes=None)
    data = build_file(clip, coded_frames, None, swings)
    result = naive_storage.read_file(data)
    bones, s = result["skeleton"], clip.skeleton
    assert [bones["names"], bones["orders"]] == [list(s.names), list(s.rotation_orders)]
    assert [bones["parents"], bones["ends"]] == [s.parents.tolist(), s.end_joints.tolist()]
    assert tuple(bones["channels"]) == s.channels
    assert_same_bits(s.offsets, bones["offsets"], s.offsets.shape)
    assert_same_bits(s.end_offsets, bones["end_offsets"], s.end_offsets.shape)
    for name in ("kind", "tolerance_mm", "fps", "n_frames", "name", "up", "metres_per_unit", "first_frame"):
        assert result[name] == getattr(clip, name), name
    assert tuple(result["notes"]) == clip.notes and (result["coding"], result["swings"]) == (
        coded_frames.parameters,
        swings,
    )
    assert result["groups"] == list(zip(coded_frames.poses, coded_frames.bodies, strict=True))
    if clip.reference_pose is not None:
        assert np.array_equal(result["reference_pose"]["translations"], clip.reference_pose.translations)
        off = np.abs(np.array(result["reference_pose"]["rotations"]) - clip.reference_pose.rotations)
        assert off.max() < 1e-15  # sines may round differently


def test_the_page_has_the_lists_of_the_code():
    assert naive_storage.SAMPLE.split() == SAMPLE.split()
    assert naive_storage.NAMES.strip() == header_names.SKELETONS.strip()
    assert [naive_storage.GUESSES.split(), naive_storage.MINUS_ZEROS.split(), naive_storage.EITHER_ZEROS.split()] == [
        cmu.GUESSES.split(), cmu.MINUS_ZEROS.split(), cmu.EITHER_ZEROS.split(),
    ]  # fmt: skip
    assert (naive_storage.NOTE,) == clip_code.COMMON_NOTES
    assert len(header_names.common_names()) <= 1 << header_names.INDEX_BITS


def _groups(motion, rng) -> CodedFrames:
    """Return sections of about the size of a second of a CMU clip at 5 mm."""
    count = group_count(motion.n_frames, motion.fps)
    poses, bodies = ([bytes(max(0, round(rng.gauss(m, d)))) for _ in range(count)] for m, d in ((60, 6), (400, 80)))
    return CodedFrames(1, b"", tuple(poses), tuple(bodies))


@pytest.mark.data
def test_headers_of_cmu_clips_are_small(data_dir):
    """At most 125 bytes with checksums and index, and 5.5 for each second."""
    rng = random.Random(1)
    sizes, groups = [], []
    for path in sorted([*data_dir.glob("cmu30/*/*.bvh"), *data_dir.glob("cmu120/*.bvh")])[::4]:
        motion = kp.load(path)
        coded_frames = _groups(motion, rng)
        clip = build_header(motion, coded_frames)
        contents = read_back(build_file(clip, coded_frames, None, None))
        assert_same_header(contents.header, clip)
        assert contents.start_byte <= 125 + 5.5 * clip.n_groups, path
        sizes.append(contents.start_byte)
        groups.append(clip.n_groups)
    assert np.mean(sizes) < 105 + 5.2 * np.mean(groups)


@pytest.mark.data
@pytest.mark.parametrize("pattern", ["formats/bvh/*.bvh", "asf-amc/0*.amc", "gltf/*.gl*", "c3d/*.c3d"])
@pytest.mark.filterwarnings("ignore::keypose.FormatWarning")
def test_headers_of_real_files_come_back(data_dir, pattern):
    for path in sorted(data_dir.glob(pattern)):
        motion = kp.load(path)
        coded_frames = _groups(motion, random.Random(0))
        clip = build_header(motion, coded_frames)
        assert_same_header(read_back(build_file(clip, coded_frames, None, None)).header, clip)


def _cmu(**changes) -> kp.Skeleton:
    """Return the CMU skeleton with exactly the predicted numbers."""
    wholes, numbers = [0] * len(cmu._number_indices()), list(cmu._zeros())
    for guess in cmu._guesses():
        wholes[guess.number_index] = guess.predict(wholes)
        numbers[guess.number_index] = wholes[guess.number_index] / 100_000
    for name, value in changes.pop("numbers", {}).items():
        numbers[cmu._number_indices()[name]] = value
    return replace(cmu.build_skeleton(tuple(numbers)), **changes)


def _size(skeleton: kp.Skeleton) -> int:
    rotations = np.tile((1.0, 0, 0, 0), (1, skeleton.n_joints, 1))
    motion = kp.Motion("m", skeleton, 30, skeleton.offsets[None], rotations)
    clip = build_header(motion, CodedFrames(1, b"", (b"",), (b"",)))
    data = build_file(clip, CodedFrames(1, b"", (b"",), (b"",)), None, None)
    assert_same_header(read_back(data).header, clip)
    return len(data)


def test_skeletons_similar_to_the_cmu_template():
    common = _cmu()
    names = list(common.names)
    names[5] = "Toe"
    small = _size(common)
    for unlike in (
        _cmu(numbers={"Hips.x": 1.0}),
        _cmu(numbers={"Hips.x": -0.0}),
        _cmu(numbers={"LeftHand.z": 0.5}),
        _cmu(numbers={"LeftLeg.x": 1 / 3}),
        _cmu(numbers={"LeftLeg.x": 1e9}),
        _cmu(names=tuple(names)),
        _cmu(channels=(common.channels[0],) * 31),
        _cmu(rotation_orders=("ZXY",) * 31, channels=()),
        _cmu(end_joints=common.end_joints[::-1]),
    ):
        assert _size(unlike) > small
    assert _size(_cmu(numbers={"LeftLeg.x": 5000.0, "Head.y": -0.0, "RightHand.z": -0.0})) <= small + 30


def test_many_and_unusual_joints():
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


def test_consecutive_common_names_are_cheap():
    common = header_names.common_names()[110:140]
    parents = [
        j - word.parent_distance if word.parent_distance and word.parent_distance <= j else j - 1
        for j, word in enumerate(common)
    ]
    common_size = kp.Skeleton(tuple(word.name for word in common), np.array(parents), np.zeros((30, 3)))
    as_text = replace(common_size, names=tuple(name[::-1] for name in common_size.names))
    assert _size(common_size) < 45 and _size(as_text) > 150


# The coder

CODER_CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("code_bit"), st.sampled_from("ab"), st.integers(0, 1)),
        st.tuples(st.just("code_flag"), st.sampled_from("cd"), st.booleans()),
        st.tuples(st.just("code_plain"), st.just(33), st.integers(0, 2**33 - 1)),
        st.tuples(st.just("code_natural"), st.just("w"), st.integers(0, 2**32 - 2)),
        st.tuples(st.just("code_signed"), st.just("s"), st.integers(-(2**20), 2**20)),
    ),
    max_size=60,
)


@relaxed
@given(CODER_CALLS, st.binary(max_size=6))
def test_coder_round_trip_with_any_following_bytes(calls, tail):
    encoder = Encoder()
    for kind, context, value in calls:
        assert getattr(encoder, kind)(context, value) == value
    decoder = Decoder(encoder.finish() + tail)
    assert [getattr(decoder, kind)(context, None) for kind, context, _ in calls] == [call[2] for call in calls]


def test_repeated_values_are_cheap():
    encoder = Encoder()
    for _ in range(4000):
        encoder.code_bit("same", 1)
    assert len(encoder.finish()) < 12
    even = Encoder()
    for k in range(4000):
        even.code_bit("even", k * 7919 % 2)
    assert 480 < len(even.finish()) < 540


def test_a_decoder_ends():
    decoder = Decoder(b"")
    with pytest.raises(CodingError, match="asks for more than it holds"):
        while True:
            decoder.code_plain(1, None)
    with pytest.raises(TypeError):
        Encoder().code_bit("a", None)
    with pytest.raises(TypeError):
        Encoder().code_text_bytes(1, None)


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


def test_keys_block_is_the_json_of_the_keys_format(tmp_path):
    """But for the names of three members."""
    keyed = kp.unbake(kp.demo_motion(fps=30)[:40], keys=4)
    kp.save(keyed, tmp_path / "x.kps")
    kp.save(keyed, tmp_path / "x.keys.json")
    result = naive_storage.read_file((tmp_path / "x.kps").read_bytes())
    text = result["keys"]
    for name, new_name in ((b"arriving", b"in_tangents"), (b"leaving", b"out_tangents"), (b"turns", b"rotations")):
        text = text.replace(b'"%b":' % name, b'"%b":' % new_name)  # version 1 has other names of three fields
    document = json.loads((tmp_path / "x.keys.json").read_bytes())
    assert document.pop("tolerance_mm") is None  # version 1 has it among the notes
    assert json.loads(text) == document
    assert HEADER_CHECKSUM_BYTES == 4 and CHECKSUM_BYTES == 3
