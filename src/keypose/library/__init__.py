"""Thousands of clips, and finding those that are like one.

``library.py`` is the noun. It stands on ``catalogue.py`` (what is changed), ``taking_in.py`` (what is added),
``looking.py`` (what is there) and ``opened.py``; each verb of theirs has a module: ``adding.py`` and ``ingest/``,
``listing.py`` with ``filters.py``, ``throwing.py``, ``drafts.py``, ``exporting.py``, ``checking.py``, ``rebuilding.py``
with ``remaking.py``. ``said.py`` is what people say about clips, ``reading.py`` how files are to be read.

A ``store.py`` is a ``database.py`` and the bytes that belong to it. ``tables.py`` has the tables, ``migrations.py``
makes them of older ones, ``marker.py`` checks the row that says what a library is; ``dialects/`` knows SQLite and
PostgreSQL, ``blobs/`` keeps bytes in folders and object stores. ``rows.py``, ``analyses.py`` and ``analysis_rows.py``
turn rows into nouns and back, ``packing.py`` arrays into bytes. ``nouns.py`` is what callers get, ``wording.py`` cleans
what they say.

``material.py`` reads what comes, ``preparing.py`` makes a clip of it, ``analysis.py`` is all that is known about its
frames. ``canonical.py`` makes bodies of all skeletons comparable; ``descriptors/`` turns them into short vectors that
say what happens, ``parts/`` into tracks in which parts are found, ``rankers/`` into swings; ``near.py`` is what an
index holds of them. ``searching/`` finds, ``results_page/`` shows what was found.
"""
