"""The one who tells the workers: never raises, never hangs for long, and says the same whoever sends it."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from celery import Celery

from certiset.core.jobs import announcer
from certiset.core.jobs.announcer import Announcer, make_celery_app
from certiset.core.jobs.messages import FIT_TASK, QUEUE, celery_configuration, fit_message
from certiset.core.settings import Settings
from certiset.worker.celery_app import make_app


class FakeApp:
    """Stands for a Celery app; `send` is what its broker does."""

    def __init__(self) -> None:
        self.conf: dict[str, Any] = {}
        self.sent: list[Any] = []
        self.send: Any = self.sent.append
        self.closed = False

    def send_task(self, name: str, **options: Any) -> None:
        self.send((name, options))

    def connection_for_write(self, **options: Any) -> Any:
        raise ConnectionRefusedError

    def close(self) -> None:
        self.closed = True


def test_the_message_names_the_task_and_carries_the_id() -> None:
    app = FakeApp()
    assert Announcer(app).announce("cal-1")
    ((name, options),) = app.sent
    assert (name, options["args"], options["queue"]) == (FIT_TASK, ["cal-1"], QUEUE)
    assert options["retry"] is False
    assert fit_message("cal-1") == {"name": name, **options}


@pytest.mark.parametrize("error", [ConnectionRefusedError("refused"), RuntimeError(), KeyError("x")])
def test_a_broker_that_fails_is_logged_and_not_raised(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    app = FakeApp()

    def fail(_: Any) -> None:
        raise error

    app.send = fail
    announcer = Announcer(app)
    assert not announcer.announce("cal-1")
    assert "cal-1 could not be announced" in caplog.text
    app.send = app.sent.append
    assert announcer.announce("cal-1"), "the lock was released"


def test_messages_are_sent_one_at_a_time_and_nobody_waits_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announcer, "_WAIT_SECONDS", 0.05)
    app, hanging, resume = FakeApp(), threading.Event(), threading.Event()

    def hang(_: Any) -> None:
        hanging.set()
        resume.wait(10)

    app.send = hang
    shared = Announcer(app)
    first = threading.Thread(target=shared.announce, args=("cal-1",))
    first.start()
    hanging.wait(10)
    begin = time.monotonic()
    assert not shared.announce("cal-2")
    assert time.monotonic() - begin < 5
    resume.set()
    first.join()
    app.send = app.sent.append
    assert shared.announce("cal-3")


def test_ping_raises_and_close_closes() -> None:
    app = FakeApp()
    with pytest.raises(ConnectionRefusedError):
        Announcer(app).ping()
    Announcer(app).close()
    assert app.closed


def test_ping_of_the_embedded_broker_and_of_no_broker(tmp_path: Path) -> None:
    embedded = Announcer.connect(Settings(home=tmp_path), Celery)
    embedded.ping()
    embedded.close()
    nobody = Announcer.connect(Settings(home=tmp_path, broker_url="redis://127.0.0.1:1/0"), Celery)
    with pytest.raises(Exception, match="refused"):
        nobody.ping()
    assert not nobody.announce("cal-1")
    nobody.close()


@pytest.mark.parametrize("broker_url", ["", "redis://127.0.0.1:1/0"])
def test_sender_and_worker_have_one_configuration(tmp_path: Path, broker_url: str) -> None:
    settings = Settings(home=tmp_path, broker_url=broker_url)
    sender, worker = make_celery_app(settings, Celery), make_app(settings)
    for name, value in celery_configuration(settings).items():
        assert sender.conf[name] == worker.conf[name] == value
    assert worker.conf.broker_transport == (None if broker_url else "certiset.worker.file_broker:Transport")
