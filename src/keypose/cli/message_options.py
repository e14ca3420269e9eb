"""Replace keywords of Python functions in messages by options of the command line.

Errors and notes of the library name keywords, ``asf=...`` of ``load`` or ``max_keys=...`` of ``select``; users of
the command line know ``--asf`` and ``--max-keys``. All messages about files pass through here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from keypose.cli.options import METHOD_FLAGS

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_START = r"(?<![\w/\\.=-])"  # not within a name
# Keywords of functions that choose keys, fit curves and find swings: those with an own option, and others (--set).
_OPTIONS = {
    **METHOD_FLAGS,
    "keys": "--keys",
    "max_keys": "--max-keys",
    "tolerance_mm": "--tolerance-mm",
    "auto": "--auto",
    "joints": "--joints",
    "weights": "--weight",
    "features": "--features",
    "smoothing_s": "--smoothing-s",
    "rotation": "--rotation",
    "shared_tangents": "--shared-tangents",
    "jump_penalty": "--jump-penalty",
    "polish": "--polish",
    "width_px": "--width-px",
    "per_row": "--per-row",
    "layout": "--layout",
    "height_px": "--height-px",
    "row_px": "--row-px",
    "panel_px": "--panel-px",
    "scale": "--scale",
    "ghosts": "--ghosts",
    "size_px": "--size-px",
    "polish_weights": "--polish-weight",
    "residual": "--residual",
    "timing": "--timing",
    "lossless": "--lossless",
    "max_deg": "--max-deg",
    "max_mm": "--max-mm",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            *("metric", "window_s", "min_duration_s", "rest_rad_per_s", "left_out", "fallback", "fallback_deg"),
            *("translation_mm", "level", "index", "at_s", "from_s", "to_s", "longer_s", "shorter_s", "wider_deg"),
            *("narrower_deg", "keep_feet"),
            *("words", "ranker", "engine", "blobs", "jobs", "max_duration_s"),
            "limit",
        )
    },
}
_SETTINGS = (
    "candidates|sigma_s|cut_sigmas|min_gap_s|rank|keys_per_cluster|extremes"
    "|limit_mm|top_only|min_error|straight_range|straight_s|prominence|jump|error"
)
_KEYWORD_START = r"(?<![\w/\\.=(-])"  # nor within Limits(joints=...)
_KEYWORD_PATTERNS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"rank=True, expected a selection of a method", "--rank, expected a --method"),
    (r"frames=\(start, stop\)", "--range START:END"),
    (r"(pins|excluded): (?=frame )", lambda match: METHOD_FLAGS[match[1]] + ": "),
    (r"weight (?=\S+=[^\s,]+)", "--weight "),
    (rf"({'|'.join(_OPTIONS)})=({_QUOTED}|[^\s,;]*)", lambda match: _format_option(match[1], match[2])),
    (rf"({_SETTINGS})=(?={_QUOTED}|[^\s,;])", r"--set \1="),
    (rf"({_SETTINGS})=(?=\s)", r"--set \1"),
)


def _format_option(keyword: str, value: str) -> str:
    plain = value[1:-1] if re.fullmatch(r"'[\w.-]+'", value) else value
    return _OPTIONS[keyword] + ("" if plain in ("", "...", "True") else f" {plain}")


_REPLACEMENTS = (
    (
        rf"kp\.open_kps\(({_QUOTED})\)\[([\d.]+):([\d.]+)\] reads it, and so do .* (\d+) in all",
        r"keypose restore \1 OUT --from-s \2 --to-s \3 gets it; keypose verify \1 names all \4 parts",
    ),
    (
        rf"kp\.open_kps\(({_QUOTED})\)\[([\d.]+):([\d.]+)\] reads it",
        r"keypose restore \1 OUT --from-s \2 --to-s \3 gets it",
    ),
    (r"kp\.load reads its frames and ", ""),
    (
        r"a KeyedMotion, as kp\.load_keyed gives; a Motion goes by frames",
        "an edit whose file keeps keys: GLB, .keys.json",
    ),
    (r"kp\.(unbake|rebake|swings)\b", r"keypose \1"),
    (r"rebuild\(\)", "keypose library rebuild"),
    (r"verify\(drop_orphans=True\)", "keypose library verify --drop-orphans"),
    (r"verify\(fix=True\)", "keypose library verify --fix"),
    (r"describe\(\.\.\.\)", "keypose library describe"),
    (r"restore\('[0-9a-f]+'\) brings it back", "adding its file again brings it back"),
    (r"library\.clips\('walk'\)", "keypose library list walk"),
    (r"Swing\('((?:[^'\\]|\\.)*)', (frames \d+ to \d+), ([\d.]+ degrees)\)", r"the swing of \1 in \2 (\3)"),
    (r"(factor|degrees)=(?=[^\s,]+, expected)", r"\1 "),
    (r"by_s=(?=[^\s,]+, expected)", "seconds "),
    (r"asf=\.\.\., at the command line with --asf FILE", "--asf FILE"),
    (r"asf=\.\.\.", "--asf FILE"),
    (r"fps=(?:\.\.\.|(?=\s))", "--read-fps"),
    (r"fps=([^\s,]+)", r"--read-fps \1"),
    (r"seed=([^\s,]+)", r"--seed \1"),
    (r"limits=Limits\((\w+)=\.\.\.\)", r"--limit \1=NUMBER"),
    (r"animation=\.\.\.", "--animation NAME"),
    (rf"animation=({_QUOTED}|\d+)", r"--animation \1"),
    (rf"gaps=({_QUOTED})", r"--gaps \1"),
    (rf"reference_pose=({_QUOTED})", r"--reference-pose \1"),
)
_PATTERNS = (
    *((re.compile(_KEYWORD_START + pattern), replacement) for pattern, replacement in _KEYWORD_PATTERNS),
    *((re.compile(_START + pattern), replacement) for pattern, replacement in _REPLACEMENTS),
)
_OPTIONAL_QUOTES = re.compile(r"(--(?:animation|gaps|reference-pose) )'([\w.-]+)'")
_ANIMATIONS = re.compile(rf"--animation ({_QUOTED}|\S+), (?:expected|but there is)(.*)", re.DOTALL)


def translate_keywords(text: str, path: str = "") -> str:
    """Return a message with options for keywords; a ``path`` at its start is not changed."""
    start = path if path and text.startswith(path) else ""
    rest = text[len(start) :]
    for pattern, replacement in _PATTERNS:
        rest = pattern.sub(replacement, rest)
    return start + _OPTIONAL_QUOTES.sub(r"\1\2", rest)


def parse_animations(text: str) -> tuple[str, list[str]] | None:
    """Return the unknown animation and the existing ones from a message that lists them; None for other messages."""
    match = _ANIMATIONS.search(text)
    if match is None:
        return None
    return match[1].strip("'\""), [name[1:-1] for name in re.findall(_QUOTED, match[2])]
