"""The tables of a library. Content is named by its sha256; what a person may change hangs on the clip's number."""

from __future__ import annotations

from keypose.library.extra import sa

LONGEST_HASH = 64  # hexadecimal digits of a sha256

# Text is ordered by its characters' numbers, as SQLite does, whatever the language of a server.
_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_HASH = sa.String(LONGEST_HASH).with_variant(sa.String(LONGEST_HASH, collation="C"), "postgresql")

metadata = sa.MetaData()

schema = sa.Table(
    "keypose_library",
    metadata,
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("made_at", _TEXT, nullable=False),  # UTC, ISO 8601: bytes that are older came from another database
    sa.Column("blobs", _TEXT, nullable=False, server_default=""),  # where bytes are; nothing: beside the database
    sa.Column("changes", sa.BigInteger, nullable=False, server_default="0"),  # counts what changes answers of searches
)

blobs = sa.Table(
    "blobs",
    metadata,
    sa.Column("hash", _HASH, primary_key=True),  # of the bytes as they came
    sa.Column("bytes", sa.BigInteger, nullable=False),
)

clips = sa.Table(
    "clips",
    metadata,
    sa.Column("id", sa.Integer, sa.Identity(), primary_key=True),
    sa.Column("hash", _HASH, nullable=False, unique=True),  # of the content, unpacked
    sa.Column("blob", sa.ForeignKey("blobs.hash"), nullable=False, index=True),
    sa.Column("name", _TEXT, nullable=False, index=True),
    sa.Column("source", _TEXT, nullable=False),
    sa.Column("licence", _TEXT, nullable=False),
    sa.Column("note", _TEXT, nullable=False),
    sa.Column("suffix", _TEXT, nullable=False),  # of the format that the bytes are in, from our own table
    sa.Column("fps", sa.Float(53), nullable=False),
    sa.Column("n_frames", sa.BigInteger, nullable=False),
    sa.Column("duration_s", sa.Float(53), nullable=False, index=True),
    sa.Column("n_joints", sa.Integer, nullable=False),
    sa.Column("skeleton", _HASH, nullable=False, index=True),
    sa.Column("added_at", _TEXT, nullable=False),  # UTC, ISO 8601
    sa.Column("within_mm", sa.Float(53)),  # how far the kept bytes may be from those that came; nothing: the very same
    sa.Column("seal", _HASH, nullable=False),  # of all of the above, the names and the tags
    sqlite_autoincrement=True,  # the number of a clip that was removed is never given again
)

names = sa.Table(
    "names",  # further names under which the same content came
    metadata,
    sa.Column("clip", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("name", _TEXT, primary_key=True, index=True),
)

tags = sa.Table(
    "tags",
    metadata,
    sa.Column("clip", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("tag", _TEXT, primary_key=True, index=True),
)

# What is known about the frames of a clip. All of it can be made again from the bytes; one row of `analyses` says that
# it is there, whole, and by which version of the analysis it was made.

analyses = sa.Table(
    "analyses",
    metadata,
    sa.Column("clip", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("strip", sa.LargeBinary, nullable=False),  # key poses side by side: SVG, packed by zlib
    sa.Column("seal", _HASH, nullable=False),  # of the strip, the key poses, swings and descriptors
)

key_poses = sa.Table(
    "key_poses",
    metadata,
    sa.Column("clip", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("frame", sa.BigInteger, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

swings = sa.Table(
    "swings",  # of the parts of the body, about axes as the body has them: rankers/sheets.py
    metadata,
    sa.Column("clip", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("part", _TEXT, primary_key=True),
    sa.Column("start_s", sa.Float(53), primary_key=True),
    sa.Column("end_s", sa.Float(53), nullable=False),
    sa.Column("axis_left", sa.Float(53), nullable=False),
    sa.Column("axis_up", sa.Float(53), nullable=False),
    sa.Column("axis_forward", sa.Float(53), nullable=False),
    sa.Column("angle_rad", sa.Float(53), nullable=False),
    sqlite_with_rowid=False,
)

descriptors = sa.Table(
    "descriptors",
    metadata,
    sa.Column("clip", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("name", _TEXT, primary_key=True),  # "clip", "upper_1s", ..., "track", "poses"
    sa.Column("data", sa.LargeBinary, nullable=False),  # named arrays: packing.py
)

FIRST = (schema, blobs, clips, names, tags, analyses, key_poses, swings, descriptors)  # version 1: never changed

# Since version 2.

thrown_away = sa.Table(
    "thrown_away",  # clips that lists and searches leave out, until they are restored or forgotten
    metadata,
    sa.Column("clip", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("at", _TEXT, nullable=False),  # UTC, ISO 8601
)

drafts = sa.Table(
    "drafts",  # edits that somebody is at, as the server keeps them
    metadata,
    sa.Column("clip", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("revision", sa.BigInteger, nullable=False),
    sa.Column("changed_at", _TEXT, nullable=False),  # UTC, ISO 8601
    sa.Column("data", _TEXT, nullable=False),  # JSON; nothing: it was dropped, and its revision is not given again
)

SECOND = (drafts, thrown_away)

# Since version 3.

swinging = sa.Table(
    "swinging",  # the limbs that swing widely in a clip: limbs.py
    metadata,
    sa.Column("limb", _TEXT, primary_key=True),
    sa.Column("clip", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True, index=True),
    sqlite_with_rowid=False,
)

twin = sa.Table(
    "keypose_library_twin",  # says what `keypose_library` says: where they differ, one of them is damaged
    metadata,
    sa.Column("made_at", _TEXT, nullable=False),
    sa.Column("blobs", _TEXT, nullable=False),
    sa.Column("changes", sa.BigInteger, nullable=False),
)

identity = sa.Table(
    "keypose_library_identity",  # as the place of its bytes says too: blobs/owner.py
    metadata,
    sa.Column("identity", _TEXT, nullable=False),
)

by_version = sa.Index("ix_analyses_version", analyses.c.version)

THIRD = (swinging, twin, identity)


def indexes() -> dict[str, sa.Executable]:
    """The indexes of all tables by name, each with what makes it."""
    found = (index for table in metadata.tables.values() for index in table.indexes)
    return {str(index.name): sa.schema.CreateIndex(index) for index in found}


def is_there(clip: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    """Whether the clip of that number was not thrown away."""
    return ~sa.exists().where(thrown_away.c.clip == clip)


def count_change(connection: sa.Connection) -> None:
    """Tells those who keep parts of the library in memory that it is another one now."""
    for table in (schema, twin):
        connection.execute(sa.update(table).values(changes=table.c.changes + 1))
