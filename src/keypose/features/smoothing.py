"""Gaussian smoothing along time."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats

MAX_DIRECT_TAPS = 64  # up to here direct convolution is faster than an FFT
BLOCK_FRAMES = 2048  # a block of a few dozen columns fits in a core's cache


def gaussian_filter(values: Floats, sigma_frames: float, cut_sigmas: float = 4.0) -> Floats:
    """Return ``values`` (T, ...) convolved with a Gaussian of ``sigma_frames``, truncated at ``cut_sigmas``.

    At the ends of the clip the weights inside are scaled to sum to 1.
    """
    reach = int(min(cut_sigmas * sigma_frames + 1e-9, len(values)))  # not beyond the clip
    if reach < 1:
        return values.copy()
    taps = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma_frames) ** 2)
    flat = values.reshape(len(values), -1)
    weight_sums = _convolve(np.ones((len(flat), 1)), taps)
    mean = flat.mean(axis=0)  # far from the origin an FFT would lose digits
    smooth: Floats = _convolve(flat - mean, taps) / weight_sums + mean
    return smooth.reshape(values.shape)


def _convolve(values: Floats, taps: Floats) -> Floats:
    """Return the convolution, cropped to the length of ``values``."""
    frames, reach = len(values), len(taps) // 2
    if len(taps) <= MAX_DIRECT_TAPS:
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
