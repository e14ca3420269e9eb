"""Worker processes for computations on frames, so that the server stays responsive: they may be slow, grow or crash.

``pool.py`` distributes requests among them, ``process.py`` is one of them seen from the server, with the messages
between both: JSON and bytes, so that nothing that a worker sends is executed. ``worker.py`` is its main loop,
``worker_context.py`` its library and caches. ``clip_worker.py``, ``upload_worker.py`` and ``search_worker.py`` hold the
tasks.
"""
