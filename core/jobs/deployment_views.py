"""Deployments, their history and their events as the resources that users see."""

from certiset.core.certificate.rounding import without_noise
from certiset.core.deployment_resources import Block, Deployment, DeploymentEvent, DeploymentVersion, Recalibrate, Spend
from certiset.core.errors import NotFoundError
from certiset.core.jobs.views import certificate_status, instant
from certiset.core.store.deployment_records import DeploymentEventRecord, DeploymentRecord
from certiset.core.store.deployments import DELETED
from certiset.core.store.paging import Page
from certiset.core.store.store import Transaction

_DAY = 86400.0


def deployment_resource(work: Transaction, record: DeploymentRecord) -> Deployment:
    predictor = work.predictors.find(record.tenant, record.predictor_id)
    contradicted = work.outcomes.monitor(record.tenant, record.predictor_id).contradicted_at is not None
    gone = predictor is None or predictor.withdrawn_at is not None
    return Deployment(
        name=record.name,
        predictor=record.predictor_id,
        version=record.version,
        since=instant(record.since),
        created_at=instant(record.created_at),
        certificate_id="" if predictor is None else predictor.certificate_id,
        certificate_status=certificate_status(contradicted=contradicted, withdrawn=gone),
        recalibrate=None if record.recalibrate is None else Recalibrate.model_validate(record.recalibrate),
        spend="per_deployment" if record.spend is None else Spend.model_validate(record.spend),
        predictors=record.generations,
        delta_all=without_noise(record.spent),
        block=_block(work, record),
    )


def _block(work: Transaction, record: DeploymentRecord) -> Block | None:
    if record.recalibrate is None or record.block_began is None:
        return None
    days = record.recalibrate["every"].get("days")
    return Block(
        number=record.block,
        rows=record.block_rows,
        issued=max(0, record.issued - record.block_issued),
        began_at=instant(record.block_began),
        ends_at=None if days is None else instant(record.block_began + _DAY * days),
        waiting=tuple(work.blocks.calibrations_of(record)),
    )


def event_resource(record: DeploymentEventRecord) -> DeploymentEvent:
    return DeploymentEvent(
        number=record.number,
        kind=record.kind,
        at=instant(record.at),
        name=record.name,
        version=record.version,
        predictor=record.predictor_id,
        details=record.details,
    )


def history_of(
    work: Transaction, tenant: str, name: str, *, limit: int = 50, cursor: str | None = None
) -> Page[DeploymentVersion]:
    """What the name stood for, newest first, also after it was deleted."""
    before = None if cursor is None else int(cursor)
    found = work.deployments.switches(tenant, name, limit=limit + 1, before=before)
    if not found and before is None:
        raise NotFoundError(f"There is no deployment {name}.")
    later = None if before is None else work.deployments.next_switch(tenant, name, before - 1)
    until = None if later is None else later.at
    items = []
    for event in found[:limit]:
        items.append(
            DeploymentVersion(
                version=event.version,
                how=event.kind,
                predictor=None if event.kind == DELETED else event.predictor_id,
                since=instant(event.at),
                until=instant(until),
            )
        )
        until = event.at
    return Page(items, str(found[limit - 1].number) if len(found) > limit else None)
