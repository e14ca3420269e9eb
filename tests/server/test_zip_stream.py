"""Streamed zip archives, Content-Disposition and ETag headers."""

from __future__ import annotations

import hashlib
import io
import json
import random
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keypose.errors import OptionError
from keypose.library.records import Clip
from keypose.server.routes.export import MANIFEST, stream_zip
from keypose.server.workers.clip_worker import content_disposition, etag
from keypose.server.workers.process import StoredBody, store_body
from keypose.server.workers.worker_context import TaskResult
from support import event_loop


def clip(digit: str, name: str) -> Clip:
    return Clip(
        hash=digit * 64, name=name, other_names=(), tags=(), source="", licence="", note="", fps=30.0, n_frames=9,
        duration_s=0.3, n_joints=3, skeleton="0" * 64, suffix=".bvh", bytes=5, blob="0" * 64,
        added_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip


async def export(digest: str) -> TaskResult:
    if digest[0] == "c":
        raise OptionError("it cannot be made")
    return TaskResult(digest[:1].encode() * 5000)


def zip_chunks(*clips: Clip, suffix: str = ".bvh") -> list[bytes]:
    async def collect() -> list[bytes]:
        first = await export(clips[0].hash)
        return [chunk async for chunk in stream_zip(clips, suffix, first, export)]

    return event_loop.run(collect())


def test_files_are_streamed_and_errors_listed() -> None:
    chunks = zip_chunks(clip("a", "walk"), clip("b", "Walk"), clip("c", "bad"), clip("d", "../../x"))
    assert len(chunks) == 4 and all(chunks)  # one for each file, and the directory
    with zipfile.ZipFile(io.BytesIO(b"".join(chunks))) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["walk.bvh", "Walk (2).bvh", "_.._x.bvh", MANIFEST]
        assert archive.read("Walk (2).bvh") == b"b" * 5000
        rows = json.loads(archive.read(MANIFEST))["clips"]
    assert [row["file"] for row in rows] == ["walk.bvh", "Walk (2).bvh", None, "_.._x.bvh"]
    assert rows[2]["error"]["problem"] == "it cannot be made" and rows[3]["name"] == "../../x"


@pytest.mark.parametrize(("suffix", "method"), [(".glb", zipfile.ZIP_STORED), (".bvh", zipfile.ZIP_DEFLATED)])
def test_compressed_formats_are_stored(suffix: str, method: int) -> None:
    with zipfile.ZipFile(io.BytesIO(b"".join(zip_chunks(clip("a", "walk"), suffix=suffix)))) as archive:
        assert archive.getinfo(f"walk{suffix}").compress_type == method


@pytest.mark.parametrize("suffix", [".glb", ".bvh"])
def test_large_files_are_streamed_in_chunks(tmp_path: Path, suffix: str) -> None:
    content = random.Random(1).randbytes(3_000_000)

    async def collect() -> list[bytes]:
        first = TaskResult(StoredBody(store_body(tmp_path, content)))
        return [chunk async for chunk in stream_zip([clip("a", "walk")], suffix, first, export)]

    chunks = event_loop.run(collect())
    assert max(map(len, chunks)) < 600_000 and list(tmp_path.iterdir()) == []
    with zipfile.ZipFile(io.BytesIO(b"".join(chunks))) as archive:
        assert archive.testzip() is None and archive.read(f"walk{suffix}") == content
        (row,) = json.loads(archive.read(MANIFEST))["clips"]
    assert row["bytes"] == len(content) and row["sha256"] == hashlib.sha256(content).hexdigest()


def test_zip_is_deterministic() -> None:
    assert zip_chunks(clip("a", "walk"), clip("b", "run")) == zip_chunks(clip("a", "walk"), clip("b", "run"))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_content_disposition(name: str) -> None:
    header = content_disposition(name)
    assert header.isascii() and header.isprintable()
    plain, encoded = header.removeprefix('attachment; filename="').split("\"; filename*=UTF-8''")
    assert '"' not in plain and "\\" not in plain and unquote(encoded) == name


def test_etag() -> None:
    etags = {etag(task, payload) for task in ("a", "b") for payload in ({}, {"x": 1}, {"x": 2})}
    assert len(etags) == 6 and etag("a", {"x": 1, "y": 2}) == etag("a", {"y": 2, "x": 1})
