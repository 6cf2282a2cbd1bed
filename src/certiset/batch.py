"""Sets for many rows, where these already are: `SetPredictor` for Ray Data and Spark, `predict_file` for files.

from certiset.batch import SetPredictor

ray.data.read_parquet("rows.parquet").map_batches(SetPredictor, fn_constructor_args=["predictor"], concurrency=2)
spark_frame.mapInArrow(SetPredictor("predictor"), schema)
"""

from certiset.extras import explaining

with explaining("certiset.batch"):
    from certiset.core.batch import SetPredictor, predict_file

__all__ = ["SetPredictor", "predict_file"]
