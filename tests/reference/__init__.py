"""Slow, obvious reference implementations, with which fast ones are compared."""
