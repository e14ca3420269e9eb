"""A motion and small USD files for the tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import keypose as kp
from keypose.rotations import from_euler


def motion(**changes) -> kp.Motion:
    """Return a motion of five joints with odd names, orders, channels and end sites; all rotate, some move."""
    rng = np.random.default_rng(5)
    names = ("Hips", "mixamorig:Left Arm", "mixamorig_Left_Arm", "7th#bone", "Füße")
    skeleton = kp.Skeleton(
        names=names,
        parents=np.array([-1, 0, 1, 0, 3]),
        offsets=rng.normal(0, 10, (5, 3)),
        rotation_orders=("ZXY", "XYZ", "ZYX", "YZX", "ZXY"),
        channels=(
            ("Xposition", "Yposition", "Zposition", "Zrotation", "Xrotation", "Yrotation"),
            ("Xrotation", "Yrotation", "Zrotation"),
            ("Zrotation", "Yrotation", "Xrotation"),
            ("Yrotation", "Zrotation", "Xrotation"),
            (),
        ),
        end_offsets=np.array([[0.0, 1.0, 2.0], [3.0, 0.1, 0.0]]),
        end_joints=np.array([2, 4]),
    )
    frames = 25
    translations = np.repeat(skeleton.offsets[None], frames, axis=0)
    translations[:, 0] += np.cumsum(rng.normal(0, 1, (frames, 3)), axis=0)
    rotations = from_euler(np.cumsum(rng.normal(0, 0.1, (frames, 5, 3)), axis=0), "ZXY")
    original = kp.Motion("made", skeleton, 59.94, translations, rotations, metres_per_unit=0.0254, first_frame=17)
    return replace(original, **changes)


def usda(animation: str = "", skeleton: str = "", scene: str = "", root: str = "") -> str:
    """Return a small file: an arm of two joints along Y with the given animation."""
    matrix = "((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,{},0,1))"
    rest = f"uniform matrix4d[] restTransforms = [{matrix.format(0)}, {matrix.format(2)}]"
    moves = """
        uniform token[] joints = ["a", "a/b"]
        float3[] translations = [(0,0,0), (0,2,0)]
        quatf[] rotations.timeSamples = { 0: [(1,0,0,0),(1,0,0,0)], 1: [(0,1,0,0),(1,0,0,0)] }
        half3[] scales = [(1,1,1),(1,1,1)]"""
    return f"""#usda 1.0
(
    {scene or 'upAxis = "Y"'}
)
def SkelRoot "Root" {{
    {root}
    def Skeleton "Arm" (prepend apiSchemas = ["SkelBindingAPI"]) {{
        {skeleton or f'uniform token[] joints = ["a", "a/b"]{chr(10)}{rest}'}
        rel skel:animationSource = </Root/Arm/Wave>
        def SkelAnimation "Wave" {{
            {animation or moves}
        }}
    }}
}}
"""


def load(tmp_path, text: str, **options) -> kp.Motion:
    path = tmp_path / "x.usda"
    path.write_text(text)
    return kp.load(path, **options)
