"""Processes that compute on frames, so that the server answers meanwhile: they may be slow, grow large, or die.

``pool.py`` gives requests to them, ``process.py`` is one of them seen from the server, ``worker.py`` what it does,
``desk.py`` what it has at hand, and ``wire.py`` how both speak: numbers and JSON, so that nothing that a worker sends
can be more than data.
"""
