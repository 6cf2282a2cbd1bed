"""A request's body as one piece: a large one is put together in a thread, since copying it would hold everybody up."""

from starlette.requests import Request

from certiset.service.serving.set_server import SetServer

ON_THE_SPOT = 2**16
"""bytes that the event loop copies or parses itself"""


async def read_body(request: Request, sets: SetServer, tenant: str) -> bytes:
    pieces = [piece async for piece in request.stream()]
    if sum(map(len, pieces)) <= ON_THE_SPOT:
        return b"".join(pieces)
    return await sets.in_thread(tenant, b"".join, pieces)
