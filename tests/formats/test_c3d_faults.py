"""Contradictory, truncated and hostile C3D files: repaired with a warning, or a KeyposeError."""

import random
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

from keypose.errors import FormatError, FormatWarning, KeyposeError, LimitError
from keypose.formats import Limits
from keypose.formats.base import Source
from keypose.formats.c3d import FORMAT
from keypose.limits import limit_hint
from keypose.options import LoadOptions
from support.c3d_writer import C3D, DEC, INTEL, MIPS, SCALE, read, rotating_segments, walk
from support.errors import Pattern, raises, warns


def test_thousands_of_equal_labels_are_read_quickly():
    few = {f"POINT:LABELS{i or ''}": ["A"] * 250 for i in (0, *range(2, 13))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        assert read(C3D(walk(1, 3000), parameters=few)).skeleton.names[-1] == "A.2999"


def test_data_cut_short_are_read_as_far_as_they_go():
    data = C3D(walk()).data()
    start = data.index(np.float32(walk()[0]).tobytes()[:8])
    with warns(FormatWarning, code="frame_count", value=20):
        m = read(data[: start + 7 * 48 + 20])
    np.testing.assert_allclose(m.world_positions(), walk()[:7])
    with raises(FormatError, code="truncated", byte=1024, expected="48 for the first frame"):
        read(data[: start + 40])
    for length in (2, 300, 511, 515, 600, 1023, 1030):
        with pytest.raises(FormatError), warnings.catch_warnings():
            warnings.simplefilter("ignore", FormatWarning)
            read(data[:length])


@pytest.mark.parametrize(("parameters", "header", "fields"), [
    ({"POINT:USED": 2}, {}, {"code": "header_mismatch", "problem": Pattern("^POINT:USED says .*; 3 are read$"), "value": [2, 3]}),
    ({}, {2: b"\x02\0"}, {"code": "header_mismatch", "problem": Pattern("^POINT:USED says .*; 3 are read$"), "value": [3, 2]}),
    ({"POINT:DATA_START": 2}, {}, {"code": "header_mismatch", "problem": Pattern("^POINT:DATA_START says .*; 3 is used$"), "value": [2, 3]}),
    ({}, {16: b"\x02\0"}, {"code": "header_mismatch", "problem": Pattern("^POINT:DATA_START says .*; 3 is used$"), "value": [3, 2]}),
    ({"POINT:SCALE": 0.05}, {}, {"code": "header_mismatch", "problem": Pattern("scale is .*; -0.05 is used$"), "value": [pytest.approx(-0.05), pytest.approx(0.05)]}),
    ({}, {12: struct.pack("<f", 0.05)}, {"code": "header_mismatch", "problem": Pattern("scale is .*; -0.05 is used$"), "value": [pytest.approx(0.05), pytest.approx(-0.05)]}),
    ({"POINT:FRAMES": 60001}, {}, {"code": "frame_count", "problem": Pattern("400 match the size of the file and are read$"), "value": 60001}),
    ({}, {4: b"\x63\0"}, {"code": "header_mismatch", "problem": Pattern("analog numbers a frame; 0 fit and are skipped$"), "value": 99}),
])  # fmt: skip
def test_of_two_values_the_one_that_fits_the_file_is_used(parameters, header, fields):
    with warns(FormatWarning, **fields):
        m = read(C3D(walk(400), parameters=parameters, header=header))
    np.testing.assert_allclose(m.world_positions(), walk(400))


def test_of_two_scales_the_header_s_is_used():
    with warns(FormatWarning, code="header_mismatch", value=[pytest.approx(0.05), pytest.approx(0.02)]):
        m = read(C3D(walk(), integers=True, parameters={"POINT:SCALE": 0.02}))
    np.testing.assert_allclose(m.world_positions(), walk(), atol=SCALE / 2 + 1e-9)


def test_a_file_without_parameters_is_read_by_its_header():
    data = bytearray(C3D(walk()).data())
    data[516:1024] = bytes(508)
    m = read(bytes(data))
    np.testing.assert_allclose(m.world_positions(), walk())
    assert m.metres_per_unit is None and m.skeleton.names[0] == "marker_001"


def test_parameters_are_read_up_to_the_damage():
    broken = {"EVENT:LABELS": struct.pack("bBBB", -1, 2, 250, 250) + b"x", "POINT:DESCRIPTIONS": ["lost"]}
    with warns(FormatWarning, code="damaged_parameters") as records:
        m = read(C3D(walk(), parameters=broken))
    assert "(LABELS with 62500 bytes of kind -1 in 8)" in records[0].message.problem  # the golden message
    assert records[0].message.value == 707
    assert m.skeleton.names == ("L0", "L1", "L2")


@pytest.mark.parametrize(("header", "error", "fields"), [
    ({0: b"\x01"}, FormatError, {"code": "bad_number", "byte": 0}),
    ({0: b"\xff"}, FormatError, {"code": "bad_number", "byte": 0}),
    ({1: b"\x51"}, FormatError, {"code": "bad_number", "byte": 0}),
    ({515: b"\x57"}, FormatError, {"code": "bad_number", "byte": 515, "expected": "one of 84 (Intel), 85 (DEC), 86 (MIPS)"}),
    ({2: b"\xff\xff", 516: bytes(8)}, FormatError, {"code": "truncated", "byte": 1024, "expected": "1048560 for the first frame"}),
    ({2: bytes(2), 516: bytes(8)}, FormatError, {"code": "missing_data", "expected": "one or the other"}),
    ({6: b"\x09\0\x01\0", 516: bytes(8)}, FormatError, {"code": "bad_number", "byte": 6, "expected": "at least one"}),
    ({16: b"\0\0", 516: bytes(8)}, FormatError, {"code": "bad_number", "byte": 16, "expected": "2 to 4"}),
    ({16: b"\xff\xff", 516: bytes(8)}, FormatError, {"code": "bad_number", "byte": 16, "expected": "2 to 4"}),
    ({12: bytes(4), 516: bytes(8)}, FormatError, {"code": "bad_number", "byte": 12, "expected": "above 0 (integers) or below 0 (floats)"}),
    ({12: b"\0\0\xc0\x7f", 516: bytes(8)}, FormatError, {"code": "bad_number", "byte": 12, "expected": "above 0 (integers) or below 0 (floats)"}),
])  # fmt: skip
def test_bad_headers_end_in_an_error_that_names_the_byte(header, error, fields):
    data = bytearray(C3D(walk()).data())
    for at, replacement in header.items():
        data[at : at + len(replacement)] = replacement
    with raises(error, **fields):
        read(bytes(data))


def test_hostile_counts_stay_within_the_limits():
    for stated, value in (
        ({"POINT:LONG_FRAMES": 4e9}, 4_000_000_000),
        ({"POINT:LONG_FRAMES": 3e38, "POINT:FRAMES": 65535}, 65535),
    ):
        data = C3D(walk(32, 4), parameters=stated, header={8: b"\xff\xff"}).data()  # 32 x 64 bytes: no padding
        with warns(FormatWarning, code="frame_count", value=value):
            assert read(data).n_frames == 32
    many = C3D(walk(1, 10), labels=()).data()
    with raises(LimitError, value=10, hint=limit_hint("joints")):
        FORMAT.read(Source(Path("clip.c3d"), many, Limits(joints=9)), LoadOptions())
    zero_width = struct.pack("b8B", -1, 7, 0, 255, 255, 255, 255, 255, 255)
    assert read(C3D(walk(), parameters={"POINT:LABELS": zero_width})).n_joints == 3


def test_segments_that_are_no_rotations_are_an_error():
    values = rotating_segments(9, 2)[0]
    values[4, 1, :3] *= 1.5
    with raises(FormatError, code="bad_number", expected="an orthonormal matrix"):
        read(C3D(np.zeros((9, 0, 3)), segments=values))
    with raises(FormatError, code="bad_number", expected="2 to 2"):
        read(C3D(np.zeros((9, 0, 3)), segments=rotating_segments(9, 2)[0], parameters={"ROTATION:DATA_START": 999}))


def test_no_change_of_bytes_ends_in_anything_but_a_keypose_error():
    files = [C3D(walk(), [(3, 1)], p, i, analog_words=2).data() for p in (INTEL, DEC, MIPS) for i in (False, True)]
    files.append(C3D(np.zeros((9, 0, 3)), segments=rotating_segments(9, 2)[0]).data())
    rng = random.Random(11)
    ended = {"read": 0, "refused": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        for _ in range(1500):
            data = bytearray(rng.choice(files))
            for _ in range(rng.choice((1, 2, 8))):
                at = rng.randrange(rng.choice((24, 1024, len(data))))
                data[at] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
            try:
                m = read(bytes(data[: rng.choice((len(data), rng.randrange(len(data))))]))
                ended["read"] += int(m.n_frames > 0)
            except KeyposeError:
                ended["refused"] += 1
    assert min(ended.values()) > 100
