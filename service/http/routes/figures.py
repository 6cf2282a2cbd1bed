"""Figures as SVG, drawn here so that a page needs no library: of fits, certificates, sets and monitors."""

from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from anyio.to_thread import run_sync
from fastapi import APIRouter, Path, Response
from numpy.typing import NDArray

from certiset.core.data.frame import Frame
from certiset.core.data.stored_rows import read_columns, read_rows
from certiset.core.errors import ConflictError, NotFoundError
from certiset.core.jobs.monitoring import monitor_of
from certiset.service.figures.certificate import budget_figure, members_figure
from certiset.service.figures.monitor import capital_figure
from certiset.service.figures.progress import kl_figure, loss_figure
from certiset.service.figures.sets import band_figure, size_figure
from certiset.service.http.access.requirements import requires
from certiset.service.http.routes.dependencies import TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, PathId, problems
from certiset.service.http.state import Service
from certiset.service.serving.predictor_cache import CachedPredictor

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
@requires("read")
def calibration_figure(id: PathId, name: OfFit, service: TheService, caller: TheCaller) -> Response:
    """The loss of a fit so far, or the KL that it has spent of its budget."""
    with service.store.reading() as work:
        work.calibrations.get(caller.tenant, id)
        reports = [record.report for record in work.reports.after(id, 0)]
    return _figure(loss_figure(reports) if name == "loss" else kl_figure(reports))


@router.get("/certificates/{id}/figures/{name}", response_class=Response, responses={**_SHOWN, **problems(404, 422)})
@requires("read")
def certificate_figure(id: PathId, name: OfCertificate, service: TheService, caller: TheCaller) -> Response:
    """The budget with the chosen point, or the members' ranks and log-ratios."""
    with service.store.reading() as work:
        document = work.certificates.get(caller.tenant, id).document
    certificate = service.issuer_keys.issued(document, id)
    return _figure(budget_figure(certificate) if name == "budget" else members_figure(certificate))


@router.get("/predictors/{id}/figures/{name}", response_class=Response, responses={**_SHOWN, **problems(404, 409, 422)})
@requires("read")
async def predictor_figure(id: PathId, name: OfPredictor, service: TheService, caller: TheCaller) -> Response:
    """Sizes of sets on rows of the calibration data, the band over them (for one input), or the capital's path."""
    if name == "monitor":
        monitor = await run_sync(monitor_of, service.store, caller.tenant, id, service.settings.monitor_eta)
        path = [(point.outcomes, point.log_capital) for point in monitor.path]
        return _figure(capital_figure(path, monitor.log_threshold))
    cached = await service.predictors.get(caller.tenant, id)
    x, y = await run_sync(_some_rows, service, cached)
    if name == "sizes":
        sets = await service.sets.sets_to_show(cached, x.astype(np.float64))
        return _figure(size_figure(sets, cached.predictor.certificate))
    if cached.predictor.scorer.model.manifest.input_shape != (1,) or y.ndim != 1:
        raise ConflictError("A band is drawn only for one input and one number to predict.")
    flat = x.reshape(-1).astype(np.float64)
    grid = np.linspace(flat.min(), flat.max(), _GRID)
    sets = await service.sets.sets_to_show(cached, grid[:, None])
    band = sets.band()
    if band is None:
        raise ConflictError("A band is drawn only for predictors that give intervals.")
    return _figure(band_figure(grid, *band, flat, y.astype(np.float64)))


def _some_rows(service: Service, cached: CachedPredictor) -> tuple[NDArray[Any], NDArray[Any]]:
    """The first rows of the data that the predictor was calibrated on."""
    with service.store.reading() as work:
        certificate = work.certificates.get(cached.tenant, cached.predictor.certificate.id)
        try:
            dataset = work.datasets.get(cached.tenant, certificate.dataset_id)
        except NotFoundError:
            raise ConflictError("The calibration data were deleted, so there is nothing to draw.") from None
    read = partial(service.store.artifacts.part, dataset.artifact)
    x, y = read_rows(read, 0, _ROWS, most_numbers=_MOST_NUMBERS)
    described, data = read_columns(read), cached.predictor.certificate.data
    if described is not None and described["names"] is not None and data is not None and data.columns is not None:
        x = np.asarray(Frame(x, described["names"]).inputs(data.columns, ())[0])
    return x, y
