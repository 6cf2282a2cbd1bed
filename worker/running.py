"""A worker process: Celery consumes, a thread a device supervises, one more sweeps."""

import json
import logging
import os
import socket
import threading
from dataclasses import replace
from functools import partial
from typing import Any

from celery import Celery, signals

from core.certificate import Certificate
from core.certificate.signing import Signer
from core.errors import first_line
from core.messages import FIT_TASK, QUEUE
from core.settings import Settings
from core.store import Store
from core.store.predictors import Outcome
from worker.app import make_app
from worker.devices import Slots, find_slots
from worker.progress import Publisher
from worker.supervising import Supervisor
from worker.sweeping import Sweeper

_log = logging.getLogger(__name__)


def run_worker(settings: Settings, log_level: str = "INFO") -> None:
    """Runs until SIGTERM or Ctrl-C; running fits are then given back, and the attempt does not count."""
    logging.basicConfig(level=log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for chatty in ("alembic", "celery.app.trace", "celery.worker.strategy"):
        logging.getLogger(chatty).setLevel("WARNING")
    store = Store.ready(settings)
    app = make_app(settings)
    slots = Slots(find_slots(settings, os.environ))
    announce = _Announcer(app)
    signer = Signer.from_file_or_new(settings.signing_key)
    supervisor = Supervisor(settings, store, slots, Publisher(settings), announce, partial(_signed, signer))

    def fit(calibration_id: str) -> None:
        supervisor.run(calibration_id)

    def stop(**_: Any) -> None:
        supervisor.stopping.set()

    def ready(**_: Any) -> None:
        _log.info("ready, with %d device(s)", slots.count)

    app.task(name=FIT_TASK)(fit)
    signals.worker_shutting_down.connect(stop, weak=False)
    signals.worker_ready.connect(ready, weak=False)
    supervisor.warm_up()
    # Not only when the broker has answered: jobs are swept, and taken, without it.
    Sweeper(settings, store, supervisor, announce).start()
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
        supervisor.stopping.set()
        supervisor.close()
        store.close()


def _signed(signer: Signer, outcome: Outcome) -> Outcome:
    certificate = signer.sign(Certificate.from_json(outcome.document))
    return replace(outcome, document=json.dumps(certificate.to_json(), allow_nan=False))


class _Announcer:
    """Sends a calibration's message; if the broker is away, the sweeper will do so later."""

    def __init__(self, app: Celery) -> None:
        self._app, self._lock = app, threading.Lock()

    def __call__(self, calibration_id: str) -> bool:
        """Whether the broker has it."""
        try:
            with self._lock:
                self._app.send_task(FIT_TASK, args=[calibration_id], queue=QUEUE, retry=False)
        except Exception as error:
            _log.warning("%s could not be announced: %s", calibration_id, first_line(error))
            return False
        return True
