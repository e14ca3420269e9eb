"""What is typed to find and edit swings, in the words of the library."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from keypose.cli import typed
from keypose.cli.exits import UsageError
from keypose.cli.keys_options import names_from

if TYPE_CHECKING:
    from keypose.batch.swings_edit import Playing, Step

# Each edit, and what it takes beside joints; edits are done in the order in which they are typed.
EDITS = {
    "--scale": "FACTOR",
    "--intensify": "FACTOR",
    "--set-angle": "DEGREES",
    "--shift": "SECONDS",
    "--lengthen": "FACTOR",
    "--retime": "FACTOR",
    "--delete": None,
    "--mirror-copy": None,
}
EXAMPLES = {"FACTOR": "right_leg=1.3", "DEGREES": "head=20", "SECONDS": "left_arm=-0.1"}
# Edits that take all that a joint does, not single swings; and what may be said of when.
OF_JOINTS: dict[str, tuple[str, ...]] = {"--intensify": (), "--retime": ("from_s", "to_s")}


def steps_from(given: Mapping[str, Sequence[str]]) -> tuple[Step, ...]:
    """The edits that were given, by option, in the order in which they were typed."""
    from keypose.batch.swings_edit import Step

    left = {option: list(texts) for option, texts in given.items()}
    counts = {option: len(texts) for option, texts in left.items() if texts}
    order = typed.order_of(EDITS)
    if {option: order.count(option) for option in order} != counts:  # not from a command line
        order = [option for option, count in counts.items() for _ in range(count)]
    steps = []
    for option in order:
        text = left[option].pop(0)
        joints, amount = _parts(option, text)
        steps.append(Step(option[2:].replace("-", "_"), joints, amount, f"{option} {text}"))
    return tuple(steps)


def _parts(option: str, text: str) -> tuple[tuple[str, ...], float | None]:
    """``right_leg,head=1.3`` as joints and a number."""
    takes = EDITS[option]
    if takes is None:
        return names_from(option, [text]), None
    names, equals, number = text.rpartition("=")
    try:
        amount = float(number)
    except ValueError:
        amount = math.nan
    if option == "--retime" and not equals:
        names = "all"
    if not names or not math.isfinite(amount):
        alone = ", or FACTOR alone for all joints" if option == "--retime" else ""
        raise UsageError(f"{option} {text}: expected JOINTS={takes}, such as {EXAMPLES[takes]}{alone}")
    return names_from(option, [names]), amount


def check_edits(steps: Sequence[Step], which: Mapping[str, Any], out: str | None) -> None:
    """That an edit goes somewhere, and that what is said of swings is said of an edit that takes swings."""
    if out == "":
        raise UsageError("-o is empty, expected a file or a folder; . is the current folder")
    if steps and out is None:
        raise UsageError(f"{steps[0].said}: where should the edited motion go? Expected -o OUT, such as -o edited.bvh")
    if not which or out is None:
        return
    if not steps:
        option = flag_of(next(iter(which)))
        raise UsageError(f"{option} says which swings an edit means: expected one, such as --scale right_leg=1.3; "
                         f"without -o the swings that fit are listed")  # fmt: skip
    for step in steps:
        option = step.said.split()[0]
        unused = [name for name in which if name not in OF_JOINTS.get(option, which)]
        if unused:
            raise UsageError(f"{step.said}: takes all that a joint does, but {flag_of(unused[0])} means some swings; "
                             f"expected {_instead(option)}, such as --scale or --lengthen")  # fmt: skip


def _instead(option: str) -> str:
    times = " and ".join(flag_of(name) for name in OF_JOINTS[option])
    return f"no more than {times}, or another edit" if times else "another edit"


def check_modes(
    *, sweep: bool, within: Mapping[str, float | None], options: Mapping[str, Any], others: Mapping[str, Any]
) -> None:
    """That no two options say the same in different ways. ``others`` are those that a sweep has no use for."""
    bounds = {option: value for option, value in within.items() if value is not None}
    for option, value in bounds.items():
        if not 0 < value < math.inf:
            raise UsageError(f"{option} {value:g}: expected a number above 0")
    ways = [*(["--sweep"] if sweep else []), *bounds]
    if not ways:
        return
    chosen_by_itself = ["threshold"] if sweep else ["threshold", "fallback", "fallback_deg"]
    unused = [*ways[1:], *(flag_of(name) for name in chosen_by_itself if name in options)]
    unused += [option for option, is_given in others.items() if is_given] if sweep else []
    if unused:
        why = "it shows all thresholds" if sweep else "it finds by itself what keeps within the bound"
        raise UsageError(f"{ways[0]} and {unused[0]} cannot both be meant: {why}")


def check_writing(out: str | None, *, showing: Mapping[str, Any], writing: Mapping[str, Any]) -> None:
    """That nothing is asked of what is written where nothing is, nor the other way round."""
    for option, is_given in (showing if out is not None else writing).items():
        if is_given and out is None:
            raise UsageError(f"{option} is about what is written: expected -o OUT with it")
        if is_given:
            raise UsageError(f"{option} is about what is shown, and with -o a file is written: expected one of the two")


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those about which something was said."""
    return {name: value for name, value in options.items() if value is not None}


def left_out_from(texts: Sequence[str]) -> tuple[str, ...] | None:
    """``hands,head`` as names, the word ``none`` as no joint; None where nothing was said."""
    if not texts:
        return None
    names = names_from("--left-out", texts)
    return () if names == ("none",) else names


def level_from(level: float) -> float:
    """A share of the swings."""
    if not 0 <= level <= 1:
        raise UsageError(f"--level {level:g}: expected a share from 0 to 1")
    return level


def flag_of(keyword: str) -> str:
    """The option that gives a keyword of ``find`` or ``swings``."""
    return f"--{keyword.replace('_', '-')}"


def check_detail(steps: Sequence[Any], *, no_detail: bool) -> None:
    """That --no-detail is said of an edit."""
    if no_detail and not steps:
        raise UsageError("--no-detail says what is edited, but there is no edit, as --scale right_leg=1.3")


def check_level(playing: Iterable[Playing]) -> None:
    """That no edit goes on top of a capture of which all is played, where fewer swings are wanted."""
    for job in playing:
        if job.level != 1 and job.over_capture:
            raise UsageError(f"--level plays fewer swings, but edits go on top of the whole capture {job.source}: "
                             f"add --no-detail")  # fmt: skip
