"""What the next predictors of a deployment are made with: the model and the options of its first calibration."""

from collections.abc import Mapping
from typing import Any

from certiset.core.bounds import TooFewPointsError, vovk_2b
from certiset.core.certificate import Certificate
from certiset.core.certificate.guarantees import risks_of
from certiset.core.certificate.guarantees.pool import PROGRESSIVE
from certiset.core.certificate.population import is_by_class, listed_groups
from certiset.core.errors import ConflictError, NotFoundError, OptionError
from certiset.core.fit.default_levels import DEFAULT_ALPHA, DEFAULT_DELTA
from certiset.core.jobs.attempts import risk_of
from certiset.core.jobs.block_data import ARRAYS, ORDER, REPORTED, group_columns, tuning_rows
from certiset.core.store.deployment_records import DeploymentRecord
from certiset.core.store.records import PredictorRecord
from certiset.core.store.store import Transaction

_SERVED = "served"
_POPULATION: dict[str, Any] = {"weights": None, "weight_bound": None, "prevalences": None}
"""options for another population, and what they are where the rows are of the one that is meant"""


def recipe_of(work: Transaction, predictor: PredictorRecord, population: str | None = None) -> dict[str, Any]:
    """Kept with the deployment, so that the calibration's record may be deleted.

    ``population`` "served": the next predictors are for what is asked, whatever the first one was for.
    """
    try:
        calibration = work.calibrations.get(predictor.tenant, predictor.calibration_id)
        model = work.models.get(predictor.tenant, calibration.model_id)
    except NotFoundError:
        raise ConflictError(
            f"The calibration of {predictor.id}, or its model, was deleted: without both it cannot be calibrated anew.",
            field="recalibrate",
        ) from None
    key, options = calibration.idempotency_key, calibration.options
    of_block = key is not None and work.blocks.of_request(predictor.tenant, key) is not None
    if of_block:
        # What keeping a member has changed is no option of whoever asked for the first one.
        options = {**options, "prior": {**(options.get("prior") or {}), "split": None}}
    order = None if options.get("order") in (None, ORDER) else REPORTED
    if options.get("clusters") is not None:
        raise ConflictError(
            f"{predictor.id} was calibrated by clusters, of each of which one row was drawn at random. Outcomes count "
            "once a case, by the first that is reported, which is no such draw: it cannot be calibrated anew on them.",
            field="recalibrate",
        )
    shifted = options.get("weights") or options.get("prevalences") or calibration.target_dataset_id
    if shifted and population != _SERVED:
        raise ConflictError(
            f"{predictor.id} was calibrated for another population than that of its rows, and outcomes are of the "
            "population that is served. If that is the one that was meant, say so with recalibrate.population: "
            "served; the next predictors then do without weights, prevalences and target inputs.",
            field="recalibrate.population",
        )
    document = work.certificates.get(predictor.tenant, predictor.certificate_id).document
    certificate = Certificate.from_json(document)
    return {
        "model_id": model.id,
        "options": {**options, **_POPULATION, "order": order, **_groups(predictor.id, options, certificate)},
        # A group may have too few rows in the next block: with groups, every block stands alone.
        "pool": certificate.coverage.guarantee == PROGRESSIVE.name and certificate.groups is None,
        "columns": None if certificate.data is None else certificate.data.columns,
        # Rows that were collected may be why somebody changes something: the next block stands alone.
        "base": None if of_block or order or shifted else calibration.dataset_id,
    }


def _groups(id: str, options: Mapping[str, Any], certificate: Certificate) -> dict[str, Any]:
    """The groups that are listed, for good: a list from outside the rows of every block to come."""
    if certificate.groups is None or is_by_class(certificate):
        return {}
    columns = group_columns(options)
    if not columns:
        raise ConflictError(
            f"The groups of {id} were given as an array: without the name of their column it cannot be calibrated anew "
            "on outcomes.",
            field="recalibrate",
        )
    reserved = next((name for name in columns if name in ARRAYS), None)
    if reserved is not None:
        raise ConflictError(
            f"The groups of {id} are by a column that is called {reserved!r}, as an array of every block is: give it "
            "another name and calibrate once more.",
            field="recalibrate",
        )
    return {"group_list": [name[0] if len(name) == 1 else name for name in listed_groups(certificate)]}


def options_of(record: DeploymentRecord) -> dict[str, Any]:
    """The options with which the deployment's next predictor is calibrated."""
    assert record.recipe is not None
    options = {**record.recipe["options"], "family": 1}
    if record.spend is not None:
        risks = risks_of(options.get("guarantee", ""))
        options["delta"] = float(record.spend["total"]) / int(record.spend["over"]) / risks
    return options


def risk_of_block(record: DeploymentRecord) -> float:
    """The probability with which the promise of the next predictor may fail."""
    return 0.0 if record.recipe is None else risk_of(options_of(record))


def check_rows(record: DeploymentRecord) -> None:
    """Refuses blocks that are too small for any promise; what else a fit may refuse is known when it is asked for."""
    rows = ((record.recalibrate or {}).get("every") or {}).get("rows")
    lacking = None if rows is None else lacks_rows(record, rows)
    if lacking is not None:
        raise OptionError(f"recalibrate.every.rows: {lacking}", field="recalibrate.every.rows")


def lacks_rows(record: DeploymentRecord, rows: int) -> str | None:
    """Why so many rows, whatever they hold, are too few for any promise; None if they are not."""
    options = options_of(record)
    alpha = options.get("alpha", DEFAULT_ALPHA)
    if not isinstance(alpha, float):
        return None
    # A pool that has too few rows is given up for one member that all of them calibrate (`block_data`).
    tune = 0 if options.get("method") == "progressive" else tuning_rows(options, rows)
    try:
        vovk_2b(rows - tune, alpha, float(options.get("delta", DEFAULT_DELTA)))
    except TooFewPointsError as error:
        return f"{rows} rows leave n = {rows - tune} to calibrate, and {error}" if tune else str(error)
    return None
