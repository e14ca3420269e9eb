"""``keypose library``: commands that store and search a collection of clips."""

from __future__ import annotations

from cyclopts import App

from keypose.cli.library_add import add
from keypose.cli.library_edit import describe, remove, rename, tag
from keypose.cli.library_inspect import list_, show, stats
from keypose.cli.library_maintenance import export, rebuild, verify
from keypose.cli.library_search import search

HELP = """Store thousands of clips in one place, and find similar ones.

A library is one file (clips.db) with a folder beside it, or a PostgreSQL
database. Every clip is stored once, byte for byte (files that need others
beside them, such as AMC: number for number), with its key poses. Clips are found
by words, or by a similar motion on any skeleton.

For example:
  keypose library add takes/ --tag walk
  keypose library list kick left
  keypose library search walk.bvh
  keypose library search walk.bvh --part 30:90 --html results.html
  keypose library show 02_01
  keypose library search --help
"""

library = App(name="library", help=HELP, group_parameters="Options")
library.command(add, usage="Usage: keypose library add [OPTIONS] FILES...")
library.command(list_, name="list", usage="Usage: keypose library list [OPTIONS] [WORDS...]")
library.command(search, usage="Usage: keypose library search [OPTIONS] [QUERY]")
library.command(show, usage="Usage: keypose library show [OPTIONS] CLIPS...")
library.command(tag, usage="Usage: keypose library tag [OPTIONS] CLIPS...")
library.command(rename, usage="Usage: keypose library rename [OPTIONS] CLIP NAME")
library.command(describe, usage="Usage: keypose library describe [OPTIONS] CLIPS...")
library.command(remove, usage="Usage: keypose library remove [OPTIONS] CLIPS...")
library.command(export, usage="Usage: keypose library export [OPTIONS] FOLDER [CLIPS...]")
library.command(stats, usage="Usage: keypose library stats [OPTIONS]")
library.command(verify, usage="Usage: keypose library verify [OPTIONS]")
library.command(rebuild, usage="Usage: keypose library rebuild [OPTIONS]")
