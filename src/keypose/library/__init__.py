"""A library of clips: storage, metadata, and search by example.

``library.py`` is the public class. It inherits from ``library_editor.py`` (edits, trash, export, verification),
``library_ingest.py`` (adding clips), ``library_reader.py`` (lists) and ``library_base.py`` (opening and closing).
The work is done by modules: ``clip_insert.py`` and ``ingest/``, ``listing.py`` with ``filters.py``, ``trash.py``,
``drafts.py``, ``clip_export.py``, ``verification.py``, ``rebuild_steps.py`` with ``reanalysis.py``. ``metadata.py``
holds what people write about clips, ``load_options.py`` the options for reading files.

``store.py`` joins a ``database.py`` with its blobs. ``tables.py`` defines the tables, ``schema_version.py`` creates
them, ``library_info.py`` checks the row that describes the library; ``db/`` covers SQLite and PostgreSQL, ``blobs/``
folders and object stores. ``rows.py``, ``analysis_reader.py`` and ``analysis_rows.py`` convert between rows and
``records.py``, ``array_codec.py`` between arrays and bytes. ``text_normalization.py`` cleans names, tags and notes.

``source_file.py`` reads input files, ``clip_preparation.py`` turns them into clips, ``analysis.py`` computes everything
that is stored about their frames. ``canonical.py`` makes bodies of all skeletons comparable; ``descriptors/`` computes
vectors of whole clips, ``part_search/`` tracks for part search, ``rankers/`` tables of swings; ``search_vectors.py``
selects the vectors that a database indexes. ``search/`` searches, ``results_page/`` renders results as HTML.
"""
