"""The container of a glTF file: the chunks of a GLB, the JSON, and the buffers wherever they lie.

A buffer may be the GLB's own chunk, a data URI, or a file beside the glTF file. A file is only opened
inside the folder of the glTF file: what comes from a stranger must not read other places of the disk. Where
files came with it, those are all there is: they are known by their names, and the disk is not looked at.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes

from keypose.errors import FileError, FormatError, LimitError
from keypose.formats.base import Source
from keypose.formats.document import Part, parse_json
from keypose.formats.files import read_bytes

GLB_MAGIC = b"glTF"
JSON_CHUNK, BINARY_CHUNK = 0x4E4F534A, 0x004E4942
BESIDE = "expected the file beside this one"  # how errors end about one that is missing
_EXPECTED = "a data URI or a file in the folder of this one"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


@dataclass
class Container:
    """A glTF file taken apart, its buffers loaded when they are first asked for."""

    source: Source
    json: Part
    binary: memoryview | None  # the GLB's own chunk
    _loaded: dict[int, memoryview] = field(default_factory=dict)
    _files: dict[Path | str, memoryview] = field(default_factory=dict)  # other files, each read and counted once

    def __post_init__(self) -> None:
        self._buffers = self.json.parts("buffers")
        self.views = self.json.parts("bufferViews")

    def view(self, index: int) -> memoryview:
        """The bytes of one buffer view."""
        part = self.views[index]
        extensions = part.part("extensions")
        if extensions is not None and any("compression" in name for name in extensions.values):
            raise self.source.error(f"{part.where} is compressed ({', '.join(map(repr, extensions.values))[:80]}), "
                                    f"expected plain data: decompress the file first")  # fmt: skip
        buffer = self._buffer(part.index("buffer", len(self._buffers)))
        start, length = part.whole("byteOffset", 0), part.whole("byteLength", least=1)
        if start + length > len(buffer):
            raise self.source.error(
                f"{part.where} takes bytes {start} to {start + length} of a buffer of {len(buffer)}"
            )
        return buffer[start : start + length]

    def _buffer(self, index: int) -> memoryview:
        if index not in self._loaded:
            part = self._buffers[index]
            if "uri" in part:
                buffer = self._fetch(part)
            elif index == 0 and self.binary is not None:
                buffer = self.binary
            else:
                raise part.wrong("uri", "a URI, as the data are not in the file itself")
            length = part.whole("byteLength", least=1)
            if len(buffer) < length:
                raise self.source.error(f"{part.where} holds {len(buffer)} bytes, its byteLength says {length}")
            self._loaded[index] = buffer[:length]
        return self._loaded[index]

    def _fetch(self, part: Part) -> memoryview:
        uri = part.text("uri")
        if uri[:5].lower() == "data:":
            return memoryview(self._data_uri(part, uri))
        name = self._relative(part, unquote(uri))
        if self.source.companions is not None:
            return self._counted(name, lambda: self._that_came(part, uri, name))
        path = self._beside(part, name)
        if path == self.source.path.resolve():
            return memoryview(self.source.data)
        return self._counted(path, lambda: self._read(part, uri, path))

    def _that_came(self, part: Part, uri: str, name: str) -> bytes:
        """A file that came with this one: its name is all that a URI may say."""
        name = name.removeprefix("./")
        if "/" in name or "\\" in name:
            raise part.wrong("uri", "a data URI or the name of a file that came with this one")
        data = self.source.companion(name)
        if data is None:
            came = ", ".join(map(repr, self.source.companions or ())) or "none"
            raise self._missing(part, uri, f"not among the files that came with it ({came})")
        return data

    def _read(self, part: Part, uri: str, path: Path) -> bytes:
        try:
            return read_bytes(path, self.source.limits, unzip=False)
        except FileError as error:
            raise self._missing(part, uri, str(error).rpartition(": ")[2]) from None

    def _missing(self, part: Part, uri: str, reason: str) -> FormatError:
        shown = uri if len(uri) <= 60 else f"{uri[:57]}..."
        return self.source.error(f"{part.where}.uri: {shown!r}: {reason}, {BESIDE}")

    def _counted(self, where: Path | str, read: Callable[[], bytes]) -> memoryview:
        """Another file, which counts against the limit once, however many buffers it holds."""
        if where in self._files:
            return self._files[where]
        data = read()
        self.source.companion_bytes += len(data)
        if self.source.companion_bytes > self.source.limits.bytes:
            raise LimitError(self.source.path, f"its buffers hold more than the limit of {self.source.limits.bytes} "
                                               f"bytes; to allow it: limits=Limits(bytes=...)")  # fmt: skip
        self._files[where] = memoryview(data)
        return self._files[where]

    def _data_uri(self, part: Part, uri: str) -> bytes:
        head, comma, body = uri.partition(",")
        if not comma:
            raise part.wrong("uri", "'data:...;base64,' and the data")
        if not body.isascii():
            raise self.source.error(f"{part.where}.uri: data with characters beyond ASCII, expected base64 or %xx")
        if not head.lower().endswith(";base64"):
            return unquote_to_bytes(body)
        try:
            return base64.b64decode(unquote(body) if "%" in body else body, validate=True)
        except (binascii.Error, ValueError) as error:
            raise self.source.error(f"{part.where}.uri: damaged base64 data ({error})") from None

    def _relative(self, part: Part, name: str) -> str:
        """The name of an external buffer: neither of another place of the disk nor of the network."""
        if not name or _SCHEME.match(name) or name[0] in "/\\" or "\0" in name:
            raise part.wrong("uri", _EXPECTED)
        return name

    def _beside(self, part: Part, name: str) -> Path:
        """Its path: inside the folder of the file, links followed."""
        try:
            folder = self.source.path.resolve().parent
            path = (folder / name).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise self.source.error(f"{part.where}.uri cannot be followed ({error})") from None
        if not path.is_relative_to(folder):
            raise part.wrong("uri", _EXPECTED)
        return path


def open_container(source: Source) -> Container:
    """Takes a GLB or glTF file apart and checks its version."""
    if source.data.startswith(GLB_MAGIC):
        json_bytes, binary = _glb_chunks(source)
    else:
        json_bytes, binary = memoryview(source.data), None
    json = parse_json(source, json_bytes)
    asset = json.part("asset")
    if asset is None:
        raise json.wrong("asset", "an object with the version of glTF")
    version = asset.text("version")
    if not re.fullmatch(r"2\.\d+", version):
        raise asset.wrong("version", "'2.0'")
    if asset.text("minVersion", "2.0") != "2.0":
        raise asset.wrong("minVersion", "'2.0'")
    return Container(source, json, binary)


def _glb_chunks(source: Source) -> tuple[memoryview, memoryview | None]:
    data = memoryview(source.data)
    if len(data) < 20:
        raise source.error(f"a GLB of {len(data)} bytes, expected at least its header of 20", byte=len(data))
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise source.error(f"version {version} of GLB, expected 2", byte=4)
    if length > len(data):
        raise source.error(f"the header says {length} bytes, the file has {len(data)} (cut short?)", byte=8)
    if length < len(data):
        source.warn(f"{len(data) - length} bytes after the end of the GLB are ignored")
    chunks: dict[int, memoryview] = {}
    at = 12
    while at + 8 <= length:
        size, kind = struct.unpack_from("<II", data, at)
        if at + 8 + size > length:
            raise source.error(f"a chunk of {size} bytes, {length - at - 8} are left", byte=at)
        if at == 12 and kind != JSON_CHUNK:
            raise source.error(f"the first chunk is {kind:#010x}, expected JSON ({JSON_CHUNK:#010x})", byte=at + 4)
        chunks.setdefault(kind, data[at + 8 : at + 8 + size])
        at += 8 + size
    if JSON_CHUNK not in chunks:
        raise source.error("no JSON chunk", byte=12)
    return chunks[JSON_CHUNK], chunks.get(BINARY_CHUNK)
