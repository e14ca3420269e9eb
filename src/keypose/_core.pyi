from numpy import float64, int32, uint8
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
