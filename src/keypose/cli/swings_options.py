"""Parse and check the options of ``keypose swings``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from keypose.cli import argv
from keypose.cli.exit_codes import UsageError
from keypose.cli.option_parsers import parse_names

if TYPE_CHECKING:
    from keypose.batch.swing_edit import EditStep, SwingEditJob

# Each edit and its value besides joints; edits are applied in command line order.
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
# Edits of whole joints instead of single swings, with the filters that they accept.
JOINT_EDITS: dict[str, tuple[str, ...]] = {"--intensify": (), "--retime": ("from_s", "to_s")}


def parse_steps(texts_by_option: Mapping[str, Sequence[str]]) -> tuple[EditStep, ...]:
    """Return the edits in command line order; ``texts_by_option`` has the values of each option."""
    from keypose.batch.swing_edit import EditStep

    remaining = {option: list(texts) for option, texts in texts_by_option.items()}
    counts = {option: len(texts) for option, texts in remaining.items() if texts}
    order = argv.option_order(EDITS)
    if {option: order.count(option) for option in order} != counts:  # not called from a command line
        order = [option for option, count in counts.items() for _ in range(count)]
    steps = []
    for option in order:
        text = remaining[option].pop(0)
        joints, amount = _parse_edit(option, text)
        steps.append(EditStep(option[2:].replace("-", "_"), joints, amount, f"{option} {text}"))
    return tuple(steps)


def _parse_edit(option: str, text: str) -> tuple[tuple[str, ...], float | None]:
    """Parse ``right_leg,head=1.3`` into joints and a number."""
    amount_name = EDITS[option]
    if amount_name is None:
        return parse_names(option, [text]), None
    names, equals, number = text.rpartition("=")
    try:
        amount = float(number)
    except ValueError:
        amount = math.nan
    if option == "--retime" and not equals:
        names = "all"
    if not names or not math.isfinite(amount):
        alone = ", or FACTOR alone for all joints" if option == "--retime" else ""
        raise UsageError(f"{option} {text}: expected JOINTS={amount_name}, such as {EXAMPLES[amount_name]}{alone}")
    return parse_names(option, [names]), amount


def check_edits(steps: Sequence[EditStep], filters: Mapping[str, Any], out: str | None) -> None:
    """Raise UsageError if an edit has no output, or filters are given without an edit that accepts them."""
    if out == "":
        raise UsageError("-o is empty, expected a file or a folder; . is the current folder")
    if steps and out is None:
        raise UsageError(f"{steps[0].text}: where should the edited motion go? Expected -o OUT, such as -o edited.bvh")
    if not filters or out is None:
        return
    if not steps:
        option = option_flag(next(iter(filters)))
        raise UsageError(
            f"{option} says which swings an edit means: expected one, such as --scale right_leg=1.3; "
            f"without -o the swings that fit are listed"
        )
    for step in steps:
        option = step.text.split()[0]
        unused = [name for name in filters if name not in JOINT_EDITS.get(option, filters)]
        if unused:
            raise UsageError(
                f"{step.text}: takes all that a joint does, but {option_flag(unused[0])} means some swings; "
                f"expected {_alternative(option)}, such as --scale or --lengthen"
            )


def _alternative(option: str) -> str:
    times = " and ".join(option_flag(name) for name in JOINT_EDITS[option])
    return f"no more than {times}, or another edit" if times else "another edit"


def check_modes(
    *, sweep: bool, bounds: Mapping[str, float | None], options: Mapping[str, Any], others: Mapping[str, Any]
) -> None:
    """Raise UsageError for options that contradict each other. ``others`` are options that a sweep ignores."""
    given_bounds = {option: value for option, value in bounds.items() if value is not None}
    for option, value in given_bounds.items():
        if not 0 < value < math.inf:
            raise UsageError(f"{option} {value:g}: expected a number above 0")
    modes = [*(["--sweep"] if sweep else []), *given_bounds]
    if not modes:
        return
    automatic = ["threshold"] if sweep else ["threshold", "fallback", "fallback_deg"]
    unused = [*modes[1:], *(option_flag(name) for name in automatic if name in options)]
    unused += [option for option, is_set in others.items() if is_set] if sweep else []
    if unused:
        reason = "it shows all thresholds" if sweep else "it finds by itself what keeps within the bound"
        raise UsageError(f"{modes[0]} and {unused[0]} cannot both be meant: {reason}")


def check_output_options(out: str | None, *, view_options: Mapping[str, Any], write_options: Mapping[str, Any]) -> None:
    """Raise UsageError for write options without an output, and for view options with one."""
    for option, is_set in (view_options if out is not None else write_options).items():
        if is_set and out is None:
            raise UsageError(f"{option} is about what is written: expected -o OUT with it")
        if is_set:
            raise UsageError(f"{option} is about what is shown, and with -o a file is written: expected one of the two")


def drop_unset(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def parse_left_out(texts: Sequence[str]) -> tuple[str, ...] | None:
    """Parse ``hands,head`` into names and ``none`` into an empty tuple; None if the option is not given."""
    if not texts:
        return None
    names = parse_names("--left-out", texts)
    return () if names == ("none",) else names


def check_level(level: float) -> float:
    """Return ``level``; raise UsageError if it is not from 0 to 1."""
    if not 0 <= level <= 1:
        raise UsageError(f"--level {level:g}: expected a share from 0 to 1")
    return level


def option_flag(keyword: str) -> str:
    """Return the option of a keyword of ``find`` or ``swings``."""
    return f"--{keyword.replace('_', '-')}"


def check_detail(steps: Sequence[Any], *, no_detail: bool) -> None:
    """Raise UsageError if --no-detail is given without an edit."""
    if no_detail and not steps:
        raise UsageError("--no-detail says what is edited, but there is no edit, as --scale right_leg=1.3")


def check_level_of_edits(play_jobs: Iterable[SwingEditJob]) -> None:
    """Raise UsageError if --level is given for an edit on top of a whole capture."""
    for job in play_jobs:
        if job.level != 1 and job.over_capture:
            raise UsageError(
                f"--level plays fewer swings, but edits go on top of the whole capture {job.source}: add --no-detail"
            )
