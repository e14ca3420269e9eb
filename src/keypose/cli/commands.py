"""All commands: their names, arguments and summaries. The module of a command is imported when it runs."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property

from cyclopts import App, Parameter

import keypose
from keypose.errors import format_value

HELP = """Turn dense motion capture into a few key poses with fitted curves.

For example:
  keypose info walk.bvh                  show frames, rate, joints and units
  keypose unbake walk.bvh walk.glb       write a few editable keys
  keypose unbake takes/ out/ --to glb    the same for a folder, in parallel
  keypose rebake edited.glb final.glb --from walk.keys.json
                                         add the captured detail to an edit
  keypose keys walk.bvh --keys 12        print the key poses as a table
  keypose stream --udp 9763 --skeleton actor.bvh
                                         print key poses of a live capture
  keypose strip walk.bvh walk.png        draw the key poses as a picture
  keypose report walk.bvh                write a page: player, errors, swings
  keypose swings kick.bvh                show, play and edit joint swings
  keypose convert kick.bvh kick.glb      convert to another format
  keypose compress takes/ archive/       compress within a maximum error
  keypose restore walk.kps restored.bvh  restore a compressed file
  keypose reduce-curves rig.csv keys.csv --tolerance 0.01
                                         reduce curves of a rig to keys
  keypose compare takes/                 compare all methods on your clips
  keypose library add takes/             add clips to a library
  keypose library search walk.bvh        search the library for similar clips
  keypose serve --open                   start the web app
  keypose unbake --help                  all options of a command
"""
LIBRARY_HELP = """Store thousands of clips in one place, and find similar ones.

A library is one file (clips.db) with a folder beside it, or a PostgreSQL
database. Every clip is stored once, byte for byte (files that need others
beside them, such as AMC: number for number), with its key poses. Clips are
found by words, or by a similar motion on any skeleton.

For example:
  keypose library add takes/ --tag walk
  keypose library list kick left
  keypose library search walk.bvh
  keypose library search walk.bvh --part 30:90 --html results.html
  keypose library show 02_01
  keypose library search --help
"""
# Names of commands in other programs, and ours.
SYNONYMS = {
    **dict.fromkeys(("delete", "del", "rm", "trash"), "remove"),
    **dict.fromkeys(("import", "ingest", "upload"), "add"),
    **dict.fromkeys(("find", "query"), "search"),
    **dict.fromkeys(("ls", "dir"), "list"),
    **dict.fromkeys(("mv", "move"), "rename"),
    **dict.fromkeys(("cat", "details"), "show"),
    **dict.fromkeys(("check", "fsck"), "verify"),
    **dict.fromkeys(("decompress", "unpack"), "restore"),
    **dict.fromkeys(("server", "web"), "serve"),
    "select": "keys",
}
FRAMES_FLAG = "--range"  # of the keyword ``frames``


@dataclass(frozen=True)
class CommandFlag:
    """A flag of a command and the keyword that it sets: ``--weight`` and ``weights``."""

    keyword: str
    flag: str
    is_switch: bool  # takes no value


class _CommandLine:
    """The arguments of the running command, and its flags, which are listed when they are first needed."""

    def __init__(self, app: App | None = None, tokens: Sequence[str] = ()) -> None:
        self._app = app
        self.tokens = tuple(tokens)

    @cached_property
    def flags(self) -> tuple[CommandFlag, ...]:
        """The flags that the command declares, in the order of its parameters; empty without a command."""
        if self._app is None:
            return ()
        command = self._app
        for name in find_command(self._app, self.tokens):
            command = command[name]
        if command.default_command is None:
            return ()
        return tuple(
            CommandFlag(_keyword(each.field_info.name, name), name, each.is_flag())
            for each in command.assemble_argument_collection()
            for name in each.names[:1]
            if each.parse and name.startswith("--")
        )


def _keyword(parameter: str, flag: str) -> str:
    """Return the keyword for the ``parameter`` of a command, such as ``set_``, which has this flag."""
    return "frames" if flag == FRAMES_FLAG else parameter.rstrip("_")


_COMMAND_LINE: ContextVar[_CommandLine] = ContextVar("command_line", default=_CommandLine())  # noqa: B039 - never changed


@dataclass(frozen=True)
class Command:
    """One command: a function, and what the list of commands shows about it."""

    name: str
    path: str  # module and function
    arguments: str  # as in the line "Usage:"
    summary: str  # the first line of the function's docstring


FILE_COMMANDS = (
    Command(
        "info",
        "keypose.cli.info:info",
        "FILES...",
        "Show what is in motion files: frames, rate, joints, axes, height.",
    ),
    Command("convert", "keypose.cli.convert:convert", "IN... OUT", "Convert motion files to other formats."),
    Command("unbake", "keypose.cli.unbake:unbake", "IN... OUT", "Unbake dense motion into a few editable key poses."),
    Command(
        "rebake",
        "keypose.cli.rebake:rebake",
        "EDITED... OUT",
        "Add the captured detail back to edited animations.",
    ),
    Command("keys", "keypose.cli.keys:keys", "FILES...", "Choose the key poses of motion files."),
    Command("swings", "keypose.cli.swings:swings", "FILES...", "Show, play and edit the swings of motion files."),
    Command("strip", "keypose.cli.strip:strip", "IN... OUT", "Draw the key poses of motions, one strip for each file."),
    Command("timeline", "keypose.cli.timeline:timeline", "FILE OUT", "Draw when each joint swings, and how far."),
    Command("curves", "keypose.cli.curves:curves", "FILE OUT", "Draw the motion curves of joints."),
    Command("path", "keypose.cli.path:path", "FILE OUT", "Draw the path of a joint in space, original and reduced."),
    Command(
        "error-curve", "keypose.cli.error_curve:error_curve", "FILE OUT", "Draw the error for every number of keys."
    ),
    Command(
        "report",
        "keypose.cli.report:report",
        "FILES...",
        "Write an HTML page about each motion and its unbaked version.",
    ),
    Command(
        "reduce-curves",
        "keypose.cli.reduce_curves:reduce_curves",
        "FILE [OUT]",
        "Reduce plain curves in a CSV file to keys with tangents.",
    ),
    Command(
        "compare",
        "keypose.cli.compare:compare",
        "FILES...",
        "Compare every method of choosing keys on the same clips.",
    ),
    Command(
        "compress",
        "keypose.cli.compress:compress",
        "IN... OUT",
        "Compress motion files within a given error.",
    ),
    Command(
        "restore",
        "keypose.cli.restore:restore",
        "IN... OUT",
        "Restore compressed motion into any format.",
    ),
    Command("stream", "keypose.cli.stream:stream", "", "Print key poses while frames arrive."),
    Command("verify", "keypose.cli.verify:verify", "FILES...", "Verify that compressed files are undamaged."),
)
OTHER_COMMANDS = (
    Command(
        "serve",
        "keypose.cli.serve:serve",
        "",
        "Start the web app: upload, view, search, choose keys, edit, export.",
    ),
    Command(
        "methods",
        "keypose.cli.methods:methods",
        "",
        "Show the methods that choose keys, their papers and options.",
    ),
    Command(
        "formats",
        "keypose.cli.formats:formats",
        "",
        "Show which formats can be read and written, which keep keys, what they need.",
    ),
    Command("demo", "keypose.cli.demo:demo", "[OUT]", "Run the main workflow on a generated motion, each step timed."),
)
LIBRARY_COMMANDS = (
    Command(
        "add",
        "keypose.cli.library_add:add",
        "FILES...",
        "Add motion files to a library, which is created if it does not exist.",
    ),
    Command(
        "list",
        "keypose.cli.library_inspect:list_",
        "[WORDS...]",
        "List the clips of a library by name, exact matches first.",
    ),
    Command(
        "search",
        "keypose.cli.library_search:search",
        "[QUERY]",
        "Search a library for clips similar to a motion, best match first.",
    ),
    Command("show", "keypose.cli.library_inspect:show", "CLIPS...", "Show clips of a library in detail."),
    Command("tag", "keypose.cli.library_edit:tag", "CLIPS...", "Add tags to clips of a library, or remove them."),
    Command("rename", "keypose.cli.library_edit:rename", "CLIP NAME", "Rename a clip of a library."),
    Command(
        "describe",
        "keypose.cli.library_edit:describe",
        "CLIPS...",
        "Set the source, licence or note of clips of a library.",
    ),
    Command("remove", "keypose.cli.library_edit:remove", "CLIPS...", "Remove clips and their bytes from a library."),
    Command(
        "export",
        "keypose.cli.library_maintenance:export",
        "FOLDER [CLIPS...]",
        "Export clips of a library as files with their original bytes.",
    ),
    Command(
        "stats",
        "keypose.cli.library_inspect:stats",
        "",
        "Show how much a library holds: clips, hours, bytes, skeletons, tags.",
    ),
    Command("verify", "keypose.cli.library_maintenance:verify", "", "Verify that a library is complete and undamaged."),
    Command(
        "rebuild",
        "keypose.cli.library_maintenance:rebuild",
        "",
        "Rebuild everything that is computed from the bytes of the clips.",
    ),
)


def build_app() -> App:
    """Build the program with all its commands, none of which is imported yet."""
    app = App(
        name="keypose",
        help=HELP,
        version=keypose.__version__,
        version_flags=["--version", "-V"],
        help_format="plaintext",
        group_parameters="Options",
        default_parameter=Parameter(show_default=False),
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    library = App(name="library", help=LIBRARY_HELP, group_parameters="Options")
    _register(library, "keypose library", LIBRARY_COMMANDS)
    _register(app, "keypose", FILE_COMMANDS)
    app.command(library)
    _register(app, "keypose", OTHER_COMMANDS)
    return app


def find_command(app: App, tokens: Sequence[str]) -> list[str]:
    """Import the command that ``tokens`` start with; return the names of groups and the command, empty if none."""
    names: list[str] = []
    for token in tokens:
        if token.startswith("-") or token not in app:
            break
        names.append(token)
        app = app[token]
        if app.default_command is not None:
            app.help = None  # its own page shows the whole docstring instead of the summary
    return names


def unknown_command_text(app: App, tokens: Sequence[str]) -> str:
    """Return the message about the first of ``tokens`` that names no command, with the most similar command."""
    groups = find_command(app, tokens)
    word, group = tokens[len(groups)], " ".join(("keypose", *groups))
    if word.startswith("-"):
        return f"{word} is no option of {group}"
    commands = {each.name: f"keypose {each.name}" for each in (*FILE_COMMANDS, *OTHER_COMMANDS)}
    library_commands = {each.name: f"keypose library {each.name}" for each in LIBRARY_COMMANDS}
    synonyms = {synonym: (commands | library_commands)[name] for synonym, name in SYNONYMS.items()}
    # The second of equal names counts.
    own, others = (
        (library_commands, commands) if groups else (commands | {"library": "keypose library"}, library_commands)
    )
    known = synonyms | others | own
    matches = difflib.get_close_matches(word.lower(), known, n=1)
    suggestion = f"; did you mean {known[matches[0]]}?" if matches else ""
    return f"{format_value(word)} is no command of {group}{suggestion}"


def _register(app: App, prefix: str, commands: Sequence[Command]) -> None:
    for command in commands:
        usage = f"Usage: {prefix} {command.name} [OPTIONS] {command.arguments}".rstrip()
        app.command(command.path, name=command.name, usage=usage, help=command.summary)


@contextmanager
def running_command(app: App, tokens: Sequence[str]) -> Iterator[None]:
    """Make the command that ``tokens`` start with the running one."""
    token = _COMMAND_LINE.set(_CommandLine(app, tokens))
    try:
        yield
    finally:
        _COMMAND_LINE.reset(token)


def command_flags() -> tuple[CommandFlag, ...]:
    """Return the flags of the running command, in the order of its parameters; empty if none is running."""
    return _COMMAND_LINE.get().flags


def command_line() -> str:
    """Return the command line as one quoted shell line."""
    from keypose.pictures.page import format_shell_command

    return format_shell_command(("keypose", *_COMMAND_LINE.get().tokens))


def option_order(options: Collection[str]) -> list[str]:
    """Return the given ``options`` in command line order, each as often as it occurs."""
    argv = _COMMAND_LINE.get().tokens
    before_names = argv[: argv.index("--")] if "--" in argv else argv
    names = (token.partition("=")[0] for token in before_names)
    return [name for name in names if name in options]
