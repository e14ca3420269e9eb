"""The lossy codec: numbers quantized as coarsely as the tolerance allows, predicted, then range coded."""
