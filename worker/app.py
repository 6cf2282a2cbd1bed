"""The Celery app. A message is a wake-up call with a calibration's id; what is true stands in the database."""

from celery import Celery

from core.messages import QUEUE, broker_url, prepare_broker, transport_options
from core.settings import Settings


def make_app(settings: Settings) -> Celery:
    prepare_broker(settings)
    app = Celery("certiset", set_as_current=False)
    app.conf.update(
        broker_url=broker_url(settings),
        broker_transport=None if settings.broker_url else "worker.embedded:Transport",
        broker_transport_options=transport_options(settings),
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=2,
        # A message is gone only when its fit has ended; until then another worker may have to take it.
        task_acks_late=True,
        worker_prefetch_multiplier=1,
        task_default_queue=QUEUE,
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        # Fits are watched through the database; chatter between workers only adds ways to lose the broker.
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        # Running fits are protected by their leases, not by the broker's connection.
        worker_cancel_long_running_tasks_on_connection_loss=False,
    )
    return app
