"""The container of a glTF file: the chunks of a GLB, the JSON, the buffers, and the typed arrays in them."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard
from urllib.parse import unquote, unquote_to_bytes

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.errors import FileError, FormatError, LimitError, format_count
from keypose.formats.base import SMALL_MOTION_BYTES, Source, read_bytes
from keypose.formats.json_document import JsonObject, parse_json
from keypose.limits import limit_hint

GLB_MAGIC = b"glTF"
JSON_CHUNK, BINARY_CHUNK = 0x4E4F534A, 0x004E4942
_EXPECTED_URI = "a data URI or a file in the folder of this one"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")

FLOAT = 5126
COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", FLOAT: "<f4"}
NORMALISED_BY = {5120: 127.0, 5121: 255.0, 5122: 32767.0, 5123: 65535.0}
INDEX_TYPES = (5121, 5123, 5125)
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


@dataclass
class Container:
    """The JSON and buffers of a glTF file; buffers are loaded on first use."""

    source: Source
    json: JsonObject
    binary: memoryview | None  # the binary chunk of a GLB
    more_chunks: memoryview  # its other chunks, with their headers
    _buffer_data: dict[int, memoryview] = field(default_factory=dict)
    _files: dict[Path | str, memoryview] = field(default_factory=dict)  # other files, each read and counted once

    def __post_init__(self) -> None:
        self._buffers = self.json.objects("buffers")
        self.views = self.json.objects("bufferViews")

    def view(self, index: int) -> memoryview:
        """Return the bytes of one buffer view."""
        entry = self.views[index]
        extensions = entry.optional_object("extensions")
        if extensions is not None and any("compression" in name for name in extensions.values):
            raise self.source.error(
                f"{entry.location} is compressed ({', '.join(map(repr, extensions.values))[:80]})",
                code="unsupported",
                value=", ".join(extensions.values),
                expected="plain data: decompress the file first",
            )
        buffer = self._buffer(entry.index("buffer", len(self._buffers)))
        start, length = entry.integer("byteOffset", 0), entry.integer("byteLength", minimum=1)
        if start + length > len(buffer):
            raise self.source.error(
                f"{entry.location} takes bytes {start} to {start + length} of a buffer of {len(buffer)}",
                code="truncated",
                value=start + length,
            )
        return buffer[start : start + length]

    def _buffer(self, index: int) -> memoryview:
        if index not in self._buffer_data:
            entry = self._buffers[index]
            if "uri" in entry:
                buffer = self._load_buffer(entry)
            elif index == 0 and self.binary is not None:
                buffer = self.binary
            else:
                raise entry.member_error("uri", "a URI, as the data are not in the file itself")
            length = entry.integer("byteLength", minimum=1)
            if len(buffer) < length:
                raise self.source.error(
                    f"{entry.location} holds {format_count(len(buffer), 'byte')}, its byteLength says {length}",
                    code="truncated",
                    value=len(buffer),
                )
            self._buffer_data[index] = buffer[:length]
        return self._buffer_data[index]

    def _load_buffer(self, entry: JsonObject) -> memoryview:
        uri = entry.text("uri")
        if uri[:5].lower() == "data:":
            return memoryview(self._data_uri(entry, uri))
        name = self._check_relative(entry, unquote(uri))
        if self.source.companions is not None:
            return self._load_once(name, lambda: self._read_companion(entry, uri, name))
        path = self._resolve_path(entry, name)
        if path == self.source.path.resolve():
            return memoryview(self.source.data)
        return self._load_once(path, lambda: self._read_file(entry, uri, path))

    def _read_companion(self, entry: JsonObject, uri: str, name: str) -> bytes:
        """Return the content of a companion; the URI must be a plain file name."""
        name = name.removeprefix("./")
        if "/" in name or "\\" in name:
            raise entry.member_error("uri", "a data URI or the name of a file that came with this one")
        data = self.source.find_companion(name)
        if data is None:
            names = ", ".join(map(repr, self.source.companions or ())) or "none"
            raise self._missing_file_error(entry, uri, f"not among the files that came with it ({names})")
        return data

    def _read_file(self, entry: JsonObject, uri: str, path: Path) -> bytes:
        try:
            return read_bytes(path, self.source.limits, unzip=False)
        except FileError as error:
            raise self._missing_file_error(entry, uri, error.summary) from None

    def _missing_file_error(self, entry: JsonObject, uri: str, reason: str) -> FormatError:
        short_uri = uri if len(uri) <= 60 else f"{uri[:57]}..."
        return self.source.error(
            f"{short_uri!r}: {reason}",
            code="missing_buffer",
            subject=f"{entry.location}.uri",
            value=uri,
            expected="the file beside this one",
        )

    def _load_once(self, key: Path | str, read: Callable[[], bytes]) -> memoryview:
        """Load a file once, and count it once against the limit, however many buffers use it."""
        if key in self._files:
            return self._files[key]
        data = read()
        self.source.companion_bytes += len(data)
        if self.source.companion_bytes > self.source.limits.bytes:
            raise LimitError(
                self.source.path,
                f"its buffers hold more than the limit of {format_count(self.source.limits.bytes, 'byte')}",
                hint=limit_hint("bytes"),
            )
        self._files[key] = memoryview(data)
        return self._files[key]

    def _data_uri(self, entry: JsonObject, uri: str) -> bytes:
        head, comma, body = uri.partition(",")
        if not comma:
            raise entry.member_error("uri", "'data:...;base64,' and the data")
        if not body.isascii():
            raise self.source.error(
                f"{entry.location}.uri: data with characters beyond ASCII", code="damaged", expected="base64 or %xx"
            )
        if not head.lower().endswith(";base64"):
            return unquote_to_bytes(body)
        try:
            return base64.b64decode(unquote(body) if "%" in body else body, validate=True)
        except (binascii.Error, ValueError) as error:
            raise self.source.error(f"{entry.location}.uri: damaged base64 data ({error})", code="damaged") from None

    def _check_relative(self, entry: JsonObject, name: str) -> str:
        """Return the name of a buffer file; raise FormatError for absolute paths and URLs."""
        if not name or _SCHEME.match(name) or name[0] in "/\\" or "\0" in name:
            raise entry.member_error("uri", _EXPECTED_URI)
        return name

    def _resolve_path(self, entry: JsonObject, name: str) -> Path:
        """Return the path of a buffer file; raise FormatError if it leads outside the folder, links resolved."""
        try:
            folder = self.source.path.resolve().parent
            path = (folder / name).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise self.source.error(
                f"{entry.location}.uri cannot be followed ({error})", code="syntax", value=name
            ) from None
        if not path.is_relative_to(folder):
            raise entry.member_error("uri", _EXPECTED_URI)
        return path


def open_container(source: Source) -> Container:
    """Open a GLB or glTF file and check its version."""
    if source.data.startswith(GLB_MAGIC):
        json_bytes, binary, more_chunks = _glb_chunks(source)
    else:
        json_bytes, binary, more_chunks = memoryview(source.data), None, memoryview(b"")
    json = parse_json(source, json_bytes)
    asset = json.optional_object("asset")
    if asset is None:
        raise json.member_error("asset", "an object with the version of glTF")
    version = asset.text("version")
    if not re.fullmatch(r"2\.\d+", version):
        raise asset.member_error("version", "'2.0'")
    if asset.text("minVersion", "2.0") != "2.0":
        raise asset.member_error("minVersion", "'2.0'")
    return Container(source, json, binary, more_chunks)


def _glb_chunks(source: Source) -> tuple[memoryview, memoryview | None, memoryview]:
    """Return the JSON, the binary chunk, and the chunks after these."""
    data = memoryview(source.data)
    if len(data) < 20:
        raise source.error(
            f"a GLB of {format_count(len(data), 'byte')}",
            code="truncated",
            byte=len(data),
            expected="at least its header of 20",
        )
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise source.error(f"version {version} of GLB", code="unsupported", byte=4, expected="2")
    if length > len(data):
        raise source.error(
            f"the header says {format_count(length, 'byte')}, the file has {len(data)} (cut short?)",
            code="truncated",
            byte=8,
        )
    if length < len(data):
        surplus = len(data) - length
        source.warn(
            f"{format_count(surplus, 'byte')} after the end of the GLB {'is' if surplus == 1 else 'are'} ignored",
            code="extra_bytes",
            value=surplus,
        )
    chunks: dict[int, memoryview] = {}
    at = end = 12
    while at + 8 <= length:
        size, kind = struct.unpack_from("<II", data, at)
        if at + 8 + size > length:
            problem = f"a chunk of {size} bytes, {length - at - 8} are left"
            raise source.error(problem, code="truncated", byte=at, value=size)
        if at == 12 and kind != JSON_CHUNK:
            raise source.error(
                f"the first chunk is {kind:#010x}", code="syntax", byte=at + 4, expected=f"JSON ({JSON_CHUNK:#010x})"
            )
        if kind in (JSON_CHUNK, BINARY_CHUNK) and kind not in chunks:
            chunks[kind] = data[at + 8 : at + 8 + size]
            end = at + 8 + size
        at += 8 + size
    if JSON_CHUNK not in chunks:
        raise source.error("no JSON chunk", code="missing_data", byte=12)
    return chunks[JSON_CHUNK], chunks.get(BINARY_CHUNK), data[end:at]


@dataclass
class Accessors:
    """Decodes accessors; the limits determine their total size for a file of this size."""

    container: Container

    def __post_init__(self) -> None:
        self._entries = self.container.json.objects("accessors")
        self._decoded_bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def floats(self, index: int, kind: str, *, only_floats: bool = False) -> Floats:
        """Return the values (count, width of ``kind``) of one accessor, all finite; (count, 1) for SCALAR."""
        entry = self._entries[index]
        if entry.text("type") != kind:
            raise entry.member_error("type", repr(kind))
        component = entry.integer("componentType")
        if component not in COMPONENTS or (only_floats and component != FLOAT):
            raise entry.member_error(
                "componentType", f"{FLOAT} (float)" if only_floats else f"one of {sorted(COMPONENTS)}"
            )
        count, width = entry.integer("count", minimum=1), WIDTHS[kind]
        if "bufferView" in entry:
            raw = self._elements(entry, component, count, width, strided=True)
            self._charge_memory(entry, count * width * 8)
        else:
            self._charge_memory(entry, count * width * 8)
            raw = np.zeros((count, width), COMPONENTS[component])
        sparse = entry.optional_object("sparse")
        if sparse is not None:
            raw = self._apply_sparse(sparse, raw, component)
        with np.errstate(invalid="ignore"):  # a signalling NaN is refused below
            values = raw.astype(np.float64)
        if entry.values.get("normalized") is True and component in NORMALISED_BY:
            values = np.maximum(values / NORMALISED_BY[component], -1.0)
        finite = np.isfinite(values)
        if not finite.all():
            row = int(np.argmin(finite.all(axis=1)))
            raise entry.source.error(
                f"{values[row].tolist()} at element {row}",
                subject=entry.location,
                code="bad_number",
                expected="finite numbers",
            )
        return values

    def _elements(self, entry: JsonObject, component: int, count: int, width: int, *, strided: bool) -> NDArray[Any]:
        """Return ``count`` elements of ``width`` components at the location of ``entry``, as a view into the buffer."""
        index = entry.index("bufferView", len(self.container.views))
        view = self.container.view(index)
        dtype = np.dtype(COMPONENTS[component])
        size = dtype.itemsize * width
        stride = size
        if strided and "byteStride" in self.container.views[index]:
            stride = self.container.views[index].integer("byteStride", minimum=1)
            if not size <= stride <= 252:
                raise self.container.views[index].member_error("byteStride", f"{size} to 252")
        start = entry.integer("byteOffset", 0)
        end = start + stride * (count - 1) + size
        if end > len(view):
            raise entry.source.error(
                f"{entry.location} reaches to byte {end} of a buffer view of {len(view)}",
                code="truncated",
                value=end,
            )
        return np.ndarray((count, width), dtype, view, start, (stride, dtype.itemsize))

    def _apply_sparse(self, sparse: JsonObject, base: NDArray[Any], component: int) -> NDArray[Any]:
        """Return ``base`` with the elements of ``sparse`` replaced."""
        indices, values = sparse.optional_object("indices"), sparse.optional_object("values")
        count = sparse.integer("count", minimum=1)
        if indices is None or values is None or count > len(base):
            raise sparse.member_error("count", f"at most {len(base)} with indices and values")
        kind = indices.integer("componentType")
        if kind not in INDEX_TYPES:
            raise indices.member_error("componentType", f"one of {INDEX_TYPES}")
        rows = self._elements(indices, kind, count, 1, strided=False)[:, 0].astype(np.int64)
        if rows[-1] >= len(base) or (np.diff(rows) <= 0).any():
            raise sparse.source.error(
                f"not increasing from 0 to {len(base) - 1}", subject=indices.location, code="inconsistent"
            )
        result = base.copy()
        result[rows] = self._elements(values, component, count, base.shape[1], strided=False)
        return result

    def _charge_memory(self, entry: JsonObject, size: int) -> None:
        """Raise LimitError if accessors decode too much in total, as when many of them use the same data or none."""
        source = entry.source
        self._decoded_bytes += size
        allowed_bytes = max(SMALL_MOTION_BYTES, source.limits.expansion * source.total_bytes)
        if self._decoded_bytes > allowed_bytes:
            raise LimitError(
                source.path,
                f"{entry.location}: the accessors need {self._decoded_bytes >> 20} MB, "
                f"more than {source.limits.expansion} times the file's own size",
                hint=limit_hint("expansion"),
            )


def remove_data(document: dict[str, Any], binary: bytes, unused: set[int]) -> bytes:
    """Remove accessors and their views from the JSON of a GLB; return its binary chunk without their bytes.

    What anything else refers to stays. ``document`` may have only extensions whose references are known.
    """
    references = list(_accessor_references(document))
    n_accessors, n_views = len(document["accessors"]), len(document["bufferViews"])
    removed = sorted(k for k in unused - {table[key] for table, key in references} if k < n_accessors)
    old_parts = [part for k in removed for part in walk_objects(document["accessors"][k])]
    old_views = {view for part in old_parts if is_index(view := part.get("bufferView")) and view < n_views}
    document["accessors"] = _without(document["accessors"], removed)
    for table, key in references:
        table[key] -= bisect_left(removed, table[key])
    view_users = [part for part in walk_objects(document) if is_index(part.get("bufferView"))]
    removed_views = sorted(old_views - {part["bufferView"] for part in view_users})
    for part in view_users:
        part["bufferView"] -= bisect_left(removed_views, part["bufferView"])

    n_words = -(-len(binary) // 4)  # whole words, so that data stay aligned
    is_removed = np.zeros(n_words + 1, bool)
    for start, end in _byte_ranges(document["bufferViews"][k] for k in removed_views):
        is_removed[start // 4 : -(-end // 4)] = True
    document["bufferViews"] = _without(document["bufferViews"], removed_views)
    for start, end in _byte_ranges(document["bufferViews"]):
        is_removed[start // 4 : -(-end // 4)] = False
    n_removed = np.concatenate(([0], np.cumsum(is_removed)))
    for part in walk_objects(document["bufferViews"]):
        if part.get("buffer") == 0 and is_index(part.get("byteOffset")):
            part["byteOffset"] -= 4 * int(n_removed[min(part["byteOffset"] // 4, n_words)])
    words = np.frombuffer(binary + bytes(-len(binary) % 4), "<u4")
    return words[~is_removed[:-1]].tobytes()


def _accessor_references(document: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield all members of objects that are indices of accessors, each as an object and its key."""
    tables: list[tuple[Any, tuple[str, ...] | None]] = []  # the keys, None: all
    for mesh in list_objects(document.get("meshes")):
        for primitive in list_objects(mesh.get("primitives")):
            tables += [(primitive, ("indices",)), (primitive.get("attributes"), None)]
            tables += [(target, None) for target in list_objects(primitive.get("targets"))]
    tables += [(skin, ("inverseBindMatrices",)) for skin in list_objects(document.get("skins"))]
    for animation in list_objects(document.get("animations")):
        tables += [(sampler, ("input", "output")) for sampler in list_objects(animation.get("samplers"))]
    for node in list_objects(document.get("nodes")):
        for extension in list_objects([node.get("extensions")]):
            for instances in list_objects([extension.get("EXT_mesh_gpu_instancing")]):
                tables.append((instances.get("attributes"), None))
    for table, keys in tables:
        if isinstance(table, dict):
            yield from ((table, key) for key in (keys or tuple(table)) if is_index(table.get(key)))


def _byte_ranges(views: Iterable[dict[str, Any]]) -> list[tuple[int, int]]:
    """Return the first byte and the end of each range of the first buffer, also of compressed data."""
    return [
        (start, start + part["byteLength"])
        for view in views
        for part in walk_objects(view)
        if part.get("buffer") == 0 and is_index(part.get("byteLength")) and is_index(start := part.get("byteOffset", 0))
    ]


def _without(values: list[Any], removed: list[int]) -> list[Any]:
    indices = set(removed)
    return [value for k, value in enumerate(values) if k not in indices]


def walk_objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects in a member of the JSON but those in extras."""
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            yield part
            stack += [member for key, member in part.items() if key != "extras"]
        elif isinstance(part, list):
            stack += part


def list_objects(values: Any) -> list[dict[str, Any]]:
    """Return the objects in an array; none if it is no array."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def is_index(value: Any) -> TypeGuard[int]:
    """Return whether a member may be an index."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
