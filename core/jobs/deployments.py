"""Deployments: a name is set, rolled back and deleted, each in one transaction.

A change by hand may rest on everything that was seen so far, reported outcomes included. It therefore begins a new
block: only inputs that are asked later calibrate the next predictor (`certiset.core.jobs.collecting`).
"""

from typing import Any

from certiset.core.certificate import Certificate
from certiset.core.certificate.population import is_by_class, listed_groups
from certiset.core.deployment_resources import DeploymentRequest, Spend
from certiset.core.errors import ConflictError, NotFoundError, OptionError, VersionError
from certiset.core.jobs.collecting import begin_block, drop_rows, end_blocks
from certiset.core.jobs.recipes import check_rows, recipe_of
from certiset.core.store.deployment_records import DeploymentRecord
from certiset.core.store.deployments import DELETED
from certiset.core.store.identifiers import KINDS, is_predictor_id
from certiset.core.store.quotas import Amounts
from certiset.core.store.records import PredictorRecord
from certiset.core.store.store import Store, Transaction

_ROUNDING = 1e-9


def check_name(name: str) -> None:
    """Raises an error if a name could be taken for an id."""
    kind, dash, _ = name.partition("-")
    if dash and kind in KINDS:
        raise OptionError(f"A name does not begin with {kind}-, as ids do: choose another one.", field="name")


def set_deployment(
    store: Store, tenant: str, name: str, request: DeploymentRequest, *, expected: int | None = None, new: bool = False
) -> tuple[DeploymentRecord, bool]:
    """The deployment as it is now, and whether it is new. Asking for what there is changes nothing.

    ``expected`` is the version that the caller has seen; ``new`` says that there must be none.
    """
    check_name(name)
    if not is_predictor_id(request.predictor):
        raise OptionError("predictor must be the id of a predictor, such as pred-1f0c.", field="predictor")
    settings = {
        "recalibrate": None if request.recalibrate is None else request.recalibrate.model_dump(exclude_none=True),
        "spend": request.spend.model_dump() if isinstance(request.spend, Spend) else None,
    }
    with store.writing() as work:
        work.tenants.lock(tenant)
        predictor = _predictor(work, tenant, request.predictor)
        known = work.deployments.find(tenant, name, lock=True)
        _check_version(name, known, expected, new=new)
        if known is not None and known.predictor_id == predictor.id and _settings(known) == settings:
            return known, False
        if known is None:
            work.tenants.admit(tenant, Amounts(deployments=1))
            record = work.deployments.add(tenant, name, predictor.id, **settings)
            kind = "created"
        else:
            record, kind = known, "switched" if known.predictor_id != predictor.id else "changed"
            _check_alike(work, record, predictor)
            if kind == "switched":
                work.deployments.switch(record, predictor.id)
            else:
                record.version += 1
            # What is dropped spends what was to be spent on it, whatever the next blocks will.
            end_blocks(work, record)
            record.recalibrate, record.spend = settings["recalibrate"], settings["spend"]
        begin_block(work, record)
        if record.recalibrate is not None:
            record.recipe = recipe_of(work, predictor, record.recalibrate.get("population"))
            check_rows(record)
        spend_on(work, record, predictor)
        work.deployments.record_event(record, kind)
        details = {"predictor": predictor.id, "version": record.version}
        work.audit.add("deployment.set", tenant, "deployment", name, details=details)
        return record, kind == "created"


def roll_back(
    store: Store, tenant: str, name: str, version: int | None = None, *, expected: int | None = None
) -> DeploymentRecord:
    """Goes back to the predictor of an earlier version, or to the one before; it must still be there."""
    with store.writing() as work:
        work.tenants.lock(tenant)
        record = work.deployments.find(tenant, name, lock=True)
        if record is None:
            raise NotFoundError(f"There is no deployment {name}.")
        _check_version(name, record, expected)
        predictor = _predictor(work, tenant, _earlier(work, record, version), field="version")
        if predictor.id == record.predictor_id:
            raise ConflictError(f"{name} stands for {predictor.id} already.", field="version")
        # Under the same name another deployment may have stood for it, that was deleted.
        _check_alike(work, record, predictor)
        work.deployments.switch(record, predictor.id)
        begin_block(work, record)
        spend_on(work, record, predictor)
        work.deployments.record_event(record, "rolled_back")
        details = {"predictor": predictor.id, "version": record.version}
        work.audit.add("deployment.rollback", tenant, "deployment", name, details=details)
        return record


def delete_deployment(store: Store, tenant: str, name: str, *, expected: int | None = None) -> None:
    """The name stands for nothing any more; predictors, and what the name stood for when, stay."""
    with store.writing() as work:
        work.tenants.lock(tenant)
        record = work.deployments.find(tenant, name, lock=True)
        if record is None:
            raise NotFoundError(f"There is no deployment {name}.")
        _check_version(name, record, expected)
        record.version += 1
        drop_rows(work, record)
        work.deployments.record_event(record, DELETED)
        work.deployments.remove(record)
        work.audit.add("deployment.delete", tenant, "deployment", name)


def spend_on(work: Transaction, record: DeploymentRecord, predictor: PredictorRecord) -> None:
    """Adds the risk of a predictor that the deployment has not stood for before to its account."""
    is_new = not (record.generations and work.deployments.has_stood_for(record, predictor.id))
    spent = record.spent + (risk_of_predictor(work, predictor) if is_new else 0.0)
    total = None if record.spend is None else float(record.spend["total"])
    if total is not None and spent > total * (1 + _ROUNDING):
        raise ConflictError(
            f"With this predictor the risks of all that {record.name} has stood for would be {spent:.4g}, more than "
            f"the total of {total:.4g}: calibrate with a smaller delta, or allow a larger total.",
            field="spend",
        )
    record.spent, record.generations = spent, record.generations + is_new


def risk_of_predictor(work: Transaction, predictor: PredictorRecord) -> float:
    document = work.certificates.get(predictor.tenant, predictor.certificate_id).document
    coverage = Certificate.from_json(document).coverage
    return coverage.delta + coverage.pool_delta


def _settings(record: DeploymentRecord) -> dict[str, Any]:
    return {"recalibrate": record.recalibrate, "spend": record.spend}


def _predictor(work: Transaction, tenant: str, id: str, field: str = "predictor") -> PredictorRecord:
    try:
        return work.predictors.get(tenant, id)
    except NotFoundError as error:
        error.field = field
        raise


def _check_version(name: str, record: DeploymentRecord | None, expected: int | None, *, new: bool = False) -> None:
    if new and record is not None:
        raise VersionError(f"There is a deployment {name} already, at version {record.version}.")
    if expected is not None and (record is None or record.version != expected):
        found = "there is none" if record is None else f"it is at version {record.version}"
        raise VersionError(f"{name} is not at version {expected}: {found}. Look at it again before you change it.")


def _check_alike(work: Transaction, record: DeploymentRecord, predictor: PredictorRecord) -> None:
    """Clients that use the name must not find out by their errors that it takes other inputs now."""
    before = work.predictors.find(record.tenant, record.predictor_id)
    if before is None:
        return

    def takes(one: PredictorRecord) -> tuple[str, list[int]]:
        return one.task, list(one.description["manifest"]["input_shape"])

    if takes(before) != takes(predictor):
        raise ConflictError(
            f"{predictor.id} is for another task or takes inputs of another shape than {before.id}, for which "
            f"{record.name} stands: use another name.",
            field="predictor",
        )
    for what, old, new in zip(("groups", "alpha"), _asks(work, before), _asks(work, predictor), strict=True):
        if old != new:
            raise ConflictError(
                f"Requests name {what} for one of {predictor.id} and {before.id}, for which {record.name} stands, and "
                "not in the same way for the other: use another name.",
                field="predictor",
            )


def _asks(work: Transaction, predictor: PredictorRecord) -> tuple[int, bool]:
    """What a request says beside its inputs: so many values that name a group, and one alpha of many."""
    certificate = Certificate.from_json(work.certificates.get(predictor.tenant, predictor.certificate_id).document)
    listed = [] if is_by_class(certificate) else listed_groups(certificate)
    return len(listed[0]) if listed else 0, certificate.levels is not None


def _earlier(work: Transaction, record: DeploymentRecord, version: int | None) -> str:
    """The predictor of that version, or the last one that was another."""
    before: int | None = None
    while found := work.deployments.switches(record.tenant, record.name, limit=200, before=before):
        for event in found:
            wanted = event.predictor_id != record.predictor_id if version is None else event.version <= version
            if wanted and event.kind != DELETED:
                return event.predictor_id
        before = found[-1].number
    if version is None:
        raise ConflictError(f"{record.name} has stood for no other predictor.")
    raise NotFoundError(f"{record.name} has no version {version}.", field="version")
