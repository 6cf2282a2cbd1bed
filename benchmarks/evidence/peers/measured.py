"""What is measured of one library on one split."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PeerMeasured:
    seed: int
    method: str
    promise: str
    """`MARGINAL` or `PAC`"""
    lines: int
    size: float
    """mean over the test points: labels, or width"""
    coverage: float
    calibration_seconds: float
    """CPU seconds from a trained model and its rows to a predictor"""
    row_us: float
    """microseconds of CPU time for a set of one row, with the model"""
    batch_us: float
    """the same for each of 10,000 rows"""
    model_row_us: float
    """of this the model's own part"""
    model_batch_us: float


MARGINAL, PAC = "marginal", "pac"
"""the two promises: on average over calibration sets; and for this one, but for a chance of delta"""
