"""Load by content, atomic save, and what all formats have in common."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.formats import FORMATS, readable_suffixes, writable_suffixes
from keypose.formats.base import GZIP_RATIO, write_atomically
from keypose.limits import limit_hint
from support.errors import Pattern, raises

SUFFIXES = [
    suffix for suffix in writable_suffixes() if suffix not in (".fbx", ".blend", ".kps")
]  # tests/blender, /storage


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)[:40]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_writable_format_gives_the_motion_back(motion, tmp_path, suffix):
    kp.save(motion, tmp_path / f"x{suffix}")
    again = kp.load(tmp_path / f"x{suffix}")
    assert again.name == "x" or again.name == motion.name
    assert again.skeleton.names == motion.skeleton.names
    assert again.skeleton.parents.tolist() == motion.skeleton.parents.tolist()
    assert again.skeleton.channels == motion.skeleton.channels
    assert again.skeleton.rotation_orders == motion.skeleton.rotation_orders
    np.testing.assert_allclose(again.skeleton.end_offsets, motion.skeleton.end_offsets, atol=1e-6)
    assert again.n_frames == motion.n_frames and again.fps == pytest.approx(30)
    assert again.up == motion.up
    np.testing.assert_allclose(again.world_positions(), motion.world_positions(), atol=2e-5)
    np.testing.assert_allclose(again.end_positions(), motion.end_positions(), atol=2e-5)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_motion_gives_the_same_bytes(motion, tmp_path, suffix):
    kp.save(motion, tmp_path / f"a{suffix}")
    kp.save(motion, tmp_path / f"b{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_content_decides_whatever_the_name(motion, tmp_path, suffix):
    kp.save(motion, tmp_path / f"x{suffix}")
    (tmp_path / f"x{suffix}").rename(tmp_path / "motion.txt")
    assert kp.load(tmp_path / "motion.txt").n_frames == motion.n_frames
    (tmp_path / "motion.txt").rename(tmp_path / "motion.c3d")
    assert any("not what the suffix" in note for note in kp.load(tmp_path / "motion.c3d").notes)


def test_the_table_of_formats():
    assert {".bvh", ".amc", ".asf", ".c3d", ".glb", ".gltf", ".usda", ".fbx", ".bvh.gz"} <= set(readable_suffixes())
    assert {".bvh", ".glb", ".gltf", ".usda", ".bvh.gz"} <= set(writable_suffixes())
    suffixes = [s for f in FORMATS for s in f.suffixes]
    assert len(suffixes) == len(set(suffixes))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b" \n\t ", "holds nothing but blanks"),
        (b"<!DOCTYPE html><html>", "is an HTML page, probably a download that went wrong"),
        (b"\n<html><body>404", "is an HTML page, probably a download that went wrong"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0",
            "is a Git LFS pointer, not the file itself: run 'git lfs pull'",
        ),
        (b"PK\x03\x04abc", "is a zip archive: unpack it first"),
        (b"%PDF-1.7", "is a PDF document"),
        (b"<?xml version='1.0'?><mvnx/>", "is an XML file"),
        (b"just some text", "unknown format (starts with b'just some text')"),
        (bytes(range(256)), Pattern(r"^unknown format .starts with b'\\x00\\x01")),
    ],
)
def test_errors_name_other_kinds_of_files(tmp_path, content, problem):
    path = tmp_path / "walk.bvh"
    path.write_bytes(content)
    with raises(kp.FormatError, path=str(path), code="unknown_format", problem=problem):
        kp.load(path)


def test_files_that_cannot_be_read(tmp_path):
    with raises(kp.FileError, code="no_such_file"):
        kp.load(tmp_path / "none.bvh")
    with raises(kp.FileError, code="not_a_file", expected="a motion file"):
        kp.load(tmp_path)
    with raises(kp.FileError, code="read_failed"):
        kp.load("a\0b.bvh")
    os.mkfifo(tmp_path / "pipe.bvh")
    with raises(kp.FileError, code="not_a_file"):  # and does not wait for a writer
        kp.load(tmp_path / "pipe.bvh")


def test_a_gzip_bomb_is_refused_before_it_unfolds(tmp_path):
    path = tmp_path / "bomb.bvh.gz"
    path.write_bytes(gzip.compress(b"HIERARCHY\n" + bytes(50_000_000)))
    assert path.stat().st_size < 100_000
    with raises(kp.LimitError, hint=limit_hint("bytes")):
        kp.load(path, limits=kp.Limits(bytes=1_000_000))


def test_damaged_gzip(tmp_path):
    path = tmp_path / "x.bvh.gz"
    path.write_bytes(gzip.compress(b"HIERARCHY\n" * 1000)[:-20])
    with raises(kp.FormatError, code="damaged"):
        kp.load(path)


@pytest.mark.parametrize("name", ["x", "x.txt", "x.amc", "x.fbx.gz", "x.glb.gz", "x.bvh.zip"])
def test_suffixes_that_cannot_be_written(motion, tmp_path, name):
    expected = f"one of {', '.join(writable_suffixes())}"
    with raises(kp.OptionError, path=str(tmp_path / name), value=Path(name).suffix, expected=expected):
        kp.save(motion, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_leaves_only_the_old_file(motion, tmp_path, monkeypatch):
    path = tmp_path / "x.bvh"
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with raises(kp.FileError, code="write_failed", problem="cannot be written (No space left on device)"):
        kp.save(motion, path)
    assert path.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["x.bvh"]
    with raises(kp.FileError, code="write_failed", problem="cannot be written (No such file or directory)"):
        kp.save(motion, tmp_path / "no" / "such" / "folder.bvh")


def test_an_existing_file_is_replaced_unless_that_is_refused(motion, tmp_path):
    path = tmp_path / "x.bvh"
    path.write_bytes(b"old")
    with raises(kp.FileError, code="exists", path=str(path), hint="overwrite=True replaces it"):
        kp.save(motion, path, overwrite=False)
    assert path.read_bytes() == b"old"
    kp.save(motion, path)
    assert kp.load(path).n_frames == motion.n_frames
    kp.save(motion, tmp_path / "new.bvh", overwrite=False)
    assert (tmp_path / "new.bvh").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("existing", ["x.bvh", "x.bvh.keys.json"])
def test_keys_are_not_written_where_either_file_exists(motion, tmp_path, existing):
    (tmp_path / existing).write_bytes(b"old")
    with raises(kp.FileError, code="exists", path=str(tmp_path / existing)):
        kp.save(kp.unbake(motion, [0, motion.n_frames - 1]), tmp_path / "x.bvh", overwrite=False)
    assert [path.name for path in tmp_path.iterdir()] == [existing]
    assert (tmp_path / existing).read_bytes() == b"old"


def test_a_pipe_is_not_replaced(motion, tmp_path):
    path = tmp_path / "x.bvh"
    os.mkfifo(path)
    with raises(kp.FileError, code="exists", path=str(path), problem="is not a regular file, and is not replaced"):
        kp.save(motion, path)
    assert path.is_fifo() and [p.name for p in tmp_path.iterdir()] == ["x.bvh"]


def test_a_file_created_meanwhile_is_not_replaced(motion, tmp_path, monkeypatch):
    path = tmp_path / "x.bvh"
    fsync = os.fsync

    def create_meanwhile(descriptor: int) -> None:
        fsync(descriptor)
        path.write_bytes(b"other")

    monkeypatch.setattr(os, "fsync", create_meanwhile)
    with raises(kp.FileError, code="exists", path=str(path)):
        kp.save(motion, path, overwrite=False)
    assert path.read_bytes() == b"other" and [p.name for p in tmp_path.iterdir()] == ["x.bvh"]


def test_links_and_permissions_stay(motion, tmp_path):
    target = tmp_path / "target.bvh"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link = tmp_path / "link.bvh"
    link.symlink_to(target)
    kp.save(motion, link)
    assert link.is_symlink() and kp.load(target).n_frames == motion.n_frames
    assert target.stat().st_mode & 0o777 == 0o640


KEEP_SAVING = """
import sys
from pathlib import Path
from keypose.formats.base import GZIP_RATIO, write_atomically
for n in range(10**9):
    write_atomically(Path(sys.argv[1]), bytes([n % 256]) * 4_000_000)
"""


@pytest.mark.parametrize("moment_s", [0.03, 0.05, 0.09, 0.13, 0.2])
def test_a_killed_save_never_leaves_half_a_file(tmp_path, moment_s):
    path = tmp_path / "x.bin"
    write_atomically(path, b"\x07" * 4_000_000)
    child = subprocess.Popen([sys.executable, "-c", KEEP_SAVING, str(path)])
    first, until = path.stat().st_mtime_ns, time.monotonic() + 30
    while path.stat().st_mtime_ns == first and time.monotonic() < until:
        time.sleep(0.005)  # until it saves
    time.sleep(moment_s)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert path.stat().st_mtime_ns != first
    data = path.read_bytes()
    assert len(data) == 4_000_000 and len(set(data)) == 1
    assert all(p == path or p.name.startswith(".x.bin.") for p in Path(tmp_path).iterdir())
    for leftover in tmp_path.glob(".x.bin.*"):
        os.utime(leftover, (0, 0))
    subprocess.run([sys.executable, "-c", KEEP_SAVING.replace("10**9", "1"), str(path)], check=True)
    assert list(tmp_path.iterdir()) == [path]


def test_a_save_removes_files_of_killed_saves_only_and_after_an_hour(tmp_path):
    names = {
        ".x.bin.0123456789ab.tmp": 3700,
        ".another.file.of.a.lo.ba9876543210.tmp": 10**6,
        ".x.bin.0123456789ac.tmp": 3500,
        ".x.bin.0123.tmp": 10**6,
        ".x.bin.0123456789ab.tmp.gz": 10**6,
        "x.bin.0123456789ab.tmp": 10**6,
        "..0123456789ab.tmp": 10**6,
    }
    for name, age_s in names.items():
        (tmp_path / name).write_bytes(b"data")
        os.utime(tmp_path / name, (time.time() - age_s,) * 2)
    (tmp_path / ".folder.0123456789ab.tmp").mkdir()
    (tmp_path / ".link.0123456789ab.tmp").symlink_to(tmp_path / "x.bin.0123456789ab.tmp")
    os.utime(tmp_path / ".folder.0123456789ab.tmp", (0, 0))
    os.utime(tmp_path / ".link.0123456789ab.tmp", (0, 0), follow_symlinks=False)
    write_atomically(tmp_path / "x.bin", b"new")
    removed = {".x.bin.0123456789ab.tmp", ".another.file.of.a.lo.ba9876543210.tmp"}
    assert {path.name for path in tmp_path.iterdir()} == names.keys() - removed | {
        "x.bin", ".folder.0123456789ab.tmp", ".link.0123456789ab.tmp"
    }  # fmt: skip


def test_errors_survive_pickling():
    import pickle

    error = kp.FormatError("walk.bvh", "5 channels, expected 3 or 6", line=41)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == "walk.bvh:41: 5 channels, expected 3 or 6" and again.line == 41
    unknown = pickle.loads(pickle.dumps(kp.UnknownJoint("Hip", ["Hips", "Head"])))
    assert unknown.hint is not None and unknown.hint.startswith("did you mean 'Hips'? known: ")


def test_warnings_point_at_the_calling_line(tmp_path):
    (tmp_path / "x.bvh").write_text(
        "HIERARCHY\nROOT a\n{\nCHANNELS 1 Xrotation\n}\nMOTION\nFrames: 2\nFrame Time: 1\n5\n"
    )
    with pytest.warns(kp.FormatWarning) as caught:
        kp.load(tmp_path / "x.bvh")
    assert caught[0].filename == __file__


def test_arguments_in_the_wrong_order(motion, tmp_path):
    """The message pins the wording of this error."""
    path = tmp_path / "x.bvh"
    with raises(kp.OptionError, value=type(path).__name__, path=None) as caught:
        kp.save(path, motion)
    assert str(caught.value) == (
        f"save takes a Motion, KeyedMotion or Swings and a path, in this order, not {type(path).__name__!r} first"
    )


@pytest.mark.parametrize("up", ["X", "Z", "-X", "-Y", "-Z"])
def test_a_bvh_stands_upright_when_it_is_read_again(tmp_path, up):
    """BVH cannot state the up axis, so a figure whose axis cannot be detected is rotated to Y up."""
    rng = np.random.default_rng(0)
    axis, sign = "XYZ".index(up[-1]), -1.0 if up.startswith("-") else 1.0
    positions = rng.normal(size=(30, 3, 3))
    positions[..., axis] += sign * np.array([0.0, 100.0, 170.0])
    channels = (("Xposition", "Yposition", "Zposition"),) * 3
    skeleton = kp.Skeleton(("a", "b", "c"), [-1] * 3, np.zeros((3, 3)), channels=channels)
    markers = kp.Motion("markers", skeleton, 100, positions, np.tile((1.0, 0, 0, 0), (30, 3, 1)), up=up)
    kp.save(markers, tmp_path / "x.bvh")
    again = kp.load(tmp_path / "x.bvh")
    assert again.up == "Y" and again.height == pytest.approx(markers.height)
    assert again.skeleton.channels == channels
    np.testing.assert_allclose(again.world_positions()[..., 1], sign * positions[..., axis], atol=1e-6)
    between = lambda m: np.linalg.norm(m.world_positions()[:, 0] - m.world_positions()[:, 2], axis=-1)  # noqa: E731
    np.testing.assert_allclose(between(again), between(markers), atol=1e-5)


def test_a_gzip_ratio_that_no_motion_has(tmp_path):
    path = tmp_path / "bomb.bvh.gz"
    path.write_bytes(gzip.compress(b"HIERARCHY\n" + bytes(120_000_000)))
    with raises(kp.LimitError, path=str(path), code="limit", value=GZIP_RATIO):
        kp.load(path)


@pytest.mark.parametrize("name", ["a\0b.bvh", "\ud800.bvh", "n" * 300 + ".bvh"])
def test_names_that_no_disk_takes(motion, tmp_path, name):
    with raises(kp.FileError, code="write_failed"):
        kp.save(motion, tmp_path / name)


def test_the_longest_file_name(motion, tmp_path):
    kp.save(motion, tmp_path / ("n" * 251 + ".bvh"))


@pytest.mark.parametrize(
    "options", [{"fps": 0}, {"fps": "x"}, {"fps": float("nan")}, {"animation": [1]}, {"gaps": "no"}]
)
def test_invalid_options(motion, tmp_path, options):
    kp.save(motion, tmp_path / "x.bvh")
    with pytest.raises(kp.OptionError):
        kp.load(tmp_path / "x.bvh", **options)


def test_the_number_of_warnings_is_limited(tmp_path):
    from keypose.formats.base import MAX_WARNINGS, Source

    source = Source(tmp_path / "x", b"")
    with pytest.warns(kp.FormatWarning) as caught:
        for n in range(1000):
            source.warn(f"fault {n}", code="repaired")
    assert len(caught) == MAX_WARNINGS == len(source.notes)
    assert [each.message.code for each in caught[-2:]] == ["repaired", "more_warnings"]
