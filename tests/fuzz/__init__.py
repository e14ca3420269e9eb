"""Load damaged files of every kind: each must give a motion or a KeyposeError.

    python -m tests.fuzz --count 100000        # what `make fuzz` runs
    python -m tests.fuzz --repeat bvh:1234     # one input again, with its traceback

An input is determined by its kind and number: the number seeds the generator that picks a valid file and damages it.
Inputs run in child processes with limits on time and memory, so that a crash, a hang or an excessive use of memory is
detected too.
"""
