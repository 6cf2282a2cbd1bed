"""The worker's Celery app: the deployment's configuration, and the embedded broker's transport."""

from celery import Celery

from certiset.core.jobs.announcer import make_celery_app
from certiset.core.settings import Settings


def make_app(settings: Settings) -> Celery:
    app = make_celery_app(settings, Celery)
    if not settings.broker_url:
        app.conf.broker_transport = "certiset.worker.file_broker:Transport"
    return app
