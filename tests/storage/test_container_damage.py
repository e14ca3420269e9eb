"""Damaged files: everything that is read is correct, all else is a clear error in bounded memory."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import keypose as kp
from keypose.formats.kps import format_keys
from keypose.storage import encode_kps, encode_kps_swings
from keypose.storage.blocks import StoredKeys
from keypose.storage.container import VERSION
from support.checksum_repair import update_checksums
from support.errors import Pattern, raises
from support.headers import read_back, tiny_motion

pytestmark = pytest.mark.usefixtures("raw")
relaxed = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))


MOTION = tiny_motion()  # 4 groups of 2 frames


@pytest.fixture
def data() -> bytes:
    return encode_kps(MOTION)


def outcome(data: bytes, original: kp.Motion = MOTION) -> str:
    """Read everything; the result must be correct or a KeyposeError with a readable message."""
    try:
        stored = kp.open_kps(data)
    except kp.KeyposeError as error:
        assert isinstance(error, kp.FormatError) and str(error).startswith("<bytes>: ") and len(str(error)) < 900
        return "no header"
    damage = stored.damage()
    for start_s, end_s in stored.intact_spans():
        part = stored[start_s:end_s]
        first = part.first_frame - original.first_frame
        assert np.array_equal(part.translations, original.translations[first : first + part.n_frames])
    if not damage:
        return "sound"
    with raises(kp.FormatError, code="damaged", value=len(damage)):
        stored.motion()
    return f"{len(damage)} groups"


def test_every_flipped_byte_is_detected(data):
    contents = read_back(data)
    outcomes = set()
    for at in range(len(data)):
        for flip in (1 << at % 8, 0xFF) if at % 4 == 0 else (1 << at % 8,):
            result = outcome(data[:at] + bytes((data[at] ^ flip,)) + data[at + 1 :])
            assert result == "no header" if at < contents.start_byte else result in ("1 groups", "2 groups")
            outcomes.add(result)
    assert outcomes == {"no header", "1 groups", "2 groups"}


def test_cut_short_anywhere(data):
    contents = read_back(data)
    for end in range(len(data)):
        result = outcome(data[:end])
        if end < contents.start_byte:
            assert result == "no header"
        else:
            complete = sum(contents.group_range(g)[1] <= end for g in range(4))
            assert result == f"{4 - complete} groups"


def test_extra_bytes_after_the_end(data):
    for more, message in ((b"tail", "4 bytes"), (b"\0", "1 byte")):
        stored = kp.open_kps(data + more)
        (result,) = stored.damage()
        assert str(result) == f"{message} too many behind its end, which is at byte {len(data)}"
        assert result.group is None and result.is_harmless and stored.intact_spans() == ((0.0, 4.0),)
        assert np.array_equal(stored.motion().translations, MOTION.translations)
    alone = kp.open_kps(encode_kps_swings(kp.swings(MOTION)) + b"tail")
    assert len(alone.damage()) == 1 and alone.intact_spans() == ((0.0, 4.0),)
    far = kp.open_kps(lambda start, stop: (data + b"tail")[start:stop])
    assert far.damage() == ()  # of unknown size


def test_damage_names_the_groups(data, tmp_path):
    contents = read_back(data)
    body, pose = contents.group_range(1)[0] + contents.header.pose_bytes[1], contents.group_range(3)[0]
    path = tmp_path / "broken.kps"
    path.write_bytes(data[:body] + b"\xff" + data[body + 1 : pose] + b"\xff" + data[pose + 1 :])
    with kp.open_kps(path) as stored:
        assert [(d.group, d.start_s, d.end_s) for d in stored.damage()] == [(1, 1, 2), (2, 2, 3), (3, 3, 4)]
        assert stored.damage()[0].problem == "its bytes, or those of the pose of group 2 that it needs, are damaged"
        assert str(stored.damage()[2]) == "group 3 (3 to 4 s): its bytes are damaged"
        assert stored.intact_spans() == ((0.0, 1.0),)
        assert np.array_equal(stored[0:1].translations, MOTION.translations[:2])
        with raises(kp.FormatError, code="damaged", value=3):
            stored[2:3]
    with raises(kp.FormatError, code="damaged", path=str(path), value=3) as error_info:
        kp.load(path)
    # The golden message of this error:
    assert str(error_info.value).startswith(
        f"{path}: 3 of 4 groups cannot be read: group 1 (1 to 2 s): its bytes, or those"
    )
    assert str(error_info.value).endswith(f"; the rest is sound: kp.open_kps('{path}')[0:1] reads it")


def test_missing_groups_are_named(data):
    """The patterns pin the wording of these errors."""
    contents = read_back(data)
    start, end = contents.group_range(1)
    with pytest.raises(
        kp.FormatError, match=r"groups 2 to 3 \(2 to 4 s\): missing; the rest is sound: .*\[0:1\] reads it$"
    ):
        kp.open_kps(data[: end - contents.header.pose_bytes[2]]).motion()
    with pytest.raises(kp.FormatError, match=r"group 1 \(1 to 2 s\): the pose of group 2 that it needs is missing"):
        kp.open_kps(data[: end - 3]).motion()
    with pytest.raises(kp.FormatError, match=r"group 1 \(1 to 2 s\): only 7 of its \d+ bytes are there"):
        kp.open_kps(data[: start + 7]).motion()
    with pytest.raises(kp.FormatError, match=r"4 of 4 groups cannot be read: groups 0 to 3 \(0 to 4 s\): missing$"):
        kp.open_kps(data[: contents.start_byte]).motion()

    def cut(start: int, stop: int) -> bytes:
        return data[:end][start:stop]

    with raises(kp.FormatError, code="damaged", hint="what .intact_spans() names can still be read"):
        kp.open_kps(cut).motion()
    assert kp.open_kps(cut).intact_spans() == ((0.0, 2.0),)


def test_many_damaged_groups_give_a_short_message():
    motion = tiny_motion(80)
    data = bytearray(encode_kps(motion))
    contents = read_back(bytes(data))
    for g in range(1, 40, 3):
        data[contents.group_range(g)[0] + contents.header.pose_bytes[g]] ^= 1
    with raises(kp.FormatError, code="damaged", value=13) as error_info:
        kp.open_kps(bytes(data)).motion()
    assert error_info.value.problem.endswith("; and 8 more")
    assert (
        "and so do the other spans that .intact_spans() names, 14 in all" in str(error_info.value)
        and len(str(error_info.value)) < 900
    )


def test_a_newer_version_is_refused(data):
    newer = data[:3] + bytes((VERSION + 1,)) + data[4:]
    with raises(kp.FormatError, code='unsupported', hint='update Keypose to read it'):  # fmt: skip
        kp.open_kps(newer)
    with raises(kp.FormatError, code="unsupported", expected="1"):
        kp.open_kps(update_checksums(data[:3] + b"\0" + data[4:]))


def test_files_of_other_formats_are_refused(data):
    for wrong, description in (
        (b"", "is empty, expected a .kps file"),
        (b"GIF89a", "is no .kps file: it starts with b'GIF89a'"),
        (b"HIERARCHY\nROOT Hips\n{\n", "is no .kps file: it is BVH"),
        (b"<!DOCTYPE html>", "is no .kps file: it is an HTML page, probably a download that went wrong"),
        (gzip.compress(data), "is no .kps file: it is compressed by gzip: unpack it first"),
        (b"  \n", "is no .kps file: it holds nothing but blanks"),
    ):
        with pytest.raises(kp.FormatError) as error_info:
            kp.open_kps(wrong)
        assert str(error_info.value) == f"<bytes>: {description}"
    for short in (b"K", b"KPS", data[:4], data[:5], data[:9]):
        with raises(kp.FormatError, code="truncated"):
            kp.open_kps(short)
    with raises(kp.FormatError, code="damaged", byte=4):
        kp.open_kps(data[:4] + b"\xff" * 20)
    with raises(kp.FormatError, code="truncated", value=268435455):
        kp.open_kps(data[:4] + b"\xff\xff\xff\x7f" + data[5:])
    with raises(kp.FormatError, code="damaged", hint="without it nothing can be read"):
        kp.open_kps(data[:20] + b"\x55" + data[21:])


# Keys and swings


def _with_blocks() -> tuple[bytes, kp.KeyedMotion]:
    keyed = kp.unbake(MOTION, [0, 3, 7])
    return encode_kps(MOTION, keys=format_keys(StoredKeys(keyed)), swings=kp.swings(MOTION)), keyed


def test_frames_are_read_despite_damaged_keys():
    data, _ = _with_blocks()
    contents = read_back(data)
    ranges = {"keys": contents.keys_range()[:2], "swings": contents.swings_range()[:2]}
    for block_name, offset in (("keys", 0), ("swings", 9)):
        start, stop = ranges[block_name]
        at = start + offset
        stored = kp.open_kps(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :])
        assert np.array_equal(stored.motion().translations, MOTION.translations)
        assert [(d.group, str(d)) for d in stored.damage()] == [
            (None, f"the {block_name} are damaged (bytes {start} to {stop} of the file)"),
        ]
        assert stored.intact_spans() == ((0.0, 4.0),)
        with raises(kp.FormatError, code="damaged", problem=Pattern(f"^the {block_name} are damaged ")):
            getattr(stored, "keyed" if block_name == "keys" else block_name)()
    cut = kp.open_kps(data[: contents.swings_range()[0] + 5])
    assert cut.keyed() is not None
    with raises(kp.FormatError, code="truncated", value=contents.swings_range()[0] + 5):
        cut.swings()


def test_deflate_bomb_in_keys_is_refused(monkeypatch):
    data = encode_kps(MOTION, keys=bytes(1 << 20))
    monkeypatch.setattr("keypose.storage.blocks.MIN_INFLATED_BYTES", 1000)
    with raises(kp.LimitError, code="limit", problem="the keys unfold to more than 0 MB"):
        kp.open_kps(data).keyed()


def test_file_without_frames_keys_or_swings(data):
    sw = kp.swings(MOTION)
    data = encode_kps_swings(sw)
    stored = kp.open_kps(data)
    assert not stored.has_frames and stored.intact_spans() == ((0.0, 4.0),) and stored.n_groups == 0
    broken = kp.open_kps(data[:-1])
    assert broken.intact_spans() == () and len(broken.damage()) == 1
    with raises(kp.FormatError, code="truncated", value=len(data) - 1):
        broken.motion()
