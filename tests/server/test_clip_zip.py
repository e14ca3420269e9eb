"""A zip that grows while it is sent, and names of files in headers."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime
from urllib.parse import unquote

import apart
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keypose.errors import OptionError
from keypose.library.nouns import Clip
from keypose.server.routes.clip_zip import MANIFEST, zipped
from keypose.server.work.tasks_headers import disposition, tag


def clip(digit: str, name: str) -> Clip:
    return Clip(
        hash=digit * 64, name=name, also_named=(), tags=(), source="", licence="", note="", fps=30.0, n_frames=9,
        duration_s=0.3, n_joints=3, skeleton="0" * 64, suffix=".bvh", bytes=5, blob="0" * 64,
        added_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip


async def take(digest: str) -> bytes:
    if digest[0] == "c":
        raise OptionError("it cannot be made")
    return digest[:1].encode() * 5000


def pieces_of(*clips: Clip, suffix: str = ".bvh") -> list[bytes]:
    async def gathered() -> list[bytes]:
        first = await take(clips[0].hash)
        return [piece async for piece in zipped(clips, suffix, first, take)]

    return apart.run(gathered())


def test_each_clip_is_sent_when_it_is_made_and_what_cannot_be_is_in_the_manifest() -> None:
    pieces = pieces_of(clip("a", "walk"), clip("b", "Walk"), clip("c", "bad"), clip("d", "../../x"))
    assert len(pieces) == 4 and all(pieces)  # one for each file, and the end
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["walk.bvh", "Walk (2).bvh", "_.._x.bvh", MANIFEST]
        assert archive.read("Walk (2).bvh") == b"b" * 5000
        rows = json.loads(archive.read(MANIFEST))["clips"]
    assert [row["file"] for row in rows] == ["walk.bvh", "Walk (2).bvh", None, "_.._x.bvh"]
    assert rows[2]["error"]["message"] == "it cannot be made" and rows[3]["name"] == "../../x"


@pytest.mark.parametrize(("suffix", "method"), [(".glb", zipfile.ZIP_STORED), (".bvh", zipfile.ZIP_DEFLATED)])
def test_what_is_packed_already_is_not_packed_again(suffix: str, method: int) -> None:
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces_of(clip("a", "walk"), suffix=suffix)))) as archive:
        assert archive.getinfo(f"walk{suffix}").compress_type == method


def test_the_same_clips_give_the_same_bytes() -> None:
    assert pieces_of(clip("a", "walk"), clip("b", "run")) == pieces_of(clip("a", "walk"), clip("b", "run"))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_header_holds_any_name(name: str) -> None:
    header = disposition(name)
    assert header.isascii() and header.isprintable()
    plain, encoded = header.removeprefix('attachment; filename="').split("\"; filename*=UTF-8''")
    assert '"' not in plain and "\\" not in plain and unquote(encoded) == name


def test_a_tag_tells_requests_apart() -> None:
    tags = {tag(task, told) for task in ("a", "b") for told in ({}, {"x": 1}, {"x": 2})}
    assert len(tags) == 6 and tag("a", {"x": 1, "y": 2}) == tag("a", {"y": 2, "x": 1})
