"""BVH files through lossless storage: all numbers are restored."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.batch.stored_file import read_channel_table, write_verbatim
from keypose.errors import ModelError
from keypose.storage import encode_kps
from keypose.storage.lossless import ChannelTable, encode_lossless
from support.errors import raises

relaxed = settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
HIERARCHY = """HIERARCHY
ROOT Hips
{
  OFFSET 0.1 -0.0 1e-05
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Chest
  {
    OFFSET 0 12.123456789012345 0.5
    CHANNELS 3 Yrotation Zrotation Xrotation
    End Site
    {
      OFFSET 0 3.3333333333333333 1
    }
  }
  JOINT Knee
  {
    OFFSET 0 -10 0
    CHANNELS 2 Xrotation Zposition
  }
}
"""
COLUMNS = 11


def text_of(rows: list[list[str]], frame_time: str = ".0083333") -> str:
    lines = [HIERARCHY + "MOTION", f"Frames: {len(rows)}", f"Frame Time: {frame_time}", *map(" ".join, rows)]
    return "\n".join(lines) + "\n"


def numbers_in(text: str) -> tuple[str, list[str], list[list[str]]]:
    """Return the text of the frame time, those of all offsets, and the numbers of each row in hexadecimal."""
    header, motion = text.split("MOTION")
    lines = [line.split() for line in motion.split("Frame Time:")[1].splitlines()]
    offsets = [float(x).hex() for line in header.splitlines() if "OFFSET" in line for x in line.split()[1:]]
    return lines[0][0], offsets, [[float(x).hex() for x in line] for line in lines[1:] if line]


def restore_text(path: Path, **options) -> tuple[kp.Motion, str]:
    """Return the motion of a file and its restored text."""
    motion = kp.load(path, **options)
    data = encode_kps(motion, lossless=True, channels=read_channel_table(path, motion))
    stored = kp.open_kps(data)
    back = stored.motion()
    assert back.translations.tobytes() == motion.translations.tobytes()
    assert back.rotations.tobytes() == motion.rotations.tobytes()
    channels = stored.channels()
    assert channels is not None
    return motion, write_verbatim(back, channels, reference_pose=True).decode()


def walk(n_rows: int, decimals: int = 4) -> list[list[str]]:
    rng = np.random.default_rng(3)
    values = np.cumsum(rng.normal(0, 1, (n_rows, COLUMNS)), axis=0)
    return [[f"{x:.{decimals}f}" for x in row] for row in values]


NUMBER_TEXTS = st.one_of(
    st.sampled_from(["0", "-0", "-0.000", "1e-05", "-1.5E+2", "+7", "5.", ".5", "-360", "719.9999", "90", "-90.0000"]),
    st.floats(-1e4, 1e4).map(repr),
    st.floats(-720, 720).map(lambda x: f"{x:.2f}"),
    st.floats(-720, 720).map(lambda x: f"{x:.6g}"),
    st.floats(-1e15, 1e15).map(lambda x: f"{x:.17g}"),
)


# Fitted weights predict numbers beyond 64 bits here.
LARGE_PREDICTIONS = [["0"] * 5 + [text] + ["0"] * (COLUMNS - 6) for text in ("5.", "0", "-2052.174527076928", "0", "0")]


@given(
    rows=st.lists(st.lists(NUMBER_TEXTS, min_size=COLUMNS, max_size=COLUMNS), min_size=1, max_size=6),
    frame_time=st.sampled_from([".0083333", "0.0333333", "0.016666666666666666", "1e-2", "0.04"]),
)
@example(rows=LARGE_PREDICTIONS, frame_time=".0083333")
@relaxed
def test_numbers_of_any_text_form_round_trip(tmp_path_factory, rows, frame_time):
    path = tmp_path_factory.mktemp("words") / "words.bvh"
    path.write_text(text_of(rows, frame_time))
    assert numbers_in(restore_text(path)[1]) == numbers_in(path.read_text())


@pytest.mark.parametrize("mode", ["keep", "drop"])
def test_reference_pose_row_round_trip(tmp_path, mode):
    path = tmp_path / "posed.bvh"
    path.write_text(text_of([["7.5", "20", "-0"] + ["0"] * (COLUMNS - 3), *walk(50)]))
    motion, text = restore_text(path, reference_pose=mode)
    assert (motion.reference_pose is not None) == (mode == "drop")
    assert numbers_in(text) == numbers_in(path.read_text())
    channels = read_channel_table(path, motion)
    without = write_verbatim(motion, channels, reference_pose=False).decode()
    assert numbers_in(without)[2] == numbers_in(path.read_text())[2][channels.n_reference_rows :]


def test_angles_in_gimbal_lock_and_beyond_full_turns_round_trip(tmp_path):
    rows = walk(60)
    for t, row in enumerate(rows):
        row[3], row[4], row[5] = f"{-3000 + 50 * t}.25", "90", f"{17 * t}.5000"
        row[7] = "-90.0000" if t % 2 else "450"
    path = tmp_path / "locked.bvh"
    path.write_text(text_of(rows))
    motion, text = restore_text(path)
    assert numbers_in(text) == numbers_in(path.read_text())
    with_numbers = encode_lossless(motion, read_channel_table(path, motion))
    alone = encode_lossless(motion)
    assert sum(map(len, with_numbers.bodies)) < 0.5 * sum(map(len, alone.bodies))


def test_fewest_exact_decimals_are_written(tmp_path):
    rows = walk(5, decimals=2)
    for row in rows:
        row[0], row[1] = "1.5", "1e-30"
    path = tmp_path / "words.bvh"
    path.write_text(text_of(rows))
    lines = restore_text(path)[1].splitlines()
    assert [line.split()[:2] for line in lines[-5:]] == [["1.5", "1e-30"]] * 5
    assert [line.split()[2:] for line in lines[-5:]] == [row[2:] for row in rows]
    assert lines[-6] == "Frame Time: .0083333"


def test_warnings_are_reported_once(tmp_path):
    path = tmp_path / "short.bvh"
    path.write_text(text_of(walk(4)).replace("Frames: 4", "Frames: 9"))
    with pytest.warns(kp.FormatWarning) as messages:
        text = restore_text(path)[1]
    assert len(messages) == 1
    assert numbers_in(text) == numbers_in(path.read_text())


def test_zipped_files_and_other_formats(tmp_path):
    path = tmp_path / "zipped.bvh.gz"
    path.write_bytes(gzip.compress(text_of(walk(20)).encode()))
    assert numbers_in(restore_text(path)[1]) == numbers_in(text_of(walk(20)))
    motion = kp.load(path)
    kp.save(motion, tmp_path / "other.glb")
    assert read_channel_table(tmp_path / "other.glb", motion) is None


def test_channels_of_another_motion_are_refused(tmp_path):
    paths = []
    for name, rows in (("a", walk(20)), ("b", walk(20)[::-1]), ("c", walk(21))):
        paths.append(tmp_path / f"{name}.bvh")
        paths[-1].write_text(text_of(rows))
    motion = kp.load(paths[0])
    for path in paths[1:]:
        with raises(kp.OptionError, hint="read it again or leave out channels="):
            read_channel_table(path, motion)
        others = read_channel_table(path, kp.load(path))
        with raises(kp.OptionError, option="channels", subject="a"):
            encode_lossless(motion, others)
        with raises(kp.OptionError, option="channels", subject="a"):
            write_verbatim(motion, others, reference_pose=True)


def test_a_motion_without_numbers_has_none():
    motion = kp.Motion("one", kp.Skeleton(("a",), np.array([-1]), np.zeros((1, 3))), 30.0, np.zeros((2, 1, 3)),
                       np.tile((1.0, 0, 0, 0), (2, 1, 1)))  # fmt: skip
    assert kp.open_kps(encode_kps(motion, lossless=True)).channels() is None


@pytest.mark.parametrize(
    ("values", "frame_time", "apart"),
    [
        (np.zeros((2, 3)), "soon", 0),
        (np.zeros((2, 3)), "0." + "1" * 80, 0),
        (np.zeros((1, 3)), "0.1", 1),
        (np.zeros((2, 3)), "0.1", 2),
        (np.full((2, 3), np.nan), "0.1", 0),
    ],
)
def test_invalid_channel_table_is_refused(values, frame_time, apart):
    with pytest.raises(ModelError):
        ChannelTable(values, frame_time, apart)


def cut(path: Path, folder: Path, max_rows: int) -> Path:
    """Return the file with fewer rows, if it has many."""
    lines = path.read_bytes().split(b"\n")
    start = next((i for i, line in enumerate(lines) if line.strip().lower().startswith(b"frame time")), len(lines))
    if len(lines) - start < 2 * max_rows:
        return path
    (folder / path.name).write_bytes(b"\n".join(lines[: start + 1 + max_rows]) + b"\n")
    return folder / path.name


@pytest.mark.one_python
@pytest.mark.data
def test_numbers_of_every_exporter_round_trip(data_dir, tmp_path):
    files = [*(data_dir / "formats/bvh").glob("*.bvh"), *(data_dir / "malformed").glob("*/*.bvh")]
    n_checked = 0
    for path in sorted(files):
        part = cut(path, tmp_path, 60)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kp.FormatWarning)
            try:
                motion, text = restore_text(part)
            except kp.FormatError:
                continue
        channels = read_channel_table(part, motion)
        assert [[x.hex() for x in row] for row in channels.values.tolist()] == numbers_in(text)[2], path
        if path.parent.name == "bvh":
            original = part.read_bytes().decode("utf-8-sig")
            assert numbers_in(text) == numbers_in(original), path
        n_checked += 1
    assert n_checked >= 35
