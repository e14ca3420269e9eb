from numpy import bool_, float32, float64, int32, int64, uint8
from numpy.typing import NDArray

_Spans = tuple[NDArray[int32], NDArray[int32], NDArray[int32]]  # joints, first frames, last frames

def parse_rows(
    text: bytes, start: int, columns: int, expected_rows: int, max_rows: int
) -> tuple[NDArray[float64], int, int, str, int, int, int]: ...
def format_rows(values: NDArray[float64], decimals: int) -> bytes: ...
def poses_from_channels(
    channels: NDArray[float64],
    position_columns: NDArray[int32],
    rotation_columns: NDArray[int32],
    rotation_axes: NDArray[int32],
    offsets: NDArray[float64],
) -> tuple[NDArray[float64], NDArray[float64]]: ...
def forward_kinematics(
    parents: NDArray[int32], translations: NDArray[float64], rotations: NDArray[float64]
) -> tuple[NDArray[float64], NDArray[float64]]: ...
def unwrap_euler(angles: NDArray[float64]) -> NDArray[float64]: ...
def salient_paths(
    points: NDArray[float64],
    max_keys: int,
    sum: bool,
    integrated: bool,
    min_gap: int,
    max_gap: int,
    allowed: NDArray[uint8],
    pinned: NDArray[uint8],
    threads: int,
    max_distances: int = 0,
    max_parents: int = 0,
) -> tuple[NDArray[float64], NDArray[int32]]: ...
def table_paths(
    costs: NDArray[float64],
    max_keys: int,
    sum: bool,
    min_gap: int,
    allowed: NDArray[uint8],
    pinned: NDArray[uint8],
    threads: int,
    max_parents: int = 0,
) -> tuple[NDArray[float64], NDArray[int32]]: ...
def inbetween_paths(
    parents: NDArray[int32],
    translations: NDArray[float64],
    rotations: NDArray[float64],
    positions: NDArray[float64],
    weights: NDArray[float64],
    straight: bool,
    mean: bool,
    max_keys: int,
    sum: bool,
    min_gap: int,
    max_gap: int,
    allowed: NDArray[uint8],
    pinned: NDArray[uint8],
    threads: int,
    limit: float = ...,
    top_only: bool = False,
    max_parents: int = 0,
) -> tuple[NDArray[float64], NDArray[int32]]: ...
def inbetween_costs(
    parents: NDArray[int32],
    translations: NDArray[float64],
    rotations: NDArray[float64],
    positions: NDArray[float64],
    weights: NDArray[float64],
    straight: bool,
    mean: bool,
    max_gap: int,
    threads: int,
) -> NDArray[float64]: ...
def chord_costs_within(
    points: NDArray[float64], integrated: bool, max_gap: int, pinned: NDArray[uint8], limit: float, threads: int
) -> NDArray[float64]: ...
def inbetween_costs_within(
    parents: NDArray[int32],
    translations: NDArray[float64],
    rotations: NDArray[float64],
    positions: NDArray[float64],
    weights: NDArray[float64],
    straight: bool,
    mean: bool,
    max_gap: int,
    pinned: NDArray[uint8],
    limit: float,
    threads: int,
) -> NDArray[float64]: ...
def inbetween_spans(
    parents: NDArray[int32],
    translations: NDArray[float64],
    rotations: NDArray[float64],
    positions: NDArray[float64],
    weights: NDArray[float64],
    straight: bool,
    mean: bool,
    keys: NDArray[int32],
) -> NDArray[float64]: ...
def plain_costs(
    times: NDArray[float64],
    values: NDArray[float64],
    scales: NDArray[float64],
    limits: NDArray[float64],
    straight: bool,
    max_gap: int,
    limit: float,
    threads: int,
) -> NDArray[float64]: ...
def plain_fewest_keys(
    times: NDArray[float64],
    values: NDArray[float64],
    scales: NDArray[float64],
    limits: NDArray[float64],
    straight: bool,
) -> NDArray[int32]: ...
def plain_tangents(
    times: NDArray[float64], values: NDArray[float64], straight: bool, keys: NDArray[int32]
) -> NDArray[float64]: ...
def polish(
    parents: NDArray[int32],
    translations: NDArray[float64],
    rotations: NDArray[float64],
    positions: NDArray[float64],
    weights: NDArray[float64],
    moves: NDArray[uint8],
    keys: NDArray[int32],
    out_rotation_tangents: NDArray[float64],
    in_rotation_tangents: NDArray[float64],
    out_translation_tangents: NDArray[float64],
    in_translation_tangents: NDArray[float64],
    lever_mm: float,
    length_mm: float,
    power: float,
    limit_mm: float,
    rounds: int,
    threads: int,
    key_positions: NDArray[float64] | None = None,
    key_weights: NDArray[float64] | None = None,
) -> NDArray[float64]: ...
def swing_spans(
    rotations: NDArray[float64],
    smoothing: int,
    half_window: int,
    min_frames: int,
    rest_speed: float,
    threshold: float,
    cosine: bool,
) -> tuple[_Spans, NDArray[float64], _Spans]: ...
def swing_keys(
    rotations: NDArray[float64],
    tolerances: NDArray[float64],
    joints: NDArray[int32],
    starts: NDArray[int32],
    ends: NDArray[int32],
    first_rotations: NDArray[float64],
    rotation_vectors: NDArray[float64],
    swing_cost: float,
    max_span: int,
) -> tuple[NDArray[int32], NDArray[int32], NDArray[float64], NDArray[uint8], NDArray[float64]]: ...
def lossless_encode(plan: NDArray[int64], numbers: NDArray[int64]) -> bytes: ...
def lossless_decode(plan: NDArray[int64], bytes: bytes, frames: int) -> NDArray[int64]: ...
def format_columns(values: NDArray[float64], decimals: NDArray[int32]) -> bytes: ...
def robust_fits(features: NDArray[float64], target: NDArray[float64], counts: list[int]) -> NDArray[float64]: ...
def error_bits(errors: NDArray[int64], first: NDArray[uint8]) -> float: ...

class IntegerWriter:
    def __init__(self) -> None: ...
    def write(self, kind: int, number: int) -> None: ...
    def finish(self) -> bytes: ...

class IntegerReader:
    def __init__(self, bytes: bytes) -> None: ...
    def read(self, kind: int) -> int: ...
    def finish(self) -> None: ...

class KpsClip:
    @property
    def tracks(self) -> int: ...
    def decode_pose(self, bytes: bytes) -> NDArray[int64]: ...
    def decode_body(
        self, frames: int, bytes: bytes, pose: NDArray[int64], next: NDArray[int64] | None
    ) -> NDArray[int64]: ...
    def poses(self, numbers: NDArray[int64]) -> tuple[NDArray[float64], NDArray[float64]]: ...
    def write_pose(self, grain: int, residuals: NDArray[int32]) -> bytes: ...
    def write_body(self, order: int, grain: int, residuals: NDArray[int32], next: bool) -> bytes: ...

class KpsFigure: ...

class KpsFrames:
    def __init__(
        self,
        positions: NDArray[float64],
        world_rotations: NDArray[float64],
        translations: NDArray[float64],
        numbers: NDArray[float64],
    ) -> None: ...

_Choice = tuple[bool, int, int, NDArray[int32], NDArray[int64]]

def kps_clip(
    parents: NDArray[int32],
    charts: NDArray[float64],
    moves: NDArray[uint8],
    joint_positions: NDArray[float64],
    steps: NDArray[int32],
    centres: NDArray[int64],
    track_priors: NDArray[int32],
    level_priors: NDArray[int32],
) -> KpsClip: ...
def kps_figure(
    clip: KpsClip,
    parents: NDArray[int32],
    end_joints: NDArray[int32],
    end_offsets: NDArray[float64],
    mm_per_unit: float,
) -> KpsFigure: ...
def kps_curvatures(clip: KpsClip, figure: KpsFigure, frames: KpsFrames) -> NDArray[float64]: ...
def kps_choose_pose(clip: KpsClip, figure: KpsFigure, frames: KpsFrames, tolerance_mm: float) -> _Choice: ...
def kps_choose_body(
    clip: KpsClip,
    figure: KpsFigure,
    frames: KpsFrames,
    pose: NDArray[int64],
    next: NDArray[int64] | None,
    tolerance_mm: float,
    order: int,
    tolerance_share: float,
    grain: int,
) -> _Choice: ...
def kps_frame_levels(frames: int, next: bool, order: int) -> NDArray[int32]: ...
def nearest_windows(
    query: NDArray[float32],
    variants: NDArray[int32],
    vectors: NDArray[float32],
    squares: NDArray[float32],
    weights: NDArray[float32],
    bounds: NDArray[int32],
    clip_indices: NDArray[int64],
) -> tuple[NDArray[float32], NDArray[float64]]: ...
def nearest_match(rows: NDArray[float64], pattern: NDArray[float64], first: int, last: int) -> tuple[int, float]: ...

SwingTable = tuple[NDArray[int32], NDArray[float64], NDArray[float64], NDArray[float64], NDArray[bool_]]

def overlap_swings(
    query: SwingTable,
    query_start_s: float,
    query_end_s: float,
    other: SwingTable,
    other_start_s: float,
    other_end_s: float,
    rate: float,
    min_cosine: float,
    by_axes: bool,
) -> tuple[float, int, NDArray[int32], NDArray[float64]]: ...
