"""A zip that is sent while it grows."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import keypose
from keypose.errors import KeyposeError
from keypose.library.nouns import Clip
from keypose.server.failing import problem_of
from keypose.workbench import safe_stem
from keypose.workbench.names import unique

MANIFEST = "manifest.json"
PACKED = (".kps", ".glb", ".png", ".usdc", ".blend", ".fbx")  # which a zip makes no smaller
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same clips give the same bytes


class Sink(io.RawIOBase):
    """A file that cannot be gone back in: what was written is taken away."""

    def __init__(self) -> None:
        super().__init__()
        self._written = bytearray()

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Any) -> int:
        """Takes ``data``."""
        self._written += data
        return len(data)

    def taken(self) -> bytes:
        """What was written since the last time."""
        data = bytes(self._written)
        self._written.clear()
        return data


async def zipped(
    clips: Sequence[Clip], suffix: str, first: bytes, take: Callable[[str], Awaitable[bytes]]
) -> AsyncIterator[bytes]:
    """The bytes of a zip with a file for each clip, and a manifest; ``first`` is the first file.

    A clip that cannot be made is left out, and the manifest says why.
    """
    sink = Sink()
    names = unique(safe_stem(clip.name) + suffix for clip in clips)
    said: list[dict[str, Any]] = []
    with zipfile.ZipFile(sink, "w") as archive:
        for place, (clip, name) in enumerate(zip(clips, names, strict=True)):
            row: dict[str, Any] = {"hash": clip.hash, "name": clip.name}
            try:
                data = first if place == 0 else await take(clip.hash)
            except KeyposeError as error:
                said.append({**row, "file": None, "error": problem_of(error).model_dump()})
                continue
            await asyncio.to_thread(_put, archive, name, data, is_packed=suffix.endswith(PACKED))
            said.append({**row, "file": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()})
            yield sink.taken()
        about = {"keypose": keypose.__version__, "format": suffix, "clips": said}
        text = json.dumps(about, indent=2, ensure_ascii=True).encode()
        _put(archive, MANIFEST, text, is_packed=False)
    yield sink.taken()


def _put(archive: zipfile.ZipFile, name: str, data: bytes, *, is_packed: bool) -> None:
    entry = zipfile.ZipInfo(name, LONG_AGO)
    entry.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data)
