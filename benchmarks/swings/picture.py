"""Plot the threshold sweep, with the value that the thesis states for its Figure 18."""

from __future__ import annotations

import numpy as np
from benchmarks.swings.plot import Curve, Mark, Note, Panel, svg

from keypose.api.swings import Sweep

PLAIN, KEYED, THESIS, CLIP = "#1f5fa8", "#c2571a", "#222222", "#8fa9c8"
AS_THESIS = "#2b8a3e"
THESIS_ERROR = 25.5


def draw(plain: list[Sweep], keyed: list[Sweep], thesis_errors: list[float], threshold: float) -> str:
    """Return an SVG: mean errors without and with keys (thin lines: single clips) above mean sizes.

    ``thesis_errors`` are mean errors without keys and rests, by threshold.
    """
    thresholds = [row.threshold for row in plain[0]]
    errors, keyed_errors = (_column(some, "error_deg").mean(axis=0) for some in (plain, keyed))
    sizes, keyed_sizes = (_column(some, "bytes").mean(axis=0) for some in (plain, keyed))
    default_size = sizes[thresholds.index(threshold)]
    best = int(np.argmin(thesis_errors))

    def curve_points(values: np.ndarray) -> list[tuple[float, float]]:
        return list(zip(thresholds, values.tolist(), strict=True))

    clip_curves = [Curve(curve_points(row), CLIP, 0.8, opacity=0.7) for row in _column(plain, "error_deg")]
    right = thresholds[-1]
    error = Panel(
        f"Error, degrees (mean of {len(plain)} clips; thin: each clip)",
        300.0,
        range(0, 141, 20),
        [*clip_curves, Curve(curve_points(np.array(thesis_errors)), AS_THESIS, 2.4, dots=True),
         Curve(curve_points(errors), PLAIN, 2.4, dots=True),
         Curve(curve_points(keyed_errors), KEYED, 2.4, dots=True)],
        [Mark(thresholds[best], thesis_errors[best], AS_THESIS, "ring"),
         Mark(threshold, THESIS_ERROR, THESIS, "diamond")],
        [
            Note(threshold, THESIS_ERROR, f"thesis, 50 motions: {THESIS_ERROR:g} at {threshold:g}", THESIS, 34, -142,
                 has_leader=True),
            Note(thresholds[best], thesis_errors[best],
                 f"played as in the thesis, least: {thesis_errors[best]:.1f} at {thresholds[best]:g}", AS_THESIS,
                 20, -174, has_leader=True),
            Note(right, errors[-1], f"swings and rests: {errors[thresholds.index(threshold)]:.1f} at {threshold:g}",
                 PLAIN, -4, 30, "end"),
            Note(right, keyed_errors[-1],
                 f"swings and keys: {keyed_errors[thresholds.index(threshold)]:.1f} at {threshold:g}",
                 KEYED, -4, -10, "end"),
        ],
    )  # fmt: skip
    size = Panel(
        f"Packed size, in units of that of swings at {threshold:g}",
        110.0,
        (0.85, 0.9, 0.95, 1.0, 1.05),
        [
            Curve(curve_points(sizes / default_size), PLAIN, 2.4, dots=True),
            Curve(curve_points(keyed_sizes / default_size), KEYED, 2.4, dots=True),
        ],
        notes=[
            Note(right, sizes[-1] / default_size, "swings", PLAIN, -4, 18, "end"),
            Note(right, keyed_sizes[-1] / default_size, "swings and keys", KEYED, -4, -10, "end"),
        ],
        decimals=2,
    )
    return svg([error, size], (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0), "acceptable swing error, radians")


def _column(sweeps: list[Sweep], name: str) -> np.ndarray:
    """Return a column of the sweeps as an array (clips, thresholds)."""
    return np.array([[getattr(row, name) for row in rows] for rows in sweeps])
