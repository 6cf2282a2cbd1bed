"""A process that answers with what it was asked, in capitals; asked to, it dies instead."""

import asyncio
import os
import socket
import sys

from certiset.service.batches.channel import Channel, write_all


async def main() -> None:
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    hello = await channel.receive()
    assert hello is not None
    await channel.send({"ready": True})
    while (asked := await channel.receive()) is not None:
        message, body = asked
        if message["word"] == "die" or body is None:
            os._exit(1)
        if message["word"] == "wait":
            continue
        content = os.read(body, os.fstat(body).st_size)
        os.close(body)
        answer = os.memfd_create("answer")
        write_all(answer, [content.upper()])
        os.lseek(answer, 0, os.SEEK_SET)
        await channel.send({"id": message["id"], "word": message["word"], "hello": hello[0]["greeting"]}, answer)
        os.close(answer)


if __name__ == "__main__":
    asyncio.run(main())
