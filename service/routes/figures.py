"""Figures as SVG, drawn here so that a page needs no library: of fits, certificates, sets and monitors."""

from typing import Annotated, Any, Literal

import numpy as np
from anyio.to_thread import run_sync
from fastapi import APIRouter, Path, Response
from numpy.typing import NDArray

from core.certificate import Certificate
from core.errors import NotFoundError
from core.sets import Intervals
from core.store.records import Dataset
from service.dataset_rows import rows_of
from service.figures.certificate import budget_figure, members_figure
from service.figures.monitor import capital_figure
from service.figures.progress import kl_figure, loss_figure
from service.figures.sets import band_figure, size_figure
from service.problems import ProblemError
from service.routes.dependencies import TheCaller, TheService
from service.routes.predictors import monitor_of
from service.schemas.common import ALWAYS, PathId, problems
from service.serving.answering import compute
from service.serving.loaded import Loaded
from service.state import Service

router = APIRouter(tags=["figures"], responses=ALWAYS)

SVG = "image/svg+xml"
_ROWS = 1000
_MOST_NUMBERS = 2_000_000
_GRID = 200
_SHOWN: dict[int | str, dict[str, Any]] = {
    200: {"description": "a figure", "content": {SVG: {"schema": {"type": "string"}}}}
}

OfFit = Annotated[Literal["loss", "kl"], Path(description="which figure")]
OfCertificate = Annotated[Literal["budget", "members"], Path(description="which figure")]
OfPredictor = Annotated[Literal["sizes", "band", "monitor"], Path(description="which figure")]


def _figure(text: str) -> Response:
    return Response(text, media_type=SVG, headers={"Cache-Control": "no-store"})


@router.get("/calibrations/{id}/figures/{name}", response_class=Response, responses={**_SHOWN, **problems(404, 422)})
def calibration_figure(id: PathId, name: OfFit, service: TheService, caller: TheCaller) -> Response:
    """The loss of a fit so far, or the KL that it has spent of its budget."""
    with service.store.reading() as work:
        work.calibrations.get(caller.tenant, id)
        reports = [record.report for record in work.reports.after(id, 0)]
    return _figure(loss_figure(reports) if name == "loss" else kl_figure(reports))


@router.get("/certificates/{id}/figures/{name}", response_class=Response, responses={**_SHOWN, **problems(404, 422)})
def certificate_figure(id: PathId, name: OfCertificate, service: TheService, caller: TheCaller) -> Response:
    """The budget with the chosen point, or the members' ranks and log-ratios."""
    with service.store.reading() as work:
        certificate = Certificate.from_json(work.certificates.get(caller.tenant, id).document)
    return _figure(budget_figure(certificate) if name == "budget" else members_figure(certificate))


@router.get("/predictors/{id}/figures/{name}", response_class=Response, responses={**_SHOWN, **problems(404, 409, 422)})
async def predictor_figure(id: PathId, name: OfPredictor, service: TheService, caller: TheCaller) -> Response:
    """Sizes of sets on rows of the calibration data, the band over them (for one input), or the capital's path."""
    if name == "monitor":
        monitor = await run_sync(monitor_of, service, caller.tenant, id)
        path = [(point.outcomes, point.log_capital) for point in monitor.path]
        return _figure(capital_figure(path, monitor.log_threshold))
    loaded = await service.predictors.get(caller.tenant, id)
    x, y = await run_sync(_some_rows, service, loaded)
    if name == "sizes":
        sets = await compute(service, loaded, x.astype(np.float64))
        return _figure(size_figure(sets.size, loaded.predictor.certificate))
    if loaded.predictor.scorer.model.manifest.input_shape != (1,) or y.ndim != 1:
        raise ProblemError(409, "A band is drawn only for one input and one number to predict.")
    flat = x.reshape(-1).astype(np.float64)
    grid = np.linspace(flat.min(), flat.max(), _GRID)
    sets = await compute(service, loaded, grid[:, None])
    if not isinstance(sets, Intervals):
        raise ProblemError(409, "A band is drawn only for predictors that give intervals.")
    return _figure(band_figure(grid, sets, flat, y.astype(np.float64)))


def _some_rows(service: Service, loaded: Loaded) -> tuple[NDArray[Any], NDArray[Any]]:
    """The first rows of the data that the predictor was calibrated on."""
    with service.store.reading() as work:
        certificate = work.certificates.get(loaded.tenant, loaded.predictor.certificate.id)
        try:
            dataset: Dataset = work.datasets.get(loaded.tenant, certificate.dataset_id)
        except NotFoundError:
            raise ProblemError(409, "The calibration data were deleted, so there is nothing to draw.") from None
    return rows_of(service.store.artifacts, dataset, 0, _ROWS, most_numbers=_MOST_NUMBERS)
