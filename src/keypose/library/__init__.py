"""A library of clips: storage, metadata, and search by example.

``library.py`` is the public class, which delegates to the other modules: ``clip_insert.py`` and ``ingest/`` add clips,
``listing.py`` lists them, ``metadata.py`` changes their names, tags and texts, drafts and the trash, ``clip_export.py``
writes their bytes, ``verification.py`` and ``rebuild.py`` check and repair the library.

``store.py`` combines a database with its blobs. ``tables.py`` defines the tables, ``library_info.py`` creates them and
checks the row that describes the library; ``db/`` supports SQLite and PostgreSQL, ``blobs/`` folders and object stores.
``rows.py`` and ``analysis_rows.py`` convert between rows and ``records.py``, the latter also between arrays and
bytes; ``rows.py`` also cleans names, tags and notes.

``analysis.py`` reads input files, turns them into clips and computes everything that is stored about their frames.
``canonical.py`` converts bodies of all skeletons to the same joints; ``descriptors/`` computes vectors of whole clips,
``search_vectors.py`` selects those that a database indexes. ``search/`` searches whole clips, parts and poses,
``results_page.py`` renders results as HTML.
"""
