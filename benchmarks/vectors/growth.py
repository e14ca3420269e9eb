"""Extrapolate measured growth to ten thousand hours."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.vectors.index_benchmark import N_INSERTED, SIGNS_CANDIDATE_FACTOR, IndexMeasurement, K, SignsMeasurement

from keypose.library.db.postgres_vectors import WIDTH

MACHINE_GB = 64  # memory available to an index


def format_table(
    measurements: Sequence[IndexMeasurement], n_vectors: int, signs: SignsMeasurement | None = None
) -> str:
    """Return the measurements as Markdown, with bytes and hours extrapolated linearly to ``n_vectors``.

    Query times are not extrapolated: only their growth between the last two tables is stated.
    """
    lines = [
        "| vectors | table | graph | rows by clip | fill | build | one of 200 more | recall@10 | query |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for measurement in measurements:
        query_stats = measurement.by_width[WIDTH]
        lines.append(
            f"| {measurement.count:,} | {measurement.table_bytes / 1e6:,.0f} MB | "
            f"{measurement.graph_bytes / 1e6:,.0f} MB | {measurement.rows_bytes / 1e6:,.0f} MB | "
            f"{measurement.fill_s:,.0f} s | {measurement.build_s:,.0f} s | {measurement.insert_ms:.1f} ms | "
            f"{query_stats.recall:.3f} | {query_stats.median_ms:.1f} ms |"
        )
    return "\n".join((*lines, "", *_format_extrapolation(measurements, n_vectors), *_format_signs(signs)))


def _format_extrapolation(measurements: Sequence[IndexMeasurement], n_vectors: int) -> list[str]:
    last = measurements[-1]
    factor = n_vectors / last.count
    graph, rows, index = (factor * size / 1e9 for size in (last.graph_bytes, last.table_bytes, last.rows_bytes))
    lines = [
        f"At {n_vectors / 1e6:,.0f} million vectors: graph {graph:,.0f} GB, table {rows:,.0f} GB, rows by clip "
        f"{index:,.0f} GB; {graph / MACHINE_GB:.1f} machines with {MACHINE_GB} GB of memory for graphs alone.",
        f"Built in parts of {last.count:,}, each within memory: {factor * last.build_s / 3600:,.0f} hours on one "
        f"machine like this; put into graphs that are there, {N_INSERTED} at a time: "
        f"{n_vectors * last.insert_ms / 3.6e6:,.0f} hours.",
    ]
    if len(measurements) > 1:
        before = measurements[-2]
        lines.append(
            f"From {before.count:,} to {last.count:,} ({last.count / before.count:.0f} times) a query grew "
            f"{last.by_width[WIDTH].median_ms / before.by_width[WIDTH].median_ms:.2f} times, recall went from "
            f"{before.by_width[WIDTH].recall:.3f} to {last.by_width[WIDTH].recall:.3f}, "
            f"the build {last.build_s / before.build_s:.1f} times."
        )
    return lines


def _format_signs(signs: SignsMeasurement | None) -> list[str]:
    if signs is None:
        return []
    return [
        f"One bit for each number, at 100,000: graph {signs.graph_bytes / 1e6:,.0f} MB, built in "
        f"{signs.build_s:,.0f} s, recall@10 {signs.query_stats.recall:.3f} after "
        f"{SIGNS_CANDIDATE_FACTOR * K} candidates were compared in full, {signs.query_stats.median_ms:.1f} ms."
    ]
