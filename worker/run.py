"""A worker process: Celery receives messages, one thread per device supervises a fit, one more sweeps."""

import json
import logging
import os
import socket
from dataclasses import replace
from functools import partial
from typing import Any

from celery import signals

from certiset.core.certificate import Account, Certificate, DeploymentAccount, Names
from certiset.core.certificate.issuer_keys import IssuerKeys
from certiset.core.certificate.signing import Signer
from certiset.core.jobs.announcer import Announcer
from certiset.core.jobs.messages import FIT_TASK, QUEUE
from certiset.core.kinds import check_kinds
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.audit import WORKER
from certiset.core.store.predictors import FitResult
from certiset.core.store.records import Dataset
from certiset.worker.celery_app import make_app
from certiset.worker.context import WorkerContext
from certiset.worker.devices import Slots, find_slots
from certiset.worker.recalibrator import Recalibrator
from certiset.worker.supervisor import Supervisor
from certiset.worker.sweeper import Sweeper

_log = logging.getLogger(__name__)


def run_worker(settings: Settings, log_level: str = "INFO") -> None:
    """Runs until SIGTERM or Ctrl-C; running fits are then requeued, and the attempt does not count."""
    logging.basicConfig(level=log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for chatty in ("alembic", "celery.app.trace", "celery.worker.strategy"):
        logging.getLogger(chatty).setLevel("WARNING")
    check_kinds()
    store = Store.ready(settings).acting_for(WORKER)
    app = make_app(settings)
    slots = Slots(find_slots(settings, os.environ))
    signer = Signer.from_file_or_new(settings.signing_key, settings.issuer)
    issuer_keys = IssuerKeys.of(signer.public_key, map(str.strip, settings.retired_keys.split(",")))
    context = WorkerContext(settings, store, Announcer(app).announce, partial(_signed, signer), issuer_keys)
    supervisor = Supervisor(context, slots)

    def fit(calibration_id: Any) -> None:
        # Only a wake-up call: whose turn it is stands in the database.
        supervisor.run()

    def stop(**_: Any) -> None:
        context.stopping.set()

    def ready(**_: Any) -> None:
        _log.info("ready, with %d device(s)", slots.count)

    app.task(name=FIT_TASK)(fit)
    signals.worker_shutting_down.connect(stop, weak=False)
    signals.worker_ready.connect(ready, weak=False)
    supervisor.warm_up()
    # Started before the broker has answered: jobs are swept and taken without it, too.
    Sweeper(context, supervisor).start()
    Recalibrator(context).start()
    try:
        app.Worker(
            hostname=f"certiset-{os.getpid()}@{socket.gethostname()}",
            pool="threads",
            concurrency=slots.count,
            queues=[QUEUE],
            loglevel=log_level,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
            quiet=True,
        ).start()
    finally:
        context.stopping.set()
        supervisor.close()
        store.close()


def _signed(
    signer: Signer,
    result: FitResult,
    dataset: Dataset | None,
    account: Account | None,
    deployment: DeploymentAccount | None = None,
) -> FitResult:
    """With what the fitting process does not know: the file that the data came in, the attempts, and who signs."""
    certificate = replace(Certificate.from_json(result.document), account=account, deployment=deployment)
    if dataset is not None and certificate.data is not None:
        certificate = replace(
            certificate,
            data=replace(certificate.data, file_sha256=dataset.sha256),
            names=replace(certificate.names or Names(), dataset=dataset.name),
        )
    return replace(result, document=json.dumps(signer.sign(certificate).to_json(), allow_nan=False))
