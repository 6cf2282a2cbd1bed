"""Sets for many rows, where these already are: batches of Ray, Spark or Arrow, and files larger than memory."""

from certiset.core.batch.set_predictor import SetPredictor
from certiset.core.batch.table_files import predict_file

__all__ = ["SetPredictor", "predict_file"]
