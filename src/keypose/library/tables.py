"""The tables of a library. Content is named by its sha256; what a person may change hangs on the clip's number."""

from __future__ import annotations

from keypose.library.extra import sa

LONGEST_HASH = 64  # hexadecimal digits of a sha256

metadata = sa.MetaData()

schema = sa.Table(
    "keypose_library",
    metadata,
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("made_at", sa.Text, nullable=False),  # UTC, ISO 8601: bytes that are older came from another database
)

blobs = sa.Table(
    "blobs",
    metadata,
    sa.Column("hash", sa.String(LONGEST_HASH), primary_key=True),  # of the bytes as they came
    sa.Column("bytes", sa.BigInteger, nullable=False),
)

clips = sa.Table(
    "clips",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("hash", sa.String(LONGEST_HASH), nullable=False, unique=True),  # of the content, unpacked
    sa.Column("blob", sa.ForeignKey("blobs.hash"), nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False, index=True),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("licence", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("suffix", sa.Text, nullable=False),  # of the format that the bytes are in, from our own table
    sa.Column("fps", sa.Float(53), nullable=False),
    sa.Column("n_frames", sa.BigInteger, nullable=False),
    sa.Column("duration_s", sa.Float(53), nullable=False, index=True),
    sa.Column("n_joints", sa.Integer, nullable=False),
    sa.Column("skeleton", sa.String(LONGEST_HASH), nullable=False, index=True),
    sa.Column("added_at", sa.Text, nullable=False),  # UTC, ISO 8601
    sa.Column("seal", sa.String(LONGEST_HASH), nullable=False),  # of all of the above, the names and the tags
    sqlite_autoincrement=True,  # the number of a clip that was removed is never given again
)

names = sa.Table(
    "names",  # further names under which the same content came
    metadata,
    sa.Column("clip", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("name", sa.Text, primary_key=True, index=True),
)

tags = sa.Table(
    "tags",
    metadata,
    sa.Column("clip", sa.ForeignKey("clips.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("tag", sa.Text, primary_key=True, index=True),
)
