"""Summaries of predictors: written with them, renamed and removed with them."""

import json
from typing import Any

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from certiset.core.store.records import Calibration, Dataset, ModelRecord, PredictorRecord
from certiset.core.store.summary_records import Summary


class Summaries:
    def __init__(self, session: Session) -> None:
        self._session = session

    def put(self, predictor: PredictorRecord, calibration: Calibration, document: str, alpha: float) -> None:
        """Of a predictor that is served from now on."""
        dataset = self._session.get(Dataset, calibration.dataset_id)
        model = self._session.get(ModelRecord, calibration.model_id)
        stated = stated_numbers(document)
        names = stated.pop("names")
        self._session.merge(
            Summary(
                tenant=predictor.tenant,
                predictor_id=predictor.id,
                calibration_id=calibration.id,
                certificate_id=predictor.certificate_id,
                dataset_id=calibration.dataset_id,
                model_id=calibration.model_id,
                name=predictor.name,
                dataset_name=_name(dataset.name if dataset else names.get("dataset")),
                model_name=_name(model.name if model else names.get("model")),
                task=predictor.task,
                alpha=alpha,
                created_at=predictor.created_at,
                **stated,
            )
        )

    def remove(self, tenant: str, predictor_id: str) -> None:
        chosen = delete(Summary).where(Summary.tenant == tenant, Summary.predictor_id == predictor_id)
        self._session.execute(chosen)

    def rename(self, tenant: str, kind: str, id: str, name: str) -> None:
        """The new name of a predictor, a dataset or a model, wherever a list shows it."""
        column, shown = {
            "predictor": (Summary.predictor_id, "name"),
            "dataset": (Summary.dataset_id, "dataset_name"),
            "model": (Summary.model_id, "model_name"),
        }[kind]
        self._session.execute(
            update(Summary).where(Summary.tenant == tenant, column == id).values({shown: _name(name)})
        )


def stated_numbers(document: str) -> dict[str, Any]:
    """What the columns hold of a certificate; whatever an old or damaged one lacks is None."""
    content = _object(document)
    coverage, efficiency, provenance = (_part(content, name) for name in ("coverage", "efficiency", "provenance"))
    return {
        "names": _part(content, "names"),
        "method": _word(provenance.get("method")),
        "guarantee": _word(coverage.get("guarantee")),
        "delta": _number(coverage.get("delta")),
        "n": _number(coverage.get("n")),
        "size": _number(efficiency.get("empirical")),
        "certified_size": _number(efficiency.get("upper_bound")),
        "measure": _word(efficiency.get("measure"), 20),
    }


def _object(document: str) -> dict[str, Any]:
    try:
        content = json.loads(document)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _part(content: dict[str, Any], name: str) -> dict[str, Any]:
    part = content.get(name)
    return part if isinstance(part, dict) else {}


def _number(value: Any) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _word(value: Any, longest: int = 40) -> str | None:
    return value[:longest] if isinstance(value, str) else None


def _name(value: Any) -> str:
    return value[:200] if isinstance(value, str) else ""
