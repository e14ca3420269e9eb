"""C3D: three processors, two encodings, gaps, labels, units, segments; compared with ezc3d."""

import numpy as np
import pytest

from keypose.errors import FormatError, FormatWarning, OptionError
from keypose.formats import load
from keypose.formats.c3d import FORMAT
from support.c3d_writer import C3D, DEC, INTEL, MIPS, SCALE, read, rotating_segments, walk
from support.errors import Pattern, raises, warns


@pytest.mark.parametrize("processor", [INTEL, DEC, MIPS])
@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("analog_words", [0, 6])
def test_every_processor_and_encoding_gives_the_same_motion(processor, integers, analog_words):
    positions = walk()
    m = read(C3D(positions, processor=processor, integers=integers, analog_words=analog_words, first_frame=705))
    np.testing.assert_allclose(m.world_positions(), positions, atol=SCALE / 2 + 1e-9 if integers else 1e-9)
    assert m.skeleton.names == ("L0", "L1", "L2") and m.skeleton.parents.tolist() == [-1, -1, -1]
    assert not m.skeleton.offsets.any() and set(m.skeleton.channels) == {("Xposition", "Yposition", "Zposition")}
    assert (m.rotations == (1, 0, 0, 0)).all()
    assert (m.fps, m.first_frame, m.up, m.metres_per_unit, m.name) == (100.0, 705, "Z", 0.001, "clip")
    assert m.notes == ()


def test_ezc3d_reads_the_same_from_test_files(tmp_path):
    ezc3d = pytest.importorskip("ezc3d")
    for integers in (False, True):
        path = tmp_path / "clip.c3d"
        path.write_bytes(C3D(walk(), integers=integers).data())
        theirs = ezc3d.c3d(str(path))["data"]["points"][:3].transpose(2, 1, 0)
        np.testing.assert_allclose(load(path).world_positions(), theirs, atol=1e-4)


def test_files_of_other_writers(tmp_path):
    ezc3d = pytest.importorskip("ezc3d")
    positions = walk(7, 2)
    new = ezc3d.c3d()
    new["parameters"]["POINT"]["RATE"]["value"] = [120.0]
    new["parameters"]["POINT"]["LABELS"]["value"] = ("HEAD", "TOE ")
    new["data"]["points"] = np.concatenate((positions.transpose(2, 1, 0), np.ones((1, 2, 7))))
    new.write(str(tmp_path / "new.c3d"))
    m = load(tmp_path / "new.c3d")
    np.testing.assert_allclose(m.world_positions(), positions, atol=1e-4)
    assert m.skeleton.names == ("HEAD", "TOE") and m.fps == 120.0


@pytest.mark.parametrize("integers", [False, True])
def test_gaps_are_filled_evenly_inside_and_with_the_nearest_at_the_ends(integers):
    positions = np.repeat(np.arange(8.0)[:, None, None] * 10, 6, axis=1).reshape(8, 2, 3) ** 1.5
    lost = [(0, 1), (3, 1), (4, 1), (6, 1), (7, 1)]
    with warns(FormatWarning, code="gaps_filled", value=5):
        m = read(C3D(positions, lost, integers=integers))
    expected = positions.copy()
    expected[0, 1] = positions[1, 1]
    expected[3, 1], expected[4, 1] = (positions[[2, 5], 1].T @ w for w in ((2 / 3, 1 / 3), (1 / 3, 2 / 3)))
    expected[6:, 1] = positions[5, 1]
    np.testing.assert_allclose(m.world_positions(), expected, atol=SCALE if integers else 1e-4)
    assert m.notes == ("gaps filled: 5 of 16 positions, of 1 of 2 markers, in 5 of 8 frames",)  # the golden message


def test_gaps_are_refused_on_demand():
    with raises(
        FormatError,
        code="missing_data",
        expected="no gaps",
        problem=Pattern(r"^frame 2: marker L1 was not seen \(in all 3 of 60 "),
        hint=Pattern("gaps='fill'"),
    ):
        read(C3D(walk(), [(2, 1), (9, 0), (9, 1)]), gaps="refuse")
    assert read(C3D(walk()), gaps="refuse").n_frames == 20


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_gaps(value):
    positions = walk()
    positions[4, 0, 2] = value
    with warns(
        FormatWarning,
        code="gaps_filled",
        value=1,
        problem=Pattern("1 of 60 positions, of 1 of 3 markers, in 1 of 20 frames$"),
    ):
        m = read(C3D(positions))
    np.testing.assert_allclose(m.world_positions()[4, 0], positions[[3, 5], 0].mean(axis=0), atol=1e-4)


def test_all_zero_is_a_gap_unless_it_is_so_in_every_frame():
    positions = walk()
    positions[:, 1] = 0
    data = bytearray(C3D(positions).data())
    start = len(data) - (20 * 3 * 16 + -(20 * 3 * 16) % 512)
    for frame in range(20):
        data[start + frame * 48 + 16 : start + frame * 48 + 32] = bytes(16)
    data[start + 7 * 48 : start + 7 * 48 + 16] = bytes(16)
    with warns(
        FormatWarning,
        code="gaps_filled",
        value=1,
        problem=Pattern("1 of 60 positions, of 1 of 3 markers, in 1 of 20 frames$"),
    ):
        m = read(bytes(data))
    assert not m.world_positions()[:, 1].any()
    np.testing.assert_allclose(m.world_positions()[7, 0], positions[[6, 8], 0].mean(axis=0), atol=1e-4)


def test_a_marker_that_is_never_visible_is_dropped():
    with warns(FormatWarning, code="never_visible", value=1, problem=Pattern("^1 of 3 markers .*: L1$")):
        m = read(C3D(walk(), [(t, 1) for t in range(20)]))
    assert m.skeleton.names == ("L0", "L2")
    np.testing.assert_allclose(m.world_positions(), walk()[:, [0, 2]])
    with raises(FormatError, code="missing_data", problem="no marker is seen in any frame", expected="at least one"):
        read(C3D(walk(), [(t, p) for t in range(20) for p in range(3)]))


def test_labels_missing_doubled_and_continued():
    assert read(C3D(walk(), labels=())).skeleton.names == ("marker_001", "marker_002", "marker_003")
    assert read(C3D(walk(), labels=("A", "  "))).skeleton.names == ("A", "marker_002", "marker_003")
    more = {"POINT:LABELS": ["A "], "POINT:LABELS2": ["Joe:B", "C\0x"]}
    assert read(C3D(walk(), parameters=more)).skeleton.names == ("A", "Joe:B", "C")
    with warns(FormatWarning, code="repeated_name", value="A.001"):
        assert read(C3D(walk(), labels=("A", "B", "A"))).skeleton.names == ("A", "B", "A.001")


def test_angles_and_forces_are_no_markers():
    m = read(
        C3D(
            walk(),
            labels=("A", "HipAngles", "GRF"),
            parameters={"POINT:ANGLES": ["HipAngles"], "POINT:FORCES": ["GRF"]},
        )
    )
    assert m.skeleton.names == ("A",) and "2 of 3 points are no positions" in m.notes[0]


@pytest.mark.parametrize(
    ("unit", "metres"),
    [("mm", 1e-3), ("cm ", 1e-2), ("M", 1.0), ("in", 0.0254), ("ft", 0.3048), ("pt", None), (None, None)],
)
def test_units(unit, metres):
    assert read(C3D(walk(), parameters={"POINT:UNITS": unit})).metres_per_unit == metres


@pytest.mark.parametrize(("screen", "up"), [("+Y", "Y"), ("+Z", "Z"), ("-Z", "Z"), ("X", "X"), ("?", "Z"), (None, "Z")])
def test_up_axis(screen, up):
    assert read(C3D(walk(), parameters={"POINT:Y_SCREEN": screen})).up == up


def test_rate_and_first_frame_come_from_wherever_they_are_stated():
    assert read(C3D(walk(), parameters={"POINT:RATE": None})).fps == 100.0
    with warns(FormatWarning, code="header_mismatch", value=100, problem=Pattern("^POINT:RATE is 60, .*; 60 is used$")):
        assert read(C3D(walk(), parameters={"POINT:RATE": 60.0})).fps == 60.0
    with warns(FormatWarning, code="no_frame_rate", problem=Pattern("100 fps is assumed$")):
        read(C3D(walk(), parameters={"POINT:RATE": None}, header={20: bytes(4)}))
    trial = {"TRIAL:ACTUAL_START_FIELD": (5, 2), "TRIAL:ACTUAL_END_FIELD": (24, 2)}
    assert read(C3D(walk(), parameters=trial)).first_frame == 2 * 65536 + 5


@pytest.mark.parametrize("parameters", [
    {"POINT:LONG_FRAMES": 70000.0},
    {"POINT:LONG_FRAMES": 70000.0, "POINT:FRAMES": 70000 - 65536},
    {"POINT:FRAMES": 70000.0},
    {"TRIAL:ACTUAL_START_FIELD": (1, 0), "TRIAL:ACTUAL_END_FIELD": (70000 - 65536, 1)},
])  # fmt: skip
def test_more_frames_than_sixteen_bits_can_count(parameters):
    positions = walk(70000, 1)
    m = read(C3D(positions, parameters=parameters))
    assert m.n_frames == 70000
    np.testing.assert_allclose(m.world_positions()[-1], positions[-1])


@pytest.mark.parametrize("processor", [INTEL, DEC, MIPS])
def test_segments_become_rotating_roots(processor):
    values, quaternions, positions = rotating_segments(9, 2)
    values[3:5, 1] = np.nan if processor != DEC else values[3:5, 1]
    values[3:5, 1, 16] = -1
    labels = {"ROTATION:LABELS": ["pelvis_4X4", "head_4X4"]}
    with warns(
        FormatWarning,
        code="gaps_filled",
        value=2,
        problem=Pattern("2 of 18 positions, of 1 of 2 segments, in 2 of 9 frames$"),
    ):
        m = read(C3D(np.zeros((9, 0, 3)), processor=processor, segments=values, parameters=labels))
    assert m.skeleton.names == ("pelvis", "head") and m.skeleton.channels[0][3:] == (
        "Zrotation",
        "Xrotation",
        "Yrotation",
    )
    np.testing.assert_allclose(np.abs(np.sum(m.rotations * quaternions, axis=-1)), 1.0, atol=1e-6)  # also where filled
    np.testing.assert_allclose(
        np.delete(m.world_positions(), [3, 4], axis=0), np.delete(positions, [3, 4], axis=0), atol=1e-4
    )


def test_points_and_segments_in_one_file_are_chosen_by_name():
    file = C3D(walk(9), segments=rotating_segments(9, 2)[0])
    assert read(file).n_joints == 3 and "animation 'rotations'" in read(file).notes[0]
    assert read(file, animation="rotations").skeleton.names == ("segment_001", "segment_002")
    assert read(file, animation=0).n_joints == 3
    for wrong in ("walk", 2, -1):
        with raises(OptionError, code="unknown_animation", option="animation", value=wrong):
            read(file, animation=wrong)


def test_content_is_recognised(tmp_path):
    (tmp_path / "clip.txt").write_bytes(C3D(walk()).data())
    assert load(tmp_path / "clip.txt").n_joints == 3
    assert not any(
        FORMAT.sniff(head) for head in (b"", b"\x02", b"\x89PNG\r\n\x1a\n" + bytes(4000), b"OPEN the door " * 99)
    )
