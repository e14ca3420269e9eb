"""Public functions: convert options (joints, pins, contacts, tolerances) to the input of methods and curves."""
