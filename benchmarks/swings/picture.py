"""The sweep of the threshold as a picture, beside what the thesis says of its Figure 18."""

from __future__ import annotations

import numpy as np
from benchmarks.swings.plot import Curve, Mark, Note, Panel, svg

from keypose.verbs import Sweep

PLAIN, KEYED, THESIS, CLIP = "#1f5fa8", "#c2571a", "#222222", "#8fa9c8"
THESIS_ERROR = 25.5


def draw(plain: list[Sweep], keyed: list[Sweep], threshold: float) -> str:
    """SVG: above, mean errors without and with keys, each clip's own thinly; below, mean sizes."""
    at = [row.threshold for row in plain[0]]
    errors, errors_with = (_table(some, "error_deg").mean(axis=0) for some in (plain, keyed))
    sizes, sizes_with = (_table(some, "bytes").mean(axis=0) for some in (plain, keyed))
    one = sizes[at.index(threshold)]
    least = int(np.argmin(errors))

    def over(values: np.ndarray) -> list[tuple[float, float]]:
        return list(zip(at, values.tolist(), strict=True))

    each = [Curve(over(row), CLIP, 0.8, opacity=0.7) for row in _table(plain, "error_deg")]
    right = at[-1]
    error = Panel(
        f"Error, degrees (mean of {len(plain)} clips; thin: each clip)",
        300.0,
        range(0, 141, 20),
        [*each, Curve(over(errors), PLAIN, 2.4, dots=True), Curve(over(errors_with), KEYED, 2.4, dots=True)],
        [Mark(at[least], float(errors[least]), PLAIN, "ring"), Mark(threshold, THESIS_ERROR, THESIS, "diamond")],
        [
            Note(threshold, THESIS_ERROR, f"thesis, 50 motions: {THESIS_ERROR:g} at {threshold:g}", THESIS, 34, -142,
                 leads=True),
            Note(at[least], errors[least], f"least: {errors[least]:.1f} at {at[least]:g}", PLAIN, 20, -174, leads=True),
            Note(right, errors[-1], "swings", PLAIN, -4, 30, "end"),
            Note(right, errors_with[-1], f"swings and keys: {errors_with[at.index(threshold)]:.1f} at {threshold:g}",
                 KEYED, -4, -10, "end"),
        ],
    )  # fmt: skip
    size = Panel(
        f"Packed size, in units of that of swings at {threshold:g}",
        110.0,
        (0.85, 0.9, 0.95, 1.0, 1.05),
        [Curve(over(sizes / one), PLAIN, 2.4, dots=True), Curve(over(sizes_with / one), KEYED, 2.4, dots=True)],
        notes=[
            Note(right, sizes[-1] / one, "swings", PLAIN, -4, -10, "end"),
            Note(right, sizes_with[-1] / one, "swings and keys", KEYED, -4, 18, "end"),
        ],
        decimals=2,
    )
    return svg([error, size], (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0), "acceptable swing error, radians")


def _table(sweeps: list[Sweep], what: str) -> np.ndarray:
    """(clips, thresholds)."""
    return np.array([[getattr(row, what) for row in rows] for rows in sweeps])
