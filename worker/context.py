"""What all attempts of a worker share."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from certiset.core.certificate.content import Account, DeploymentAccount
from certiset.core.certificate.issuer_keys import IssuerKeys
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.predictors import FitResult
from certiset.core.store.records import Dataset
from certiset.worker.fitting_process import FittingProcesses

_JOBS_OF_A_PROCESS = 100


@dataclass(frozen=True)
class WorkerContext:
    settings: Settings
    store: Store
    announce: Callable[[str], bool]
    sign: Callable[[FitResult, Dataset | None, Account | None, DeploymentAccount | None], FitResult]
    """signs a certificate, with its accounts, by the issuer's key, which the fitting process does not have; without a
    data set if that was deleted"""
    issuer_keys: IssuerKeys
    """whose certificates batches are served under"""
    stopping: threading.Event = field(default_factory=threading.Event)
    """set when the worker shuts down: running fits are requeued"""

    @cached_property
    def processes(self) -> FittingProcesses:
        return FittingProcesses(_JOBS_OF_A_PROCESS, self.settings.artifacts, self.settings.worker_scratch)
