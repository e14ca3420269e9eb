"""Ingest of many files (``run.py``): they are prepared by worker processes or machines and written by one process."""

from keypose.library.ingest.run import ReportCollector, ingest

__all__ = ["ReportCollector", "ingest"]
