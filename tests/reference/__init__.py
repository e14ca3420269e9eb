"""Slow, obvious implementations that fast ones are compared with."""
