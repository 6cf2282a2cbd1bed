"""Attempts: which fits have begun on which rows."""

from collections.abc import Iterator

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from certiset.core.store.account_records import AttemptRecord, RowSketchRecord, SharedRows
from certiset.core.store.records import Calibration, PredictorRecord

_AT_ONCE = 100


class Attempts:
    """Whoever adds something has locked the tenant: of two attempts that begin at once, one is the earlier one."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of_calibration(self, calibration_id: str) -> AttemptRecord | None:
        return self._session.get(AttemptRecord, calibration_id)

    def add(self, calibration: Calibration, delta: float, family: int) -> AttemptRecord:
        """Counted behind all attempts on data that share rows with these."""
        tenant, artifact = calibration.tenant, calibration.dataset_artifact
        number, spent = self._before(tenant, artifact)
        made = AttemptRecord(
            calibration_id=calibration.id,
            tenant=tenant,
            artifact=artifact,
            number=number + 1,
            delta=delta,
            delta_all=spent + delta,
            family=family,
        )
        self._session.add(made)
        self._session.flush()
        return made

    def so_far(self, tenant: str, predictor_id: str) -> int | None:
        """How many attempts there have been until now on the rows of a predictor; None if that is not known."""
        chosen = (
            select(AttemptRecord.artifact)
            .join(PredictorRecord, PredictorRecord.calibration_id == AttemptRecord.calibration_id)
            .where(PredictorRecord.tenant == tenant, PredictorRecord.id == predictor_id)
        )
        artifact = self._session.scalars(chosen).one_or_none()
        return None if artifact is None else self._before(tenant, artifact)[0]

    def has_sketch(self, tenant: str, artifact: str) -> bool:
        return self._session.get(RowSketchRecord, (tenant, artifact)) is not None

    def sketches(self, tenant: str) -> Iterator[RowSketchRecord]:
        chosen = select(RowSketchRecord).where(RowSketchRecord.tenant == tenant)
        for record in self._session.scalars(chosen.execution_options(yield_per=_AT_ONCE)):
            self._session.expunge(record)
            yield record

    def add_sketch(self, sketch: RowSketchRecord, shared_with: list[str]) -> None:
        """``shared_with`` are the artifacts of other data with some of the same rows."""
        self._session.add(sketch)
        tenant, artifact = sketch.tenant, sketch.artifact
        pairs = {(artifact, artifact), *((artifact, o) for o in shared_with), *((o, artifact) for o in shared_with)}
        self._session.add_all(SharedRows(tenant=tenant, artifact=one, other=other) for one, other in sorted(pairs))
        self._session.flush()

    def _before(self, tenant: str, artifact: str) -> tuple[int, float]:
        """Number and sum of delta of the attempts on data that share rows with these."""
        shared = select(SharedRows.other).where(SharedRows.tenant == tenant, SharedRows.artifact == artifact)
        chosen = select(func.count(), func.sum(AttemptRecord.delta)).where(
            AttemptRecord.tenant == tenant, (AttemptRecord.artifact == artifact) | AttemptRecord.artifact.in_(shared)
        )
        number, spent = self._session.execute(chosen).one()
        return int(number), float(spent or 0.0)
