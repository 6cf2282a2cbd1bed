"""The broker without a server: what a folder of files promises."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty

from celery import Celery

from certiset.core.jobs.announcer import Announcer
from certiset.core.jobs.messages import FIT_TASK, QUEUE
from certiset.core.settings import Settings
from certiset.worker.celery_app import make_app


def take(app: Celery) -> str | None:
    """The id in the next message."""
    with app.connection_for_read() as connection, connection.channel() as channel:
        queue = app.amqp.queues[QUEUE].bind(channel)
        try:
            message = queue.get(no_ack=True)
        except Empty:
            return None
        return message.payload[0][0] if message is not None else None


def folder_of(settings: Settings) -> Path:
    return settings.home / "broker" / "queue"


def test_messages_arrive_in_order_and_once(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    announcer, app = Announcer.connect(settings, Celery), make_app(settings)
    app.amqp.queues.select([QUEUE])
    for number in range(20):
        assert announcer.announce(f"cal-{number}")
        time.sleep(0.002)
    assert [take(app) for _ in range(10)] == [f"cal-{number}" for number in range(10)]
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda _: take(app), range(14)))
    assert sorted(id for id in taken if id is not None) == sorted(f"cal-{number}" for number in range(10, 20))
    assert list(folder_of(settings).iterdir()) == []
    announcer.close()


def test_a_half_written_message_is_neither_taken_nor_in_the_way(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    announcer, app = Announcer.connect(settings, Celery), make_app(settings)
    app.amqp.queues.select([QUEUE])
    half = folder_of(settings) / f"0_half.{QUEUE}.msg"
    half.write_bytes(b'{"body": "half')
    announcer.announce("cal-1")
    assert take(app) == "cal-1"
    assert take(app) is None
    assert half.exists()
    os.utime(half, (0, 0))
    assert take(app) is None
    assert not half.exists()
    announcer.close()


def test_the_message_carries_the_calibrations_id_and_no_pickle(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    announcer = Announcer.connect(settings, Celery)
    announcer.announce("cal-1")
    (file,) = folder_of(settings).iterdir()
    text = file.read_text()
    assert "application/json" in text
    assert FIT_TASK in text
    app = make_app(settings)
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_acks_late
    assert app.conf.worker_prefetch_multiplier == 1
    announcer.close()


def test_redis_keeps_a_message_hidden_for_longer_than_the_longest_fit() -> None:
    app = make_app(Settings(broker_url="redis://127.0.0.1:1/0", fit_seconds=7200))
    assert app.conf.broker_transport_options["visibility_timeout"] > 7200
