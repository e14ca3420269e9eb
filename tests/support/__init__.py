"""Helpers of tests: motions, files, servers and browsers."""
