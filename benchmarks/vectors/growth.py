"""From measured growth to ten thousand hours."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.vectors.measuring import MORE_BY_SIGNS, N_MORE, K, Measured, Signs

from keypose.library.dialects.postgres_vectors import WIDTH

A_MACHINE_GB = 64  # of memory that an index may have


def table(found: Sequence[Measured], n_vectors: int, signs: Signs | None = None) -> str:
    """What was measured, and the bytes and hours of ``n_vectors`` if each takes as much as in the largest table.

    How long a query takes there is not worked out: only how it grew between the last two tables.
    """
    lines = [
        "| vectors | table | graph | rows by clip | fill | build | one of 200 more | recall@10 | query |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for got in found:
        asked = got.by_width[WIDTH]
        lines.append(
            f"| {got.count:,} | {got.table_bytes / 1e6:,.0f} MB | {got.graph_bytes / 1e6:,.0f} MB | "
            f"{got.rows_bytes / 1e6:,.0f} MB | {got.fill_s:,.0f} s | {got.build_s:,.0f} s | {got.insert_ms:.1f} ms | "
            f"{asked.recall:.3f} | {asked.middle_ms:.1f} ms |"
        )
    return "\n".join((*lines, "", *_worked_out(found, n_vectors), *_by_signs(signs)))


def _worked_out(found: Sequence[Measured], n_vectors: int) -> list[str]:
    last = found[-1]
    times = n_vectors / last.count
    graph, rows, index = (times * size / 1e9 for size in (last.graph_bytes, last.table_bytes, last.rows_bytes))
    lines = [
        f"At {n_vectors / 1e6:,.0f} million vectors: graph {graph:,.0f} GB, table {rows:,.0f} GB, rows by clip "
        f"{index:,.0f} GB; {graph / A_MACHINE_GB:.1f} machines with {A_MACHINE_GB} GB of memory for graphs alone.",
        f"Built in parts of {last.count:,}, each within memory: {times * last.build_s / 3600:,.0f} hours on one "
        f"machine like this; put into graphs that are there, {N_MORE} at a time: "
        f"{n_vectors * last.insert_ms / 3.6e6:,.0f} hours.",
    ]
    if len(found) > 1:
        before = found[-2]
        lines.append(
            f"From {before.count:,} to {last.count:,} ({last.count / before.count:.0f} times) a query grew "
            f"{last.by_width[WIDTH].middle_ms / before.by_width[WIDTH].middle_ms:.2f} times, recall went from "
            f"{before.by_width[WIDTH].recall:.3f} to {last.by_width[WIDTH].recall:.3f}, "
            f"the build {last.build_s / before.build_s:.1f} times."
        )
    return lines


def _by_signs(signs: Signs | None) -> list[str]:
    if signs is None:
        return []
    return [
        f"One bit for each number, at 100,000: graph {signs.graph_bytes / 1e6:,.0f} MB, built in "
        f"{signs.build_s:,.0f} s, recall@10 {signs.asked.recall:.3f} after {MORE_BY_SIGNS * K} candidates were "
        f"compared in full, {signs.asked.middle_ms:.1f} ms."
    ]
