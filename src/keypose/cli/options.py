"""Options that several commands share, and functions that parse them."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from functools import wraps
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias, TypeVar, get_args, get_type_hints

from cyclopts import Parameter, Token

from keypose.batch import default_jobs
from keypose.batch.file_discovery import suggest_name
from keypose.cli.output import UsageError, conflict_error
from keypose.errors import FileError, OptionError
from keypose.limits import Limits
from keypose.methods import METHODS
from keypose.options import (
    PIN_WORDS,
    JobOptions,
    KeyCountOptions,
    LoadOptions,
    MethodOptions,
    Option,
    OutputOptions,
    check_option_int,
    check_option_number,
    declared_options,
)
from keypose.validation import check_regular_file

if TYPE_CHECKING:
    from keypose.methods import Method


CHARACTER = "a character in a .glb file"  # that --into expects


def parse_whole_number(_: Any, tokens: Sequence[Token]) -> int:
    """Parse an int; raise UsageError for a fraction, which cyclopts rounds."""
    (token,) = tokens
    if not re.fullmatch(r"[+-]?[0-9]+", token.value):
        raise UsageError(option=token.keyword, value=token.value, expected="a whole number")
    return int(token.value)


WholeNumber = Annotated[int | None, Parameter(converter=parse_whole_number)]
Jobs = Annotated[WholeNumber, Parameter(alias="-j", help=declared_options(JobOptions)["jobs"].help)]
Range = Annotated[
    str | None,
    Parameter(name="--range", help="Only these frames, START:END as numbered by info, END not included."),
]
ResampleFps = Annotated[
    float | None, Parameter(name="--fps", help="Resample the capture to this frame rate first. Default: unchanged.")
]
Files = Annotated[str, Parameter(help="Motion files, folders of them, or patterns in quotes.")]
OpenPage = Annotated[
    bool, Parameter(name="--open", negative="", help="Show the page in the browser when it is written.")
]
OverwritePage = Annotated[
    bool, Parameter(negative="--no-overwrite", help="Replace the page if it exists. Default: refuse.")
]
OverwritePicture = Annotated[
    bool, Parameter(negative="--no-overwrite", help="Replace the picture if it exists. Default: refuse.")
]
Repair = Annotated[
    bool,
    Parameter(
        negative="",
        help="First bridge the faults of the capture: spikes, in which a joint jumps away for one frame, and flips.",
    ),
]
Json = Annotated[bool, Parameter(negative="", help="Print one JSON document on stdout instead of text.")]


def parse_limits(flag: str, texts: Sequence[str]) -> Limits:
    """Parse ``joints=20000`` into limits; others keep their defaults."""
    limit_names = [f.name for f in fields(Limits)]
    limits = Limits()
    for text in texts:
        name, _, number = text.partition("=")
        if name not in limit_names or not re.fullmatch(r"[0-9][0-9_]{0,17}", number):
            raise UsageError(option=flag, value=text, expected=f"NAME=NUMBER with one of {', '.join(limit_names)}")
        limits = replace(limits, **{name: int(number)})
    return limits


def parse_range(text: str | None) -> tuple[int | None, int | None] | None:
    """Parse ``100:400`` into the start and end of a slice."""
    if text is None:
        return None
    match = re.fullmatch(r"(-?[0-9]{1,9})?:(-?[0-9]{1,9})?", text)
    if not match:
        raise UsageError(option="frames", value=text, expected="START:END in frames, such as 100:400, 100: or :400")
    return tuple(None if part is None else int(part) for part in match.groups())  # type: ignore[return-value]


def check_fps(fps: float | None, option_class: type[Any] | None = None) -> float | None:
    """Return ``fps``, which ``option_class`` declares or the command itself; raise UsageError if it is not positive."""
    if fps is not None and not (math.isfinite(fps) and fps > 0):
        raise UsageError(option="fps", option_class=option_class, value=fps, expected="a number above 0")
    return fps


def check_output_file(path: Path, expected: str, *, overwrite: bool) -> Path:
    """Return ``path`` if a file can be written there; ``expected`` says what it should be, if it is a folder."""
    if path.is_dir():
        raise FileError("is a folder", path=path, expected=expected)
    if not path.parent.is_dir():
        raise FileError("no such folder", path=path.parent)
    if os.path.lexists(path) and not overwrite:
        raise FileError("exists already", path=path, hint="--overwrite replaces it")
    return path


def resolve_jobs(jobs: int | None, n_clips: int) -> int:
    """Return the number of workers: ``jobs``, or the default for ``n_clips`` if None."""
    if jobs is not None and jobs < 1:
        raise UsageError(option="jobs", value=jobs, expected="at least 1")
    return default_jobs(n_clips) if jobs is None else jobs


def field_flag(name: str, option: Option) -> str:
    """Return the flag of an option: ``--max-keys``."""
    return option.flag or f"--{name.replace('_', '-')}"


# Options of methods that have a command line option of their own; all others are given by --set.
METHOD_FLAGS = {name: field_flag(name, option) for name, option in declared_options(MethodOptions).items()}


def option_flag(name: str) -> str:
    """Return the command line form of a method's option: ``--objective``, ``--set sigma_s``."""
    return METHOD_FLAGS.get(name, f"--set {name}")


def find_method(name: str) -> Method:
    """Return the method of that name, or raise UsageError with a suggestion."""
    if name not in METHODS:
        raise UsageError(
            option="method", value=name, expected=f"one of {', '.join(METHODS)}{suggest_name(name, METHODS)}"
        )
    return METHODS[name]


def check_key_count(count: KeyCountOptions) -> None:
    """Raise UsageError if more than one option sets the number of keys, or its value is invalid."""
    keys, tolerance_mm, auto = count.keys, count.tolerance_mm, count.auto
    is_set = {"--keys": keys is not None, "--tolerance-mm": tolerance_mm is not None, "--auto": auto}
    conflicting = [name for name, value in is_set.items() if value]
    if len(conflicting) > 1:
        raise conflict_error(conflicting[0], conflicting[1], "each says how many keys")
    if keys is not None and keys < 1:
        raise UsageError(option="keys", value=keys, expected="at least 1")
    if tolerance_mm is not None and not 0 <= tolerance_mm < math.inf:
        raise UsageError(option="tolerance_mm", value=tolerance_mm, expected="millimetres, 0 or more")


def drop_unset(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are set: not None, empty or False."""
    return {name: value for name, value in options.items() if value not in (None, ()) and value is not False}


def parse_method_options(method: Method, flags: Mapping[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """Return a method's options from ``flags`` (the command's own options) and from the values of --set."""
    options = drop_unset(flags)
    for text in settings:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise UsageError(option="set", value=text, expected="NAME=VALUE", hint="keypose methods lists the names")
        if name in flags:
            raise UsageError(f"has an option of its own, {option_flag(name)}", option="set", value=text)
        options[name] = _parse_value(value.strip())
    for name in options:
        if name not in method.options:
            raise _unknown_option_error(method, name, flags)
    return options


def _unknown_option_error(method: Method, name: str, flags: Collection[str]) -> UsageError:
    methods_with_option = [other.name for other in METHODS.values() if name in other.options]
    other_methods = f", but of {', '.join(methods_with_option)}" if methods_with_option else ""
    suggestion = suggest_name(name, method.options)
    flags_by_option = {
        option: option_flag(option) if option in flags else f"--set {option}" for option in (*method.options, name)
    }
    available = (
        f"; {method.name} has {', '.join(flags_by_option[option] for option in method.options) or 'none of its own'}"
    )
    problem = f"{flags_by_option[name]} is no option of {method.name}{other_methods}{suggestion or available}"
    return UsageError(problem, code="unknown_option", value=name)


def _parse_value(text: str) -> Any:
    """Parse a bool, int or float if possible, else return the text; the method checks it."""
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def parse_frames(option: str, texts: Sequence[str], words: Sequence[str] = ()) -> tuple[int | str, ...]:
    """Parse ``30,88`` into frames; ``words`` are allowed, too."""
    frames: list[int | str] = []
    for part in parse_names(option, texts):
        if part in words:
            frames.append(part)
        elif re.fullmatch(r"[0-9]{1,9}", part):
            frames.append(int(part))
        else:
            allowed = f", or the words {' and '.join(words)}" if words else ""
            raise UsageError(option=option, value=part, expected=f"frames from 0, such as 30,88{allowed}")
    return tuple(frames)


def parse_names(option: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Split all texts at commas; raise UsageError for an empty name."""
    names = [part.strip() for text in texts for part in text.split(",")]
    if "" in names:
        raise UsageError(option=option, value=",".join(texts), expected="no empty part between commas")
    return tuple(names)


def parse_joints(flag: str, texts: Sequence[str]) -> str | tuple[str, ...]:
    """Parse ``hands,head`` into names; a single name stays a string, as some words are only valid alone: ``major``."""
    names = parse_names(flag, texts)
    return names[0] if len(names) == 1 else names


def parse_weights(option: str, texts: Sequence[str]) -> dict[str, float]:
    """Parse ``hands=3`` into weights."""
    weights: dict[str, float] = {}
    for part in parse_names(option, texts):
        name, _, number = part.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = math.nan
        if not name or not math.isfinite(weight):
            raise UsageError(option=option, value=part, expected="NAME=NUMBER, such as hands=3")
        weights[name.strip()] = weight
    return weights


def _parse_pins(flag: str, texts: Sequence[str]) -> tuple[int | str, ...]:
    return parse_frames(flag, texts, PIN_WORDS)


def _parse_left_out(flag: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Parse ``hands,head`` into names, and ``none`` into an empty tuple."""
    names = parse_names(flag, texts)
    return () if names == ("none",) else names


Converter: TypeAlias = Callable[[Any, Sequence[Token]], Any]  # of cyclopts: takes a type and the tokens
Parser: TypeAlias = Callable[[str, Sequence[str]], Any]  # takes the flag and the texts that were typed
# Options whose text is more than one word or number; each may be given several times.
PARSERS: dict[str, Parser] = {
    "pins": _parse_pins,
    "excluded": parse_frames,
    "joints": parse_joints,
    "weights": parse_weights,
    "polish_weights": parse_weights,
    "left_out": _parse_left_out,
    "axes": parse_names,
    "tags": parse_names,
    "limits": parse_limits,
}
TEXT_TYPES: dict[str, Any] = {
    **dict.fromkeys(PARSERS, tuple[str, ...]),
    "animation": str | None,
    "theme": Literal["light", "dark"],  # the others are for pages
}
HAS_NEGATIVE = ("polish", "smooth", "extremes_first")
NO_PARSERS: Mapping[str, Parser] = MappingProxyType({})


class Flags:
    """Base of option classes that the command line fills in: they know which options were typed."""

    omitted: ClassVar[Collection[str]] = ()  # options that have no flag
    _typed: tuple[str, ...]

    def __new__(cls, **values: Any) -> Self:
        """Record the names of the options: cyclopts passes those that were typed."""
        flags = super().__new__(cls)
        object.__setattr__(flags, "_typed", tuple(values))
        return flags

    def typed_options(self) -> dict[str, Any]:
        """Return the options that were typed, by field name."""
        return {name: getattr(self, name) for name in self._typed}

    def options(self) -> dict[str, Any]:
        """Return all options that have a flag, by field name."""
        return {name: getattr(self, name) for name in declared_options(type(self)) if name not in self.omitted}

    def check(self) -> None:
        """Raise UsageError for a number outside of its range, before any work is done."""
        for name, value in self.options().items():
            if not declared_options(type(self))[name].bounds or not isinstance(value, int | float):
                continue
            check = check_option_int if isinstance(value, int) else check_option_number
            try:
                check(type(self), name, value)
            except OptionError as error:
                raise UsageError.from_error(error) from None

    @classmethod
    def help_of(cls, name: str) -> str:
        """Return the help text of an option's flag."""
        option = declared_options(cls)[name]
        return option.flag_help or option.help


FlagsType = TypeVar("FlagsType", bound=Flags)


_NO_FLAG = Parameter(parse=False, negative="")


class _AnyValue:
    """Declares to pydantic, which cyclopts uses if it is imported, that a parsed value may be of another type."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.any_schema()


def with_flags(
    *,
    omit: Collection[str] = (),
    only: Collection[str] | None = None,
    list_parsers: Mapping[str, Parser] = NO_PARSERS,
    word_parsers: Mapping[str, Parser] = NO_PARSERS,
) -> Callable[[type[FlagsType]], type[FlagsType]]:
    """Let cyclopts read the options of a class from the command line, each by a flag.

    Those to ``omit``, and with ``only`` all others, have no flag. ``word_parsers`` parse options that are typed as one
    word, ``list_parsers`` those that may be given several times, in addition to PARSERS.
    """
    parsers = {**PARSERS, **list_parsers, **word_parsers}
    text_types = TEXT_TYPES | dict.fromkeys(list_parsers, tuple[str, ...]) | dict.fromkeys(word_parsers, str | None)

    def decorate(cls: type[FlagsType]) -> type[FlagsType]:
        hints, defaults = get_type_hints(cls), cls()
        declared = declared_options(cls)
        cls.omitted = omit if only is None else [name for name in declared if name not in only]
        cls.__annotations__ = {
            name: Annotated[
                text_types.get(name, hints[name]),
                option,
                _NO_FLAG
                if name in cls.omitted
                else _build_flag(name, option, hints[name], getattr(defaults, name), parsers),
                _AnyValue(),
            ]
            for name, option in declared.items()
        }
        if off := [name for name, option in declared.items() if option.flag.startswith("--no-")]:
            _turn_off(cls, off)
        if "__init__" in vars(cls):  # a dataclass of another module, where names in the base's annotations are unknown
            vars(cls)["__init__"].__annotations__ = {**cls.__annotations__, "return": None}
        return Parameter(name="*")(cls)

    return decorate


def _turn_off(cls: type[Any], names: Collection[str]) -> None:
    """Make the constructor turn off options whose flags --no-... were typed: cyclopts passes True for them."""
    init = getattr(cls.__init__, "__wrapped__", cls.__init__)

    @wraps(init)
    def turn_off(self: Any, **values: Any) -> None:
        init(self, **{name: not value if name in names else value for name, value in values.items()})

    cls.__init__ = turn_off


def _build_flag(name: str, option: Option, hint: Any, default: Any, parsers: Mapping[str, Parser]) -> Parameter:
    is_count = isinstance(default, int) and not isinstance(default, bool)
    is_visible = is_count or (isinstance(default, str | float) and bool(default))
    flag = field_flag(name, option)
    return Parameter(
        name=flag,
        negative=f"--no-{flag[2:]}" if name in HAS_NEGATIVE else "",
        help=option.flag_help or option.help,
        show_default=_format_default if is_visible else False,
        converter=_find_converter(name, flag, hint, parsers),
    )


def _format_default(default: Any) -> str:
    return f"{default:.3g}" if isinstance(default, float) else str(default)


def _find_converter(name: str, flag: str, hint: Any, parsers: Mapping[str, Parser]) -> Converter | None:
    if name in parsers:
        return lambda _, tokens: parsers[name](flag, [token.value for token in tokens])
    return parse_whole_number if hint is int or set(get_args(hint)) == {int, NoneType} else None


@with_flags()
class LoadFlags(Flags, LoadOptions):
    """How files are read."""

    def load_options(self) -> LoadOptions:
        """Return the checked options; a numeric ``animation`` is an index."""
        values = {each.name: getattr(self, each.name) for each in fields(LoadOptions)}
        if isinstance(self.animation, str) and re.fullmatch(r"[0-9]{1,6}", self.animation):
            values["animation"] = int(self.animation)
        check_fps(self.fps, LoadOptions)
        return LoadOptions(**values)


@with_flags(omit=("limits",))
class LibraryLoadFlags(LoadFlags):
    """How files are read for a library, which has limits of its own."""


@with_flags(only=("into",))
class IntoFlags(Flags, OutputOptions):
    """Whether the result is a copy of a character."""

    def character(self) -> Path | None:
        """Return the file of the character; raise FileError if it does not exist or is no regular file."""
        if self.into is not None:
            if not os.path.exists(self.into):  # noqa: PTH110 - Path raises for long names
                raise FileError("no such file", path=self.into, code="no_such_file", expected=CHARACTER)
            check_regular_file(self.into, CHARACTER)
        return self.into


@with_flags(only=("into", "reduce_tracks"))
class CharacterFlags(IntoFlags):
    """The same, and what happens to its tracks of scale and morph weights."""


@with_flags(omit=("asf", "gaps"))
class EditLoadFlags(LoadFlags):
    """How edited animations are read."""


@with_flags(omit=("reference_pose", "asf", "gaps", "animation", "fps"))
class LimitFlags(LoadFlags):
    """Limits on the size of files."""


DEFAULT_LOAD, DEFAULT_LIBRARY_LOAD, DEFAULT_EDIT_LOAD = LoadFlags(), LibraryLoadFlags(), EditLoadFlags()
DEFAULT_LIMITS = LimitFlags()
DEFAULT_INTO, DEFAULT_CHARACTER = IntoFlags(), CharacterFlags()
