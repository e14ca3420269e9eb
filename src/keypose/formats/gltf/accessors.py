"""Accessors: typed arrays in the buffers of a glTF file, strided, sparse or normalised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.errors import LimitError
from keypose.formats.base import SMALL_MOTION_BYTES
from keypose.formats.document import Part
from keypose.formats.gltf.container import Container

FLOAT = 5126
COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", FLOAT: "<f4"}
NORMALISED_BY = {5120: 127.0, 5121: 255.0, 5122: 32767.0, 5123: 65535.0}
INDEX_TYPES = (5121, 5123, 5125)
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


@dataclass
class Accessors:
    """Decodes accessors, in all no more than the limits allow for a file of this size."""

    container: Container

    def __post_init__(self) -> None:
        self._parts = self.container.json.parts("accessors")
        self._decoded_bytes = 0

    def __len__(self) -> int:
        return len(self._parts)

    def floats(self, index: int, kind: str, *, only_floats: bool = False) -> Floats:
        """The values (count, width of ``kind``) of one accessor, all finite; a SCALAR one is (count, 1)."""
        part = self._parts[index]
        if part.text("type") != kind:
            raise part.wrong("type", repr(kind))
        component = part.whole("componentType")
        if component not in COMPONENTS or (only_floats and component != FLOAT):
            raise part.wrong("componentType", f"{FLOAT} (float)" if only_floats else f"one of {sorted(COMPONENTS)}")
        count, width = part.whole("count", least=1), WIDTHS[kind]
        if "bufferView" in part:
            raw = self._elements(part, component, count, width, strided=True)
            self._account(part, count * width * 8)
        else:
            self._account(part, count * width * 8)
            raw = np.zeros((count, width), COMPONENTS[component])
        sparse = part.part("sparse")
        if sparse is not None:
            raw = self._with_sparse(sparse, raw, component)
        with np.errstate(invalid="ignore"):  # a NaN that signals; it is refused below
            values = raw.astype(np.float64)
        if part.values.get("normalized") is True and component in NORMALISED_BY:
            values = np.maximum(values / NORMALISED_BY[component], -1.0)
        finite = np.isfinite(values)
        if not finite.all():
            row = int(np.argmin(finite.all(axis=1)))
            raise part.source.error(f"{part.where}: {values[row].tolist()} at element {row}, expected finite numbers")
        return values

    def _elements(self, part: Part, component: int, count: int, width: int, *, strided: bool) -> NDArray[Any]:
        """``count`` elements of ``width`` components where ``part`` says, as a view into the buffer."""
        index = part.index("bufferView", len(self.container.views))
        view = self.container.view(index)
        dtype = np.dtype(COMPONENTS[component])
        size = dtype.itemsize * width
        stride = size
        if strided and "byteStride" in self.container.views[index]:
            stride = self.container.views[index].whole("byteStride", least=1)
            if not size <= stride <= 252:
                raise self.container.views[index].wrong("byteStride", f"{size} to 252")
        start = part.whole("byteOffset", 0)
        end = start + stride * (count - 1) + size
        if end > len(view):
            raise part.source.error(f"{part.where} reaches to byte {end} of a buffer view of {len(view)}")
        return np.ndarray((count, width), dtype, view, start, (stride, dtype.itemsize))

    def _with_sparse(self, sparse: Part, base: NDArray[Any], component: int) -> NDArray[Any]:
        """``base`` with the elements that ``sparse`` lists put in their places."""
        indices, values = sparse.part("indices"), sparse.part("values")
        count = sparse.whole("count", least=1)
        if indices is None or values is None or count > len(base):
            raise sparse.wrong("count", f"at most {len(base)} with indices and values")
        kind = indices.whole("componentType")
        if kind not in INDEX_TYPES:
            raise indices.wrong("componentType", f"one of {INDEX_TYPES}")
        places = self._elements(indices, kind, count, 1, strided=False)[:, 0].astype(np.int64)
        if places[-1] >= len(base) or (np.diff(places) <= 0).any():
            raise sparse.source.error(f"{indices.where}: not increasing from 0 to {len(base) - 1}")
        filled = base.copy()
        filled[places] = self._elements(values, component, count, base.shape[1], strided=False)
        return filled

    def _account(self, part: Part, size: int) -> None:
        """Refuses files whose accessors unfold one piece of data, or none at all, over and over."""
        source = part.source
        self._decoded_bytes += size
        allowed = max(SMALL_MOTION_BYTES, source.limits.expansion * source.total_bytes)
        if self._decoded_bytes > allowed:
            raise LimitError(
                source.path,
                f"{part.where}: the accessors need {self._decoded_bytes >> 20} MB, more than "
                f"{source.limits.expansion} times the file's own size; if the file is sound, raise it: "
                f"limits=Limits(expansion=...)",
            )
