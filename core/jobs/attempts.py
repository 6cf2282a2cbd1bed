"""The account of a tenant's rows: every fit that begins on them is counted once, over re-uploads and in any order."""

import secrets
from typing import Any

from certiset.core.certificate.account import account_of
from certiset.core.certificate.content import Account
from certiset.core.certificate.guarantees import risks_of
from certiset.core.data.row_sketch import RowSketch
from certiset.core.fit.default_levels import DEFAULT_DELTA
from certiset.core.store.account_records import AttemptRecord, RowSketchRecord
from certiset.core.store.garbage import discard_unnamed
from certiset.core.store.records import Calibration
from certiset.core.store.store import Store, Transaction

_KEY_BYTES = 32
_KEY_AGE = 60.0
"""seconds by which the clock of an artifact store may be ahead"""


def row_key(store: Store, tenant: str) -> str:
    """The artifact with the key of the tenant's row hashes; a new key if there is none.

    It is kept beside the rows, not beside the hashes: whoever has the database alone cannot try out which rows were
    calibrated on.
    """
    with store.reading() as work:
        known = work.tenants.row_key(tenant)
    if known is not None and store.artifacts.exists(known):
        return known
    made = store.artifacts.put(secrets.token_bytes(_KEY_BYTES))
    with store.writing() as work:
        kept = work.tenants.set_row_key(tenant, made, instead_of=known)
    if kept != made:
        # Another worker was quicker. Nothing else can name a file of random bytes, so its age protects nobody.
        discard_unnamed(store, made, older_than=-_KEY_AGE)
    return kept


def begin_attempt(work: Transaction, calibration: Calibration, sketch: RowSketch) -> Account:
    """Counts the attempt when it first begins; what is tried again is the same attempt."""
    work.tenants.lock(calibration.tenant)
    record = work.attempts.of_calibration(calibration.id)
    if record is None:
        _keep_sketch(work, calibration.tenant, calibration.dataset_artifact, sketch)
        record = work.attempts.add(calibration, risk_of(calibration.options), calibration.options.get("family", 1))
    return _account(record)


def risk_of(options: dict[str, Any]) -> float:
    """The probability with which a fit's promise may fail; for the mean over a posterior, its pool's as well."""
    own = float(options.get("delta", DEFAULT_DELTA)) / int(options.get("family", 1))
    return risks_of(options.get("guarantee", "")) * own


def _keep_sketch(work: Transaction, tenant: str, artifact: str, sketch: RowSketch) -> None:
    if work.attempts.has_sketch(tenant, artifact):
        return
    shared = [record.artifact for record in work.attempts.sketches(tenant) if sketch.shares_rows_with(_read(record))]
    made = RowSketchRecord(
        tenant=tenant,
        artifact=artifact,
        rows=sketch.rows,
        distinct_rows=sketch.distinct,
        total=sketch.total,
        hashes=sketch.hashes,
    )
    work.attempts.add_sketch(made, shared)


def _read(record: RowSketchRecord) -> RowSketch:
    return RowSketch(record.rows, record.distinct_rows, record.total, record.hashes)


def _account(record: AttemptRecord) -> Account:
    return account_of(record.number, record.delta_all, record.family)
