"""Damaged files of every kind, to show that none of them does more than raise a KeyposeError.

    python -m tests.fuzz --count 100000        # what `make fuzz` runs
    python -m tests.fuzz --repeat bvh:1234     # one input again, with its traceback

An input is fully given by its kind and number: the number seeds the generator that picks a sound file
and damages it. Inputs run in child processes with limits on time and memory, so that a crash, a hang
or a hunger for memory of a C++ library is seen too, and named.
"""
