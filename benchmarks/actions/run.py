"""Actions of 40 clips against labels that were written from strips before the rules: precision and recall by kind.

``python -m benchmarks.actions.run --clips`` also prints what is missed and what is found in error, clip by clip.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, get_args

from benchmarks.actions.choose import listed_clips
from benchmarks.measure import unmeasured_figures
from benchmarks.search.clips import is_data_present
from benchmarks.search.events import find_events
from benchmarks.search.more_events import find_more_events

import keypose as kp
from keypose.library.canonical import canonical_body
from keypose.swings.action_rules import ActionKind

LABELS = Path(__file__).with_name("labels.toml")
KINDS: tuple[str, ...] = get_args(ActionKind)
TOLERANCE_S = 0.2  # about the time between two poses of the strips
MIN_OVERLAP = 0.5  # of the shorter of the two spans
# Kinds of events found by geometry alone, and the kinds of actions that they are compared with.
EVENT_KINDS = {
    "kick": ("kick",),
    "flight": ("jump",),
    "crouch": ("crouch", "sit"),
    "spin": ("turn left", "turn right"),
    "bow": ("bend",),
    "arm_overhead": ("raise",),
}


@dataclass(frozen=True)
class Label:
    """What a person sees; one of ``kinds`` by one of ``limbs``, empty for the whole body."""

    kinds: tuple[str, ...]
    limbs: tuple[str, ...]
    start_s: float
    end_s: float
    is_optional: bool

    def overlap_s(self, start_s: float, end_s: float) -> float:
        """Return how long a span overlaps with this one, widened by the tolerance; 0 if by too little."""
        common = min(self.end_s + TOLERANCE_S, end_s) - max(self.start_s - TOLERANCE_S, start_s)
        return common if common >= MIN_OVERLAP * min(end_s - start_s, self.end_s - self.start_s) else 0.0


class Prediction(NamedTuple):
    """One action of one limb, or of the whole body."""

    kind: str
    limb: str
    start_s: float
    end_s: float


class Result(NamedTuple):
    """Counts by kind: found and labelled, found in error, missed; and lines about the last two."""

    hits: Counter[str]
    errors: Counter[str]
    misses: Counter[str]
    lines: list[str]


def run() -> dict[str, float]:
    if not is_data_present():
        print("   NOT MEASURED: the clips are absent, set KEYPOSE_TEST_DATA")
        return unmeasured_figures("actions")
    labels = read_labels()
    totals = {way: Result(Counter(), Counter(), Counter(), []) for way in ("capture", "swings")}
    events: dict[str, list[int]] = {kind: [0, 0, 0, 0] for kind in EVENT_KINDS}
    for clip in listed_clips():
        motion = clip.motion()
        swings = kp.swings(motion)
        for way, total in totals.items():
            result = compare(labels[clip.name], predict(swings.actions(motion if way == "capture" else None)))
            total.hits.update(result.hits)
            total.errors.update(result.errors)
            total.misses.update(result.misses)
            total.lines.extend(f"{clip.name} {line}" for line in result.lines)
        compare_events(labels[clip.name], motion, events)
    if "--clips" in sys.argv:
        print("\n".join(sorted(totals["capture"].lines)))
    print(f"\n   {'':<12}{'labelled':>9}   {'on the capture':^18}   {'on played swings':^18}")
    print(f"   {'':<12}{'':>9}   {'precision   recall':>18}   {'precision   recall':>18}")
    required = [label for each in labels.values() for label in each if not label.is_optional]
    for kind in (*KINDS, "all"):
        print_row(kind, sum(kind == "all" or kind in label.kinds for label in required), totals)
    print("\n   events found by geometry alone, by any overlap in time:")
    print(f"   {'event':<14}{'compared with':<24}{'precision':>10}{'recall':>8}")
    for kind, (n_hits, n_events, n_found, n_labels) in events.items():
        names = " ".join(EVENT_KINDS[kind])
        print(f"   {kind:<14}{names:<24}{format_share(n_hits, n_events):>10}{format_share(n_found, n_labels):>8}")
    figures = {}
    for way, total in totals.items():
        n_hits = total.hits.total()
        figures[f"precision_{way}"] = n_hits / (n_hits + total.errors.total())
        figures[f"recall_{way}"] = n_hits / (n_hits + total.misses.total())
    return figures


def read_labels() -> dict[str, list[Label]]:
    """Return the labels by the name of the clip; those of both arms twice, one for each."""
    labels: dict[str, list[Label]] = {}
    for name, rows in tomllib.loads(LABELS.read_text()).items():
        labels[name] = []
        for kinds, who, start_s, end_s, *doubt in rows:
            limbs = [("left arm",), ("right arm",)] if who == "both arms" else [tuple(filter(None, who.split("|")))]
            labels[name] += [Label(tuple(kinds.split("|")), each, start_s, end_s, bool(doubt)) for each in limbs]
    return labels


def predict(actions: kp.Actions) -> list[Prediction]:
    """Return the named actions."""
    return [
        Prediction(action.kind, action.limbs[0] if action.limbs else "", action.start_s, action.end_s)
        for action in actions.components
    ]


def compare(labels: Sequence[Label], predictions: Sequence[Prediction]) -> Result:
    """Match each label with at most one prediction, the longest overlaps first."""
    pairs = sorted(
        (-label.overlap_s(found.start_s, found.end_s), n, k)
        for n, label in enumerate(labels)
        for k, found in enumerate(predictions)
        if not label.is_optional and fits(label, found)
    )
    matched_labels: dict[int, int] = {}
    matched: set[int] = set()
    for _, n, k in pairs:
        if n not in matched_labels and k not in matched:
            matched_labels[n] = k
            matched.add(k)
    result = Result(Counter(), Counter(), Counter(), [])
    for n, label in enumerate(labels):
        if n in matched_labels:
            result.hits[predictions[matched_labels[n]].kind] += 1
        elif not label.is_optional:
            result.misses[label.kinds[0]] += 1
            result.lines.append(f"{label.start_s:5.2f} missed: {'|'.join(label.kinds)} {'|'.join(label.limbs)}")
    for k, found in enumerate(predictions):
        if k in matched or any(label.is_optional and fits(label, found) for label in labels):
            continue
        if found.kind == "swing" and any(
            "step" in label.kinds and label.overlap_s(found.start_s, found.end_s) > 0 for label in labels
        ):
            continue  # labels do not list arms that swing along with steps
        result.errors[found.kind] += 1
        result.lines.append(f"{found.start_s:5.2f} in error: {found.kind} {found.limb} to {found.end_s:.2f}")
    return result


def fits(label: Label, found: Prediction) -> bool:
    """Return whether a prediction may be what the label means."""
    return (
        found.kind in label.kinds
        and (found.limb in label.limbs if label.limbs else not found.limb)
        and label.overlap_s(found.start_s, found.end_s) > 0
    )


def compare_events(labels: Sequence[Label], motion: kp.Motion, counts: dict[str, list[int]]) -> None:
    """Add to the counts of each kind of event: events with a label, events, labels with an event, labels."""
    body = canonical_body(motion)
    events = (*find_events(motion), *(find_more_events(body) if body is not None else ()))
    for kind, actions in EVENT_KINDS.items():
        of_label = [label for label in labels if not set(label.kinds).isdisjoint(actions)]
        spans = [(event.start_s, event.end_s) for event in events if event.kind == kind]
        required = [label for label in of_label if not label.is_optional]
        judged = [
            span
            for span in spans
            if touches(required, *span) or not touches([label for label in of_label if label.is_optional], *span)
        ]
        counts[kind][0] += sum(touches(required, *span) for span in judged)
        counts[kind][1] += len(judged)
        counts[kind][2] += sum(any(touches([label], *span) for span in spans) for label in required)
        counts[kind][3] += len(required)


def touches(labels: Sequence[Label], start_s: float, end_s: float) -> bool:
    """Return whether a span overlaps with a label, widened by the tolerance."""
    return any(label.start_s - TOLERANCE_S < end_s and start_s < label.end_s + TOLERANCE_S for label in labels)


def print_row(kind: str, n_labels: int, totals: dict[str, Result]) -> None:
    columns = []
    for total in totals.values():
        hits, errors, misses = (
            counts.total() if kind == "all" else counts[kind] for counts in (total.hits, total.errors, total.misses)
        )
        columns.append(f"{format_share(hits, hits + errors):>9}{format_share(hits, hits + misses):>9}")
    print(f"   {kind:<12}{n_labels:>9}   {columns[0]}   {columns[1]}")


def format_share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "-"


if __name__ == "__main__":
    print(run())
