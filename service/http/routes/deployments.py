"""Deployments: names that clients use in place of a predictor's id, and what they stood for when."""

import re
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Path, Query, Request, Response

from certiset.core.deployment_resources import (
    Deployment,
    DeploymentRequest,
    DeploymentVersion,
    RollbackRequest,
)
from certiset.core.errors import OptionError
from certiset.core.jobs import deployments
from certiset.core.jobs.deployment_views import deployment_resource, history_of
from certiset.core.store.deployment_records import DeploymentRecord
from certiset.core.store.identifiers import REFERENCE_PATTERN, is_predictor_id
from certiset.service.http.access.requirements import requires
from certiset.service.http.deployment_feed import DeploymentFeed
from certiset.service.http.event_streams import LOOK_SECONDS, START, Silence, event_text, stream_of
from certiset.service.http.routes.dependencies import ActingStore, TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, Items, Limit, problems
from certiset.service.http.state import Service

router = APIRouter(tags=["deployments"], responses=ALWAYS)

Name = Annotated[str, Path(pattern=REFERENCE_PATTERN, description="lower-case letters, digits, dots and dashes")]
IfMatch = Annotated[str | None, Header(description="the version that you have seen, or * for any", max_length=100)]
NameCursor = Annotated[str | None, Query(pattern=REFERENCE_PATTERN, description="next_cursor of the page before")]
NumberCursor = Annotated[str | None, Query(pattern=r"^[0-9]{1,18}$", description="next_cursor of the page before")]
_VERSION = re.compile(r'(?:W/)?"?([0-9]{1,9})"?')
_ANY = "*"


@router.get("/deployments", response_model=Items[Deployment], responses=problems(422))
@requires("read")
def list_deployments(service: TheService, caller: TheCaller, limit: Limit = 50, cursor: NameCursor = None) -> Any:
    """By name."""
    with service.store.reading() as work:
        page = work.deployments.list(caller.tenant, limit=limit, cursor=cursor)
        return Items.of(page, lambda record: deployment_resource(work, record))


@router.get("/deployments/{name}", response_model=Deployment, responses=problems(404, 422))
@requires("read")
def get_deployment(name: Name, response: Response, service: TheService, caller: TheCaller) -> Any:
    with service.store.reading() as work:
        return _shown(work, work.deployments.get(caller.tenant, name), response)


@router.put(
    "/deployments/{name}",
    response_model=Deployment,
    responses={**problems(400, 404, 409, 412, 413, 422), 201: {"description": "it is new", "model": Deployment}},
)
@requires("write", action="deployment.set")
async def set_deployment(
    name: Name,
    body: DeploymentRequest,
    response: Response,
    service: TheService,
    caller: TheCaller,
    store: ActingStore,
    if_match: IfMatch = None,
    if_none_match: Annotated[str | None, Header(pattern=r"^\*$", description="* : only if there is none")] = None,
) -> Any:
    """Makes the name stand for a predictor: here at once, on other replicas within seconds.

    A request that has begun is answered by the predictor with which it began. Asking for what there is changes nothing;
    any change begins a new block of outcomes, of inputs that are asked later.
    """
    expected = _expected(if_match)
    if is_predictor_id(body.predictor):
        # What cannot be served is refused before anybody is sent to it.
        await service.predictors.get(caller.tenant, body.predictor)
    change = partial(deployments.set_deployment, expected=expected, new=if_none_match is not None)
    if if_match is not None and if_match.strip() == _ANY:
        await run_sync(_look_for, service, caller.tenant, name)
    record, is_new = await run_sync(change, store, caller.tenant, name, body)
    response.status_code = 201 if is_new else 200
    return await _changed(service, record, response)


@router.post(
    "/deployments/{name}/rollback", response_model=Deployment, responses=problems(400, 404, 409, 412, 413, 422)
)
@requires("write", action="deployment.rollback")
async def roll_back(
    name: Name,
    response: Response,
    service: TheService,
    caller: TheCaller,
    store: ActingStore,
    body: RollbackRequest | None = None,
    if_match: IfMatch = None,
) -> Any:
    """Goes back to the predictor that the name stood for before, or at some version."""
    version = None if body is None else body.version
    change = partial(deployments.roll_back, expected=_expected(if_match))
    record = await run_sync(change, store, caller.tenant, name, version)
    return await _changed(service, record, response)


@router.delete("/deployments/{name}", status_code=204, response_class=Response, responses=problems(404, 409, 412, 422))
@requires("write", action="deployment.delete")
async def delete_deployment(
    name: Name, service: TheService, caller: TheCaller, store: ActingStore, if_match: IfMatch = None
) -> None:
    """The name stands for nothing any more. Predictors, certificates and the history stay; collected rows do not."""
    change = partial(deployments.delete_deployment, expected=_expected(if_match))
    await run_sync(change, store, caller.tenant, name)
    service.names.forget(caller.tenant, name)


@router.get("/deployments/{name}/history", response_model=Items[DeploymentVersion], responses=problems(404, 422))
@requires("read")
def get_history(
    name: Name, service: TheService, caller: TheCaller, limit: Limit = 50, cursor: NumberCursor = None
) -> Any:
    """What the name stood for when, newest first; also of one that was deleted."""
    with service.store.reading() as work:
        return Items.of(history_of(work, caller.tenant, name, limit=limit, cursor=cursor), lambda version: version)


@router.get(
    "/deployments/{name}/events",
    response_class=Response,
    responses={
        **problems(404, 422),
        200: {"description": "server-sent events, each a `DeploymentEvent`", "content": {"text/event-stream": {}}},
    },
)
@requires("read")
async def watch_deployment(
    name: Name,
    request: Request,
    service: TheService,
    caller: TheCaller,
    last_event_id: Annotated[str | None, Header(pattern=r"^[0-9]{1,18}$")] = None,
) -> Any:
    """What happens to a deployment, an event each: all that are known, or those after `Last-Event-ID`, and those to
    come. The event's name is its `kind`."""
    seen = int(last_event_id) if last_event_id else 0
    feeds = service.deployment_feeds
    return await stream_of(service, caller, feeds, name, lambda feed: _events(feed, request, seen))


async def _events(feed: DeploymentFeed, request: Request, seen: int) -> AsyncIterator[bytes]:
    yield START
    silence = Silence()
    while True:
        for event in feed.after(seen):
            seen = event.number
            yield event_text(event.kind, seen, event.model_dump(mode="json"))
            silence.broken()
        if comment := silence.comment():
            yield comment
        if feed.is_over or await request.is_disconnected():
            return
        await feed.change(LOOK_SECONDS)


async def _changed(service: Service, record: DeploymentRecord, response: Response) -> Deployment:
    service.names.learn(record)

    def look() -> Deployment:
        with service.store.reading() as work:
            return _shown(work, record, response)

    return await run_sync(look)


def _shown(work: Any, record: DeploymentRecord, response: Response) -> Deployment:
    response.headers["ETag"] = f'"{record.version}"'
    return deployment_resource(work, record)


def _look_for(service: Service, tenant: str, name: str) -> None:
    with service.store.reading() as work:
        work.deployments.get(tenant, name)


def _expected(if_match: str | None) -> int | None:
    if if_match is None or if_match.strip() == _ANY:
        return None
    found = _VERSION.fullmatch(if_match.strip())
    if found is None:
        raise OptionError('If-Match must be a version, such as "3", or *.', field="if-match")
    return int(found[1])
