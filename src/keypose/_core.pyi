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
    least_gap: int,
    greatest_gap: int,
    allowed: NDArray[uint8],
    pinned: NDArray[uint8],
    threads: int,
    most_distances: int = 0,
    most_parents: int = 0,
) -> tuple[NDArray[float64], NDArray[int32]]: ...
def table_paths(
    costs: NDArray[float64],
    max_keys: int,
    sum: bool,
    least_gap: int,
    allowed: NDArray[uint8],
    pinned: NDArray[uint8],
    threads: int,
    most_parents: int = 0,
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
    least_gap: int,
    greatest_gap: int,
    allowed: NDArray[uint8],
    pinned: NDArray[uint8],
    threads: int,
    limit: float = ...,
    top_only: bool = False,
    most_parents: int = 0,
) -> tuple[NDArray[float64], NDArray[int32]]: ...
def inbetween_costs(
    parents: NDArray[int32],
    translations: NDArray[float64],
    rotations: NDArray[float64],
    positions: NDArray[float64],
    weights: NDArray[float64],
    straight: bool,
    mean: bool,
    greatest_gap: int,
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
def polish(
    parents: NDArray[int32],
    translations: NDArray[float64],
    rotations: NDArray[float64],
    positions: NDArray[float64],
    weights: NDArray[float64],
    keys: NDArray[int32],
    leaving_turns: NDArray[float64],
    arriving_turns: NDArray[float64],
    leaving_shifts: NDArray[float64],
    arriving_shifts: NDArray[float64],
    lever_mm: float,
    length_mm: float,
    power: float,
    limit_mm: float,
    rounds: int,
    threads: int,
) -> NDArray[float64]: ...
def swing_spans(
    rotations: NDArray[float64],
    smoothing: int,
    half_window: int,
    least: int,
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
    turns: NDArray[float64],
    swing_cost: float,
    longest: int,
) -> tuple[NDArray[int32], NDArray[int32], NDArray[float64], NDArray[uint8], NDArray[float64]]: ...
def lossless_encode(plan: NDArray[int64], numbers: NDArray[int64]) -> bytes: ...
def lossless_decode(plan: NDArray[int64], bytes: bytes, frames: int) -> NDArray[int64]: ...
def format_columns(values: NDArray[float64], decimals: NDArray[int32]) -> bytes: ...
def trusting_fits(features: NDArray[float64], target: NDArray[float64], counts: list[int]) -> NDArray[float64]: ...
def miss_bits(misses: NDArray[int64], first: NDArray[uint8]) -> float: ...

class NumbersOut:
    def __init__(self) -> None: ...
    def put(self, kind: int, number: int) -> None: ...
    def finish(self) -> bytes: ...

class NumbersIn:
    def __init__(self, bytes: bytes) -> None: ...
    def take(self, kind: int) -> int: ...
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
        turns: NDArray[float64],
        translations: NDArray[float64],
        numbers: NDArray[float64],
    ) -> None: ...

_Chosen = tuple[bool, int, int, NDArray[int32], NDArray[int64]]

def kps_clip(
    parents: NDArray[int32],
    charts: NDArray[float64],
    moves: NDArray[uint8],
    places: NDArray[float64],
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
def kps_choose_pose(clip: KpsClip, figure: KpsFigure, frames: KpsFrames, tolerance_mm: float) -> _Chosen: ...
def kps_choose_body(
    clip: KpsClip,
    figure: KpsFigure,
    frames: KpsFrames,
    pose: NDArray[int64],
    next: NDArray[int64] | None,
    tolerance_mm: float,
    order: int,
    kept: float,
    grain: int,
) -> _Chosen: ...
def kps_frame_levels(frames: int, next: bool, order: int) -> NDArray[int32]: ...
def nearest_windows(
    query: NDArray[float32],
    ways: NDArray[int32],
    vectors: NDArray[float32],
    squares: NDArray[float32],
    weights: NDArray[float32],
    bounds: NDArray[int32],
    chosen: NDArray[int64],
) -> tuple[NDArray[float32], NDArray[float64]]: ...
def nearest_place(rows: NDArray[float64], piece: NDArray[float64], first: int, last: int) -> tuple[int, float]: ...

Swinging = tuple[NDArray[int32], NDArray[float64], NDArray[float64], NDArray[float64], NDArray[bool_]]

def overlap_swings(
    query: Swinging,
    query_from: float,
    query_to: float,
    other: Swinging,
    other_from: float,
    other_to: float,
    rate: float,
    least_cosine: float,
    by_axes: bool,
) -> tuple[float, int, NDArray[int32], NDArray[float64]]: ...
