"""A broker without a server: each message is a file in a folder.

Kombu's file transport moves a message before reading it, and so can take one that is still being written. Here a
message is taken by deleting its file, and only after it has been read completely.
"""

import json
import os
import time
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import filesystem

_HALF_WRITTEN_SECONDS = 10.0


class Channel(filesystem.Channel):
    def _get(self, queue: str, timeout: float | None = None) -> Any:
        folder = Path(self.data_folder_in)
        for name in sorted(os.listdir(folder), key=_age):
            if name.partition(".")[2] != f"{queue}.msg":
                continue
            file = folder / name
            try:
                content = json.loads(file.read_bytes())
            except FileNotFoundError:
                continue
            except ValueError:
                _drop_if_old(file)
                continue
            try:
                file.unlink()
            except FileNotFoundError:
                # Another worker was faster.
                continue
            return content
        raise Empty


def _age(name: str) -> tuple[int, str]:
    """Names begin with the milliseconds at which they were written."""
    milliseconds = name.partition("_")[0]
    return (int(milliseconds) if milliseconds.isdigit() else 0, name)


class Transport(filesystem.Transport):
    Channel = Channel


def _drop_if_old(file: Path) -> None:
    """A message whose writer was killed midway is never completed; the sweeper announces the job again."""
    try:
        if time.time() - file.stat().st_mtime > _HALF_WRITTEN_SECONDS:
            file.unlink()
    except FileNotFoundError:
        pass
