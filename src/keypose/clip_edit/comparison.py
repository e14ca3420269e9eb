"""Compare selection methods on one clip."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from keypose.clip_edit.clip_editor import ClipEditor, FittedCurves
from keypose.clip_edit.selection_spec import SelectionSpec
from keypose.validation import check_int


@dataclass(frozen=True, eq=False)
class MethodResult:
    """Keys of one method and curves through them."""

    method: str
    frames: tuple[int, ...]
    curves: FittedCurves


def compare_methods(editor: ClipEditor, methods: Iterable[str], keys: int) -> tuple[MethodResult, ...]:
    """Return for each method its largest selection of up to ``keys`` keys, or else its smallest, with curves."""
    check_int("keys", keys, min_value=2)
    results = []
    for method in methods:
        ladder = editor.ladder_view(SelectionSpec(method=method)).ladder
        counts = [count for count in ladder.counts.tolist() if count <= keys] or ladder.counts.tolist()[:1]
        frames = tuple(ladder.at(counts[-1]).frames.tolist())
        results.append(MethodResult(method, frames, editor.fit_curves(frames)))
    return tuple(results)
