"""A typed client of the HTTP service: ``from service.client import Client``. It needs neither torch nor the store."""

from service.client.answers import (
    Calibration,
    Dataset,
    Model,
    Monitor,
    OutcomesCounted,
    Predictor,
    Progress,
    PublicKey,
    Ready,
    Verification,
)
from service.client.certificate import Certificate
from service.client.client import Client
from service.client.errors import ApiError, ClientError, UnreachableError
from service.client.events import Event
from service.client.predictions import Prediction, Predictions, PredictionSet, Promise

__all__ = [
    "ApiError",
    "Calibration",
    "Certificate",
    "Client",
    "ClientError",
    "Dataset",
    "Event",
    "Model",
    "Monitor",
    "OutcomesCounted",
    "Prediction",
    "PredictionSet",
    "Predictions",
    "Predictor",
    "Progress",
    "Promise",
    "PublicKey",
    "Ready",
    "UnreachableError",
    "Verification",
]
