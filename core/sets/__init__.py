"""What a prediction set is: label sets, intervals, balls and boxes, in batches of one set a row."""

from core.sets.balls import Balls
from core.sets.boxes import Boxes
from core.sets.intervals import Intervals
from core.sets.labels import LabelSets
from core.sets.protocol import PredictionSets

__all__ = ["Balls", "Boxes", "Intervals", "LabelSets", "PredictionSets"]
