"""A figure of three bones and its motion, as an ASF/AMC pair."""

from __future__ import annotations

import math

ASF = b"""\
:version 1.10
:units
  mass 1.0
  length 0.45
  angle deg
:root
   order TX TY TZ RX RY RZ
   axis XYZ
   position 0 0 0
   orientation 0 0 0
:bonedata
  begin
     id 1
     name thigh
     direction 0 -1 0
     length 4
     axis 0 0 20 XYZ
    dof rx
  end
  begin
     id 2
     name shin
     direction 0 -1 0
     length 5
     axis 0 0 0 XYZ
    dof rx
  end
:hierarchy
  begin
    root thigh
    thigh shin
  end
"""


def amc(frames: int = 60) -> bytes:
    """Return the motion of a swinging leg."""
    lines = [":FULLY-SPECIFIED", ":DEGREES"]
    for k in range(frames):
        turn = 30 * math.sin(k / 8)
        lines += [str(k + 1), f"root 0 {9 + k / 50:.4f} 0 0 0 0", f"thigh {turn:.4f}", f"shin {10 + turn / 2:.4f}"]
    return "\n".join([*lines, ""]).encode()
