"""Options are declared once, in keypose.options: functions, methods and the command line agree with it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import pytest

import keypose as kp
from keypose.api.swings import SwingKeywords
from keypose.limits import Limits
from keypose.methods import METHODS
from keypose.options import (
    ClipFilterOptions,
    CurveOptions,
    FeatureOptions,
    FittedKeyCountOptions,
    KeyCountOptions,
    LoadKeywords,
    LoadOptions,
    MethodOptions,
    Option,
    SwingBoundOptions,
    SwingFilterOptions,
    SwingOptions,
    declared_options,
)

CLI = Path(kp.__file__).parent / "cli"
MAX_REPEATED_LINES = 5


@dataclass(frozen=True)
class Contract:
    """A function, the classes of its options, and parameters that are no options."""

    function: Callable[..., Any]
    classes: tuple[type[Any], ...]
    others: tuple[str, ...] = ()  # the subject, the output, and options of this function alone
    missing: tuple[str, ...] = ()  # fields that it does not take
    other_types: Mapping[str, str] | None = None  # it accepts more than the command line can give


JOINTS = {"joints": "JointNames | None"}
CONTRACTS = {
    "load": Contract(kp.load, (LoadOptions,), ("path",), other_types={"asf": "str | PathLike[str] | None", "limits": "Limits | None"}),
    "load_keyed": Contract(kp.load_keyed, (LoadOptions,), ("path",), ("reference_pose", "asf", "gaps"), {"limits": "Limits | None"}),
    "ladder": Contract(kp.ladder, (FeatureOptions,), ("motion", "fps", "frames", "options"), (),
                       {**JOINTS, "features": "str | None"}),
    "select": Contract(kp.select, (KeyCountOptions, FeatureOptions), ("motion", "options"),
                       ("joints", "weights", "features", "smoothing_s")),
    "unbake": Contract(kp.unbake, (FittedKeyCountOptions, CurveOptions),
                       ("motion", "selection", "residual", "extremes", "max_keys", "threads", "options")),
    "swings": Contract(kp.swings, (SwingOptions,), ("motion",), (), {"left_out": "str | Sequence[str] | None"}),
    "swings_within": Contract(kp.swings_within, (SwingBoundOptions,), ("motion", "thresholds", "options")),
    "Swings.find": Contract(kp.Swings.find, (SwingFilterOptions,), ("self", "joints")),
    "report": Contract(kp.report, (FittedKeyCountOptions,), ("motions", "path", "method", "title", "progress", "options")),
    "Library.clips": Contract(kp.Library.clips, (ClipFilterOptions,),
                              ("self", "skeleton", "body_part", "sort", "limit", "skip"), (), {"tags": "Iterable[str]"}),
}  # fmt: skip


def compare(contract: Contract) -> list[str]:
    """Return the differences between the parameters of a function and its options, in both directions."""
    parameters = {
        name: each
        for name, each in inspect.signature(contract.function).parameters.items()
        if name not in contract.others
    }
    hints = get_type_hints(contract.function)
    differences = []
    options: dict[str, tuple[Any, Any]] = {}
    for cls in contract.classes:
        types = get_type_hints(cls)
        defaults = cls()
        options |= {each.name: (types[each.name], getattr(defaults, each.name)) for each in fields(cls)}
    for name in contract.missing:
        if name in parameters:
            differences.append(f"{name} is a parameter, but listed as missing")
        del options[name]
    differences += [f"{name} is no parameter" for name in options if name not in parameters]
    differences += [f"{name} is no option" for name in parameters if name not in options]
    for name in parameters.keys() & options.keys():
        type_, default = options[name]
        expected_default = None if isinstance(default, Limits) else default
        if parameters[name].default != expected_default:
            differences.append(f"{name}={parameters[name].default!r}, expected {expected_default!r}")
        other_type = (contract.other_types or {}).get(name)
        if other_type is not None:
            if parameters[name].annotation != other_type:
                differences.append(f"{name}: {parameters[name].annotation}, expected {other_type}")
        elif hints[name] != type_:
            differences.append(f"{name}: {hints[name]}, expected {type_}")
    return differences


@pytest.mark.parametrize("name", CONTRACTS)
def test_functions_have_the_declared_options(name: str) -> None:
    assert compare(CONTRACTS[name]) == []


@pytest.mark.parametrize("name", CONTRACTS)
def test_docstrings_mention_every_parameter(name: str) -> None:
    contract = CONTRACTS[name]
    text = inspect.getdoc(contract.function) or ""
    names = [each for each in inspect.signature(contract.function).parameters if each not in contract.others]
    assert [each for each in names if not re.search(rf"\b{each}\b", text)] == []


def test_a_difference_is_found() -> None:
    @dataclass(frozen=True)
    class Options:
        keys: Annotated[int | None, Option("Number of keys.")] = None
        width_px: Annotated[float, Option("Width.")] = 1.0
        loop: Annotated[bool, Option("A loop.")] = False

    def function(motion: object, keys: float | None = None, width_px: float = 2.0, extra: int = 0) -> None:
        """Do nothing."""

    assert sorted(compare(Contract(function, (Options,), ("motion",)))) == [
        "extra is no option",
        "keys: float | None, expected int | None",
        "loop is no parameter",
        "width_px=2.0, expected 1.0",
    ]


def test_method_options_belong_to_methods() -> None:
    names = {each.name for each in fields(MethodOptions)}
    assert names <= {name for method in METHODS.values() for name in method.options}


@pytest.mark.parametrize(
    ("keywords", "options", "missing"),
    [(LoadKeywords, LoadOptions, {"limits"}), (SwingKeywords, SwingOptions, {"threshold", "fallback", "fallback_deg"})],
)
def test_keywords_that_are_passed_on_are_those_of_the_options(
    keywords: type[Any], options: type[Any], missing: set[str]
) -> None:
    assert set(get_type_hints(keywords)) == {each.name for each in fields(options)} - missing


CLASSES = {cls for contract in CONTRACTS.values() for cls in contract.classes} | {MethodOptions}


@pytest.mark.parametrize("cls", sorted(CLASSES, key=lambda cls: cls.__name__))
def test_every_option_has_help_a_default_and_a_range_that_holds_it(cls: type[Any]) -> None:
    for each in fields(cls):
        option = declared_options(cls)[each.name]
        default = getattr(cls(), each.name)
        assert option.help[0].isupper()
        assert option.help.endswith(".")
        assert each.default is not MISSING or each.default_factory is not MISSING
        if isinstance(default, float):
            assert option.above is None or default > option.above
            assert option.min_value is None or default >= option.min_value
            assert option.max_value is None or default <= option.max_value


def find_repeated_declarations(sources: Iterable[str]) -> list[str]:
    """Return runs of more than MAX_REPEATED_LINES lines of option declarations that occur twice."""
    seen: set[str] = set()
    repeated = []
    for source in sources:
        lines = [re.sub(r"\s+", " ", line).strip() for line in source.splitlines()]
        for start in range(len(lines) - MAX_REPEATED_LINES):
            run = lines[start : start + MAX_REPEATED_LINES + 1]
            if (
                all(run)
                and sum(bool(re.match(r"\w+: ", line)) for line in run) >= 2
                and any("=" in line for line in run)
            ):
                text = "\n".join(run)
                if text in seen:
                    repeated.append(text)
                seen.add(text)
    return repeated


def test_no_block_of_declarations_stands_twice_in_the_command_line() -> None:
    assert find_repeated_declarations(path.read_text() for path in sorted(CLI.glob("*.py"))) == []


def test_a_repeated_block_is_found() -> None:
    block = "".join(f"    option_{n}: Option{n} = None,\n" for n in range(MAX_REPEATED_LINES + 1))
    assert len(find_repeated_declarations([f"def a(\n{block}) -> int:", f"def b(\n{block}) -> str:"])) == 1
    assert find_repeated_declarations([f"def a(\n{block}) -> int:"]) == []
