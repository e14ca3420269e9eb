"""Search by example: whole clips, parts of clips, poses.

``search.py`` has the entry points, ``query.py`` the query. A ``CandidateSource`` provides the clips worth ranking
(``memory_index.py``: all, from memory; ``pgvector_index.py``: the nearest by the index of PostgreSQL), ``rankers.py``
and ``pose_search.py`` rank them, ``deduplication.py`` groups copies of one take, and ``hits.py`` defines the results.
"""
