"""Options are declared once, in keypose.options: functions, methods and the command line agree with it."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import pytest
from pydantic import BaseModel

import keypose as kp
import keypose.options
from keypose.api.swings import SwingKeywords
from keypose.clip_edit import ExportOptions, JointKeysSpec, KeysDraft, SelectionSpec
from keypose.limits import Limits
from keypose.methods import METHODS
from keypose.options import (
    CurveReductionOptions,
    ExtremesOptions,
    FeatureOptions,
    FittedKeyCountOptions,
    JobOptions,
    KeyCountOptions,
    LoadKeywords,
    LoadOptions,
    MethodOptions,
    Option,
    OutputOptions,
    RebakeOptions,
    SelectOptions,
    SwingBoundOptions,
    SwingEditOptions,
    SwingFilterOptions,
    SwingOptions,
    TipOptions,
    UnbakeOptions,
    declared_options,
    default_of,
)
from keypose.options.clip_edit import ClipKeyOptions, DetailOptions, OptionDescription
from keypose.options.compare import ComparisonOptions, DemoOptions
from keypose.options.library import (
    ClipSearchOptions,
    DescribeOptions,
    IngestOptions,
    ListFilterOptions,
    ListOptions,
    SearchOptions,
    SpanSearchOptions,
)
from keypose.options.pictures import (
    CurvePlotOptions,
    ErrorPlotOptions,
    PageOptions,
    PathPlotOptions,
    PngOptions,
    StripOptions,
    TimelineOptions,
)
from keypose.pictures.svg import Picture
from keypose.server.schema import clips as clip_schema
from keypose.server.schema import keys as key_schema

PACKAGE = Path(kp.__file__).parent
CLI = PACKAGE / "cli"
MAX_REPEATED_LINES = 5


@dataclass(frozen=True)
class Contract:
    """A function, the classes of its options, and parameters that are no options."""

    function: Callable[..., Any]
    classes: tuple[type[Any], ...] = ()
    others: tuple[str, ...] = ()  # the subject and the output
    missing: tuple[str, ...] = ()  # fields that it does not take
    other_types: Mapping[str, str] | None = None  # it accepts more than the command line can give
    described_by: Callable[..., Any] | None = None  # a function that takes the same options
    own_options: tuple[str, ...] = ()  # options of this function alone, which neither command line nor API has


JOINTS = {"joints": "JointNames | None"}
FEATURES = {**JOINTS, "features": "str | None"}
TAGS = {"tags": "Iterable[str]"}
SEARCH = {**TAGS, "joints": "str | Sequence[str] | None"}
LIMITS = {"limits": "Limits | None"}
ADD_TYPES = {**TAGS, "asf": "str | PathLike[str] | None"}
NOT_LIMITS = ("reference_pose", "asf", "gaps", "animation", "fps")
NO_METHOD = ("method", "max_keys")
CONTRACTS = {
    "balance": Contract(kp.balance, (), ("motion", "contacts")),
    "breakdowns": Contract(kp.breakdowns, (FeatureOptions,), ("motion", "extremes", "options"),
                           ("method", "joints", "weights", "features", "smoothing_s")),
    "compare": Contract(kp.compare, (ComparisonOptions,), ("motions", "frames", "jobs", "cache_folder", "on_clip"), (),
                        {"methods": "str | Sequence[str] | None", "removed_percent": "float | Sequence[float]",
                         "inbetweens": "str | Sequence[str]"}),
    "concatenate": Contract(kp.concatenate, (), ("motions",)),
    "find_capture_faults": Contract(kp.find_capture_faults, (), ("motion",)),
    "repair_capture": Contract(kp.repair_capture, (), ("motion",)),
    "demo_motion": Contract(kp.demo_motion, (DemoOptions,)),
    "edit": Contract(kp.edit, (), ("keyed",)),
    "farthest_search": Contract(kp.farthest_search, (FeatureOptions,), ("motion", "fps", "options"), NO_METHOD, FEATURES, described_by=kp.ladder),
    "ladder": Contract(kp.ladder, (FeatureOptions,), ("motion", "fps", "frames", "options"), (), FEATURES),
    "load": Contract(kp.load, (LoadOptions,), ("path",), (), {**LIMITS, "asf": "str | PathLike[str] | None"}),
    "load_keyed": Contract(kp.load_keyed, (LoadOptions,), ("path",), ("reference_pose", "asf", "gaps"), LIMITS),
    "load_swings": Contract(kp.load_swings, (LoadOptions,), ("path",), NOT_LIMITS, LIMITS, described_by=kp.load),
    "methods": Contract(kp.methods),
    "open_kps": Contract(kp.open_kps, (LoadOptions,), ("source",), NOT_LIMITS, LIMITS, described_by=kp.load),
    "plot_curves": Contract(kp.plot_curves, (CurvePlotOptions,), ("motion", "selection", "path", "reduced"), (),
                            {**JOINTS, "axes": "str | Iterable[str] | None"}, own_options=("sigma_s",)),
    "plot_path": Contract(kp.plot_path, (PathPlotOptions,), ("motion", "reduced", "path")),
    "plot_errors": Contract(kp.plot_errors, (ErrorPlotOptions,), ("ladders", "path", "chosen")),
    "rebake": Contract(kp.rebake, (RebakeOptions,), ("edited", "original_keyed")),
    "reduce_curves": Contract(kp.reduce_curves, (CurveReductionOptions,), ("times", "values", "names")),
    "refine_table": Contract(kp.refine_table, (FeatureOptions,), ("motion", "fps", "frames", "options"), NO_METHOD, FEATURES, described_by=kp.ladder),
    "report": Contract(kp.report, (FittedKeyCountOptions, PageOptions), ("motions", "path", "method", "progress", "options")),
    "save": Contract(kp.save, (OutputOptions,), ("motion", "path", "keyed", "swings", "overwrite"), (),
                     {"into": "str | PathLike[str] | None"}),
    "score": Contract(kp.score, (), ("original", "other")),
    "select": Contract(kp.select, (KeyCountOptions, ExtremesOptions, FeatureOptions), ("motion", "options"),
                       ("joints", "weights", "features", "smoothing_s")),
    "strip": Contract(kp.strip, (StripOptions,), ("motion", "selection", "path")),
    "swings": Contract(kp.swings, (SwingOptions,), ("motion",), (), {"left_out": "str | Sequence[str] | None"}),
    "swings_within": Contract(kp.swings_within, (SwingOptions, SwingBoundOptions),
                              ("motion", "translation_mm"),  # None: a share of the bound
                              ("threshold", "fallback", "fallback_deg", "translation_mm"),
                              {"left_out": "str | Sequence[str] | None"}, described_by=kp.swings,
                              own_options=("thresholds",)),
    "timeline": Contract(kp.timeline, (TimelineOptions,), ("swings", "path", "keys"), (), {**JOINTS, "actions": "bool | Actions"}),
    "tips_over": Contract(kp.tips_over, (TipOptions,), ("before", "after", "source")),
    "unbake": Contract(kp.unbake, (UnbakeOptions,), ("motion", "selection", "extremes", "options")),
    "Swings.find": Contract(kp.Swings.find, (SwingFilterOptions,), ("self", "joints")),
    "SwingEdit.scale": Contract(kp.SwingEdit.scale, (SwingEditOptions,), ("self", "targets", "factor", "about"), described_by=kp.SwingEdit),
    "SwingEdit.delete": Contract(kp.SwingEdit.delete, (SwingEditOptions,), ("self", "targets"), described_by=kp.SwingEdit),
    "Picture.save": Contract(Picture.save, (PngOptions,), ("self", "path")),
    "Picture.png": Contract(Picture.png, (PngOptions,), ("self",)),
    "Library.add": Contract(kp.Library.add, (IngestOptions, LoadOptions), ("self", "content", "name", "on_progress"),
                            ("limits",), ADD_TYPES),
    "Library.ingest": Contract(kp.Library.ingest, (IngestOptions, LoadOptions), ("self", "paths", "on_progress"),
                               ("limits",), ADD_TYPES, described_by=kp.Library.add),
    "Library.clips": Contract(kp.Library.clips, (ListOptions,), ("self",), (), TAGS),
    "Library.count": Contract(kp.Library.count, (ListFilterOptions,), ("self",), (), TAGS, described_by=kp.Library.clips),
    "Library.facets": Contract(kp.Library.facets, (ListFilterOptions,), ("self",), (), TAGS, described_by=kp.Library.clips),
    "Library.describe": Contract(kp.Library.describe, (DescribeOptions,), ("self", "clip")),
    "Library.rebuild": Contract(kp.Library.rebuild, (JobOptions,), ("self", "on_progress")),
    "Library.search": Contract(kp.Library.search, (ClipSearchOptions,), ("self", "query"), (), SEARCH),
    "Library.search_part": Contract(kp.Library.search_part, (SpanSearchOptions,), ("self", "query", "start", "end"),
                                    (), SEARCH),
    "Library.search_pose": Contract(kp.Library.search_pose, (SpanSearchOptions,),
                                    ("self", "query", "frame", "pose_vector"), (), SEARCH),
}  # fmt: skip
# Methods of Library whose parameters are a clip, names or a page of results, and no options that are shared.
LIBRARY_METHODS_WITHOUT_OPTIONS = {
    "actions", "clip", "clips_named", "close", "delete_draft", "draft", "empty_trash", "export", "get", "key_frames", "list_trash",
    "original", "pose_vector", "prepare_search", "remove", "rename", "restore", "retag", "save_draft", "stats", "strip",
    "swings", "tag", "tags", "trash", "untag", "verify",
}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function."""

    annotation: str
    type_: Any
    default: Any


def list_parameters(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the parameters by name."""
    hints = get_type_hints(function)
    return {
        name: Parameter(each.annotation, hints.get(name), each.default)
        for name, each in inspect.signature(function).parameters.items()
    }


def compare(contract: Contract) -> list[str]:
    """Return the differences between the parameters of a function and its options, in both directions."""
    parameters = {
        name: each
        for name, each in list_parameters(contract.function).items()
        if name not in (*contract.others, *contract.own_options)
    }
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
        parameter = parameters[name]
        if parameter.default != expected_default:
            differences.append(f"{name}={parameter.default!r}, expected {expected_default!r}")
        other_type = (contract.other_types or {}).get(name)
        if other_type is not None:
            if parameter.annotation != other_type:
                differences.append(f"{name}: {parameter.annotation}, expected {other_type}")
        elif parameter.type_ != type_:
            differences.append(f"{name}: {parameter.type_}, expected {type_}")
    return differences


def test_every_public_function_has_a_contract() -> None:
    functions = {name for name in kp.__all__ if inspect.isfunction(getattr(kp, name))}
    methods = {
        f"Library.{name}" for name, each in vars(kp.Library).items() if inspect.isfunction(each) and name[0] != "_"
    }
    assert functions <= CONTRACTS.keys()
    assert methods == {name for name in CONTRACTS if name.startswith("Library.")} | {
        f"Library.{name}" for name in LIBRARY_METHODS_WITHOUT_OPTIONS
    }


@pytest.mark.parametrize("name", CONTRACTS)
def test_functions_have_the_declared_options(name: str) -> None:
    assert compare(CONTRACTS[name]) == []


@pytest.mark.parametrize("name", CONTRACTS)
def test_functions_state_their_keywords(name: str) -> None:
    """Only the options of a selection method, which differ by method, are passed on without names."""
    parameters = inspect.signature(CONTRACTS[name].function).parameters.values()
    assert [each.annotation for each in parameters if each.kind is each.VAR_KEYWORD] in ([], ["Any"])


@pytest.mark.parametrize("name", CONTRACTS)
def test_docstrings_mention_every_parameter(name: str) -> None:
    contract = CONTRACTS[name]
    text = "".join(inspect.getdoc(each) or "" for each in (contract.function, contract.described_by) if each)
    if name.startswith("Library."):  # what several methods take is described once
        text += inspect.getdoc(kp.Library) or ""
    names = [each for each in list_parameters(contract.function) if each not in contract.others]
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
    [
        (SwingKeywords, SwingOptions, {"threshold", "fallback", "fallback_deg"}),
        (LoadKeywords, LoadOptions, {"limits"}),
    ],
)
def test_keywords_that_are_passed_on_are_those_of_the_options(
    keywords: type[Any], options: type[Any], missing: set[str]
) -> None:
    assert set(get_type_hints(keywords)) == {each.name for each in fields(options)} - missing


# Options that are no parameters of a public function: of methods, and of the clip page.
OTHER_CLASSES = {MethodOptions, SelectOptions, ClipKeyOptions, DetailOptions}
MODULES = [
    keypose.options,
    *(
        importlib.import_module(f"keypose.options.{each.name}")
        for each in pkgutil.iter_modules(keypose.options.__path__)
    ),
]
CLASSES = {
    cls
    for module in MODULES
    for cls in vars(module).values()
    if isinstance(cls, type)
    and is_dataclass(cls)
    and cls not in (Option, OptionDescription, Limits)
    and cls.__module__ == module.__name__
}


def test_every_class_of_options_has_a_user() -> None:
    used = {base for contract in CONTRACTS.values() for cls in contract.classes for base in cls.__mro__}
    assert CLASSES - used - OTHER_CLASSES - {SearchOptions} == set()
    assert set(SearchOptions.__mro__) >= {ClipSearchOptions, SpanSearchOptions}


def test_own_options_are_not_shared() -> None:
    own_names = [name for contract in CONTRACTS.values() for name in contract.own_options]
    models = {each for each in (*vars(clip_schema).values(), *vars(key_schema).values()) if isinstance(each, type)}
    shared_names = {each.name for cls in CLASSES for each in fields(cls)} | {
        name for model in models if issubclass(model, BaseModel) for name in model.model_fields
    }
    assert len(set(own_names)) == len(own_names)
    assert shared_names.isdisjoint(own_names)
    for name, contract in CONTRACTS.items():
        assert set(contract.own_options) <= list_parameters(contract.function).keys(), name


@pytest.mark.parametrize("cls", sorted(CLASSES, key=lambda cls: cls.__name__))
def test_every_option_has_help_a_default_and_a_range_that_holds_it(cls: type[Any]) -> None:
    for each in fields(cls):
        option = declared_options(cls)[each.name]
        default = getattr(cls(), each.name)
        for text in filter(None, (option.help, option.flag_help)):
            assert text[0].isupper()
            assert text.endswith((".", "..."))
        assert each.default is not MISSING or each.default_factory is not MISSING
        if isinstance(default, float):
            assert option.above is None or default > option.above
            assert option.min_value is None or default >= option.min_value
            assert option.max_value is None or default <= option.max_value


def test_help_texts_are_written_once() -> None:
    helps = {
        text
        for cls in CLASSES
        for each in declared_options(cls).values()
        for text in (each.help, each.flag_help)
        if text
    }
    repeated = [
        (path.name, node.value)
        for folder in ("cli", "server")
        for path in (PACKAGE / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in helps
    ]
    assert repeated == []


SCHEMAS: Mapping[type[BaseModel], tuple[type[Any], ...]] = {
    clip_schema.SearchRequest: (SearchOptions,),
    clip_schema.ListQuery: (ListOptions,),
    clip_schema.TrashQuery: (ListOptions,),
    key_schema.ComparisonQuery: (ClipKeyOptions,),
    key_schema.StripQuery: (StripOptions,),
    key_schema.PngStripQuery: (StripOptions,),
    key_schema.StripRequest: (StripOptions,),
}
# Pages have fewer rows than lists in Python; quick curves are not polished; some descriptions say more.
OTHER_DEFAULTS = {"limit", "polish", "tag"}
OTHER_DESCRIPTIONS = {"polish", "keys", "frames"}
OTHER_NAMES = {"text": "words", "tag": "tags"}


@pytest.mark.parametrize("model", SCHEMAS, ids=lambda model: model.__name__)
def test_the_api_takes_options_from_their_classes(model: type[BaseModel]) -> None:
    options = {name: (cls, option) for cls in SCHEMAS[model] for name, option in declared_options(cls).items()}
    shared = {
        name: options[OTHER_NAMES.get(name, name)]
        for name in model.model_fields
        if OTHER_NAMES.get(name, name) in options
    }
    assert shared
    for name, (cls, option) in shared.items():
        field = model.model_fields[name]
        default = getattr(cls(), OTHER_NAMES.get(name, name))
        if option in field.metadata:  # pydantic reads it as it is
            continue
        assert field.is_required() or name in OTHER_DEFAULTS or field.default == default, name
        assert name in OTHER_DESCRIPTIONS or field.description == option.help, name
        limits = {
            key: getattr(each, key) for each in field.metadata for key in ("gt", "ge", "le") if hasattr(each, key)
        }
        assert limits.get("gt") == option.above, name
        assert limits.get("ge") == option.min_value, name
        assert (
            limits.get("le", option.max_value) is None or option.max_value is None or limits["le"] <= option.max_value
        )


@pytest.mark.parametrize(
    ("cls", "classes"),
    [
        (SelectionSpec, (SelectOptions, ClipKeyOptions)),
        (ExportOptions, (UnbakeOptions, ClipKeyOptions, OutputOptions, StripOptions)),
        (KeysDraft, (UnbakeOptions, DetailOptions)),
        (JointKeysSpec, (SelectOptions, ClipKeyOptions)),
        (key_schema.SelectionRequest, (UnbakeOptions, ClipKeyOptions)),
        (key_schema.CurvesRequest, (UnbakeOptions, DetailOptions)),
        (key_schema.CurvePictureRequest, (CurvePlotOptions, UnbakeOptions)),
    ],
)
def test_edits_take_options_from_their_classes(cls: type[Any], classes: tuple[type[Any], ...]) -> None:
    """The API takes these classes as they are."""
    options = {name: (each, option) for each in classes for name, option in declared_options(each).items()}
    hints = get_type_hints(cls, include_extras=True)
    shared = {each.name: each for each in fields(cls) if each.name in options}
    assert len(shared) >= 5
    for name, field in shared.items():
        options_class, declared = options[name]
        option = next(each for each in hints[name].__metadata__ if isinstance(each, Option))
        assert option.bounds == declared.bounds
        assert name in OTHER_DESCRIPTIONS or option.help == declared.help
        assert field.default == default_of(options_class, name)


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
