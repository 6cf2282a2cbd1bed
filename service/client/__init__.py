"""A typed client of the HTTP service: ``from certiset import Client``. It needs neither torch nor the store."""

from certiset.core.batch_resources import Batch
from certiset.core.deployment_resources import Deployment, DeploymentEvent, DeploymentVersion
from certiset.core.insight_resources import ModelOutputs
from certiset.core.monitor_resources import Monitor, OutcomesCounted
from certiset.core.resources import (
    AuditEntry,
    Calibration,
    Dataset,
    Model,
    Predictor,
    Progress,
    Promise,
    PublicKey,
    Ready,
    Usage,
    Verification,
)
from certiset.service.client.certificate import Certificate, SizeStatement
from certiset.service.client.client import Client
from certiset.service.client.errors import ApiError, ClientError, UnreachableError
from certiset.service.client.events import Event
from certiset.service.client.predictions import Prediction, Predictions, PredictionSet

__all__ = [
    "ApiError",
    "AuditEntry",
    "Batch",
    "Calibration",
    "Certificate",
    "Client",
    "ClientError",
    "Dataset",
    "Deployment",
    "DeploymentEvent",
    "DeploymentVersion",
    "Event",
    "Model",
    "ModelOutputs",
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
    "SizeStatement",
    "UnreachableError",
    "Usage",
    "Verification",
]
