"""Forward kinematics of 5000 frames x 31 joints, against pymotion."""

from __future__ import annotations

import numpy as np
from benchmarks.measure import alternate


def run() -> dict[str, float]:
    from pymotion.ops.skeleton import fk

    from keypose import kinematics, rotations

    rng = np.random.default_rng(0)
    frames, joints = 5000, 31
    parents = np.array([-1] + [max(0, j - 1 - int(j % 5 == 0) * 4) for j in range(1, joints)], np.int32)
    offsets = rng.normal(size=(joints, 3))
    offsets[0] = 0
    root = rng.normal(size=(frames, 3))
    local_rotations = rotations.normalise(rng.normal(size=(frames, joints, 4)))
    translations = np.broadcast_to(offsets, (frames, joints, 3)).copy()
    translations[:, 0] = root
    rival_parents = np.maximum(parents, 0)

    ours, _ = kinematics.forward(parents, translations, local_rotations)
    theirs, _ = fk(local_rotations, root, offsets, rival_parents)
    assert np.allclose(ours, theirs, atol=1e-4), "the rival computes something else"
    seconds = alternate(
        {
            "keypose": lambda: kinematics.forward(parents, translations, local_rotations),
            "pymotion": lambda: fk(local_rotations, root, offsets, rival_parents),
        },
        rounds=9,
    )
    for name, value in seconds.items():
        print(f"   {name:<12} {1e3 * value:9.2f} ms")
    return {"forward_against_pymotion": seconds["pymotion"] / seconds["keypose"]}
