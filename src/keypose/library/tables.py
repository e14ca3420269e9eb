"""The tables of a library. Content is identified by its sha256; data that a person may edit refer to ``clips.id``."""

from __future__ import annotations

from datetime import UTC, datetime

from keypose.library.extra import sa

MAX_HASH_DIGITS = 64  # hexadecimal digits of a sha256

# Text sorts by code point, as in SQLite, whatever the locale of a server.
_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_HASH = sa.String(MAX_HASH_DIGITS).with_variant(sa.String(MAX_HASH_DIGITS, collation="C"), "postgresql")

metadata = sa.MetaData()

library_info = sa.Table(
    "keypose_library_info",
    metadata,
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("created_at", _TEXT, nullable=False),  # UTC, ISO 8601
    sa.Column("blob_location", _TEXT, nullable=False, server_default=""),  # "": beside the database
    sa.Column("changes", sa.BigInteger, nullable=False, server_default="0"),  # increases with every write
)

blobs = sa.Table(
    "blobs",
    metadata,
    sa.Column("hash", _HASH, primary_key=True),  # of the stored bytes
    sa.Column("bytes", sa.BigInteger, nullable=False),
)

clips = sa.Table(
    "clips",
    metadata,
    sa.Column("id", sa.Integer, sa.Identity(), primary_key=True),
    sa.Column("hash", _HASH, nullable=False, unique=True),  # of the content, unzipped
    sa.Column("blob", sa.ForeignKey("blobs.hash"), nullable=False, index=True),
    sa.Column("name", _TEXT, nullable=False, index=True),
    sa.Column("source", _TEXT, nullable=False),
    sa.Column("licence", _TEXT, nullable=False),
    sa.Column("note", _TEXT, nullable=False),
    sa.Column("suffix", _TEXT, nullable=False),  # of the format of the bytes, from our own table
    sa.Column("fps", sa.Float(53), nullable=False),
    sa.Column("n_frames", sa.BigInteger, nullable=False),
    sa.Column("duration_s", sa.Float(53), nullable=False, index=True),
    sa.Column("n_joints", sa.Integer, nullable=False),
    sa.Column("skeleton", _HASH, nullable=False, index=True),
    sa.Column("added_at", _TEXT, nullable=False),  # UTC, ISO 8601
    sa.Column("tolerance_mm", sa.Float(53)),  # of lossy storage; NULL: the original bytes are stored
    sa.Column("is_placeholder", sa.Integer, nullable=False, server_default="0"),  # 1: name and note were set by rebuild
    sa.Column("checksum", _HASH, nullable=False),  # of the columns above, the names and the tags
    sqlite_autoincrement=True,  # ids of deleted clips are never reused
)

other_names = sa.Table(
    "other_names",  # further names under which the same content was added
    metadata,
    sa.Column("clip_id", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("name", _TEXT, primary_key=True, index=True),
)

tags = sa.Table(
    "tags",
    metadata,
    sa.Column("clip_id", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("tag", _TEXT, primary_key=True, index=True),
)

# Analysis of the frames of a clip. All of it can be computed again from the bytes; the row of `analyses` records that
# it is complete, and which version of the analysis wrote it.

analyses = sa.Table(
    "analyses",
    metadata,
    sa.Column("clip_id", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("strip", sa.LargeBinary, nullable=False),  # key poses side by side: SVG, compressed by zlib
    sa.Column("checksum", _HASH, nullable=False),  # of the strip, key poses, swings, actions and descriptors
)

key_poses = sa.Table(
    "key_poses",
    metadata,
    sa.Column("clip_id", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("frame", sa.BigInteger, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

swings = sa.Table(
    "swings",  # of body parts, about axes in body space: search/swing_overlap.py
    metadata,
    sa.Column("clip_id", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("body_part", _TEXT, primary_key=True),
    sa.Column("start_s", sa.Float(53), primary_key=True),
    sa.Column("end_s", sa.Float(53), nullable=False),
    sa.Column("axis_left", sa.Float(53), nullable=False),
    sa.Column("axis_up", sa.Float(53), nullable=False),
    sa.Column("axis_forward", sa.Float(53), nullable=False),
    sa.Column("angle_rad", sa.Float(53), nullable=False),
    sqlite_with_rowid=False,
)

actions = sa.Table(
    "actions",  # how many of each kind a clip has: analysis.py
    metadata,
    sa.Column("kind", _TEXT, primary_key=True),
    sa.Column("clip_id", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True, index=True),
    sa.Column("count", sa.BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

descriptors = sa.Table(
    "descriptors",
    metadata,
    sa.Column("clip_id", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("name", _TEXT, primary_key=True),  # "clip", "upper_1s", ..., "track", "poses"
    sa.Column("data", sa.LargeBinary, nullable=False),  # named arrays: array_codec.py
)

trash = sa.Table(
    "trash",  # clips that are in no list or search until they are restored or deleted
    metadata,
    sa.Column("clip_id", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("trashed_at", _TEXT, nullable=False),  # UTC, ISO 8601
)

drafts = sa.Table(
    "drafts",  # unsaved edits
    metadata,
    sa.Column("clip_id", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("revision", sa.BigInteger, nullable=False),
    sa.Column("changed_at", _TEXT, nullable=False),  # UTC, ISO 8601
    sa.Column("data", _TEXT, nullable=False),  # JSON; "": deleted, and its revision is never reused
)

body_part_facets = sa.Table(
    "body_part_facets",  # body parts with a wide swing in a clip: analysis.py
    metadata,
    sa.Column("body_part", _TEXT, primary_key=True),
    sa.Column("clip_id", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True, index=True),
    sqlite_with_rowid=False,
)

library_info_copy = sa.Table(
    "keypose_library_info_copy",  # the same values as `keypose_library_info`; a difference means damage
    metadata,
    sa.Column("created_at", _TEXT, nullable=False),
    sa.Column("blob_location", _TEXT, nullable=False),
    sa.Column("changes", sa.BigInteger, nullable=False),
)

identity = sa.Table(
    "keypose_library_identity",  # also written beside the blobs: blobs/folder.py
    metadata,
    sa.Column("identity", _TEXT, nullable=False),
)

sa.Index("ix_analyses_version", analyses.c.version)


def indexes() -> dict[str, sa.Executable]:
    """Return the CREATE INDEX statements of all tables by index name."""
    all_indexes = (index for table in metadata.tables.values() for index in table.indexes)
    return {str(index.name): sa.schema.CreateIndex(index) for index in all_indexes}


def is_not_in_trash(clip_id: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    """Return the condition that the clip of an id column is not in the trash."""
    return ~sa.exists().where(trash.c.clip_id == clip_id)


def increment_changes(connection: sa.Connection) -> None:
    """Increment the change counter, which invalidates indexes cached in memory."""
    for table in (library_info, library_info_copy):
        connection.execute(sa.update(table).values(changes=table.c.changes + 1))


def format_time(time: datetime) -> str:
    """Return a time as it is stored; the order of the texts is that of the times."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def now_text() -> str:
    """Return the current time as it is stored."""
    return format_time(datetime.now(UTC))
