"""Accessors: typed arrays in the buffers of a glTF file, strided, sparse or normalised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.errors import LimitError
from keypose.formats.base import SMALL_MOTION_BYTES
from keypose.formats.gltf.container import Container
from keypose.formats.json_document import JsonObject

FLOAT = 5126
COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", FLOAT: "<f4"}
NORMALISED_BY = {5120: 127.0, 5121: 255.0, 5122: 32767.0, 5123: 65535.0}
INDEX_TYPES = (5121, 5123, 5125)
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


@dataclass
class Accessors:
    """Decodes accessors, in total at most what the limits allow for a file of this size."""

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
        with np.errstate(invalid="ignore"):  # a signalling NaN; it is refused below
            values = raw.astype(np.float64)
        if entry.values.get("normalized") is True and component in NORMALISED_BY:
            values = np.maximum(values / NORMALISED_BY[component], -1.0)
        finite = np.isfinite(values)
        if not finite.all():
            row = int(np.argmin(finite.all(axis=1)))
            raise entry.source.error(
                f"{entry.location}: {values[row].tolist()} at element {row}, expected finite numbers"
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
            raise entry.source.error(f"{entry.location} reaches to byte {end} of a buffer view of {len(view)}")
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
            raise sparse.source.error(f"{indices.location}: not increasing from 0 to {len(base) - 1}")
        result = base.copy()
        result[rows] = self._elements(values, component, count, base.shape[1], strided=False)
        return result

    def _charge_memory(self, entry: JsonObject, size: int) -> None:
        """Raise LimitError for files whose accessors decode the same data, or none at all, over and over."""
        source = entry.source
        self._decoded_bytes += size
        allowed_bytes = max(SMALL_MOTION_BYTES, source.limits.expansion * source.total_bytes)
        if self._decoded_bytes > allowed_bytes:
            raise LimitError(
                source.path,
                f"{entry.location}: the accessors need {self._decoded_bytes >> 20} MB, more than "
                f"{source.limits.expansion} times the file's own size; if the file is sound, raise it: "
                f"limits=Limits(expansion=...)",
            )
