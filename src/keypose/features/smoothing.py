"""Gaussian smoothing along time."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats

LONGEST_DIRECT = 64  # taps up to which shifting and adding beats a transform
BLOCK_FRAMES = 2048  # of a few dozen columns: what the caches of a core hold


def gaussian(values: Floats, sigma_frames: float, cut_sigmas: float = 4.0) -> Floats:
    """``values`` (T, ...) convolved with a Gaussian of ``sigma_frames``, cut at so many sigmas.

    Where the window reaches over an end, what is inside counts alone: its weights are scaled to sum to one.
    """
    reach = int(min(cut_sigmas * sigma_frames + 1e-9, len(values)))  # beyond the clip there is nothing
    if reach < 1:
        return values.copy()
    taps = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma_frames) ** 2)
    flat = values.reshape(len(values), -1)
    whole = _convolved(np.ones((len(flat), 1)), taps)
    middle = flat.mean(axis=0)  # far from the origin, a transform would lose digits
    smooth: Floats = _convolved(flat - middle, taps) / whole + middle
    return smooth.reshape(values.shape)


def _convolved(values: Floats, taps: Floats) -> Floats:
    """The part of the convolution that lies over the values."""
    frames, reach = len(values), len(taps) // 2
    if len(taps) <= LONGEST_DIRECT:
        padded = np.pad(values, ((reach, reach), (0, 0)))
        out = np.zeros_like(values)
        for start in range(0, frames, BLOCK_FRAMES):
            end = min(start + BLOCK_FRAMES, frames)
            for shift, tap in enumerate(taps):
                out[start:end] += tap * padded[start + shift : end + shift]
        return out
    length = 1 << (frames + 2 * reach - 1).bit_length()
    spectrum = np.fft.rfft(values, length, axis=0) * np.fft.rfft(taps, length)[:, None]
    return np.fft.irfft(spectrum, length, axis=0)[reach : reach + frames]
