"""Damaged .blend files in real Blender: an error that names the file, within seconds, and no crash."""

from __future__ import annotations

import struct
import time

import numpy as np
import pytest

import keypose as kp

pytestmark = [pytest.mark.blender, pytest.mark.one_python]

SOON_S = 30.0  # Blender starts in one second; the child's own limit is 60
HEAD = b"BLENDER-v405"


def block(code: bytes, size: int, count: int) -> bytes:
    """Return the header of a file block with its size in bytes and number of structures."""
    return code + struct.pack("<iQii", size, 1, 0, count)


def flip_bits(data: bytes, positions: np.ndarray) -> bytes:
    """Return ``data`` with one bit of each of these bytes flipped."""
    damaged = bytearray(data)
    for k, place in enumerate(positions.tolist()):
        damaged[place] ^= 1 << k % 8
    return bytes(damaged)


DAMAGES = {
    "only the magic": lambda data: HEAD[:7],
    "only Zstandard's magic": lambda data: data[:4],
    "cut in the head": lambda data: data[:30],
    "cut in the middle": lambda data: data[: len(data) // 2],
    "a block of 2 GB": lambda data: HEAD + block(b"GLOB", 0x7FFFFFFF, 1) + bytes(1000),
    "a block of less than nothing": lambda data: HEAD + block(b"GLOB", -1, 1) + bytes(1000),
    "two thousand million structures": lambda data: HEAD + block(b"DNA1", 100, 0x7FFFFFFF) + bytes(1000),
    "a frame that unfolds to any size": lambda data: data[:4] + b"\xa0\xff\xff\xff\xff" + bytes(100),
    "every thousandth byte flipped": lambda data: flip_bits(data, np.arange(500, len(data), 1000)),
    "another file behind the magic": lambda data: HEAD + b"HIERARCHY\nROOT Hips\n{\n}\n" * 100,
}


@pytest.fixture(scope="module")
def sound(blender_python: str, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("sound") / "x.blend"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)
        kp.save(kp.unbake(kp.demo_motion()[:40], keys=5), path)
    return path.read_bytes()


@pytest.fixture(autouse=True)
def interpreter(blender_python, monkeypatch):
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_refused_soon(sound, damage, tmp_path):
    (tmp_path / "damaged.blend").write_bytes(DAMAGES[damage](sound))
    start = time.monotonic()
    with pytest.raises(kp.FormatError) as caught:  # or a LimitError
        kp.load_keyed(tmp_path / "damaged.blend")
    assert caught.value.path == str(tmp_path / "damaged.blend")
    assert time.monotonic() - start < SOON_S


@pytest.mark.filterwarnings("ignore::keypose.FormatWarning")
@pytest.mark.parametrize("seed", range(4))
def test_few_flipped_bits_are_read_or_refused(sound, seed, tmp_path):
    """Zstandard may not detect them; the result is a motion or an error about the file."""
    rng = np.random.default_rng(seed)
    (tmp_path / "damaged.blend").write_bytes(flip_bits(sound, rng.integers(0, len(sound), 1 + 2 * seed)))
    start = time.monotonic()
    try:
        assert kp.load(tmp_path / "damaged.blend").n_frames > 0
    except kp.FormatError as error:
        assert error.path == str(tmp_path / "damaged.blend")
    assert time.monotonic() - start < SOON_S
