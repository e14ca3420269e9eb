"""Ingest of many files: prepared by worker processes or machines, written by one process: ``run.py``."""

from keypose.library.ingest.run import ReportCollector, ingest

__all__ = ["ReportCollector", "ingest"]
