"""Figures as SVG, drawn here so that a page needs no library: of fits, certificates, sets and monitors."""

from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from anyio.to_thread import run_sync
from fastapi import APIRouter, Path, Query, Response
from numpy.typing import NDArray

from certiset.core import monitor_figures
from certiset.core.certificate.figures import budget, members
from certiset.core.certificate.group_figures import coverage_by_group, outcomes_by_group, sizes_by_group
from certiset.core.data.frame import Frame
from certiset.core.data.stored_rows import read_columns, read_rows
from certiset.core.errors import ConflictError, NotFoundError
from certiset.core.jobs.monitoring import monitor_of
from certiset.core.store.identifiers import ID_PATTERN
from certiset.service.figures import uploaded_rows
from certiset.service.figures.comparison import comparison_figure
from certiset.service.figures.plot import WIDTH
from certiset.service.figures.progress import kl_figure, loss_figure
from certiset.service.figures.svg import svg
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
_ID = ID_PATTERN.strip("^$")
_SHOWN: dict[int | str, dict[str, Any]] = {
    200: {"description": "a figure", "content": {SVG: {"schema": {"type": "string"}}}}
}

OfFit = Annotated[Literal["loss", "kl"], Path(description="which figure")]
OfCertificate = Annotated[
    Literal["budget", "members", "group_coverage", "group_sizes"], Path(description="which figure")
]
OfPredictor = Annotated[
    Literal["sizes", "band", "monitor", "coverage", "group_outcomes"], Path(description="which figure")
]
Width = Annotated[int, Query(ge=280, le=2000, description="in pixels: letters are 12 of them high")]
Several = Annotated[
    str, Query(pattern=f"^{_ID}(,{_ID}){{1,5}}$", description="ids of two to six predictors, comma-separated")
]

_OF_CERTIFICATE = {
    "budget": budget,
    "members": members,
    "group_coverage": coverage_by_group,
    "group_sizes": sizes_by_group,
}


def _figure(text: str) -> Response:
    return Response(text, media_type=SVG, headers={"Cache-Control": "no-store"})


@router.get("/calibrations/{id}/figures/{name}", response_class=Response, responses={**_SHOWN, **problems(404, 422)})
@requires("read")
def calibration_figure(
    id: PathId, name: OfFit, service: TheService, caller: TheCaller, width: Width = WIDTH
) -> Response:
    """The loss of a fit so far, or the KL that it has spent of its budget."""
    with service.store.reading() as work:
        work.calibrations.get(caller.tenant, id)
        reports = [record.report for record in work.reports.after(id, 0)]
    return _figure(loss_figure(reports, width) if name == "loss" else kl_figure(reports, width))


@router.get(
    "/certificates/{id}/figures/{name}", response_class=Response, responses={**_SHOWN, **problems(404, 409, 422)}
)
@requires("read")
def certificate_figure(
    id: PathId, name: OfCertificate, service: TheService, caller: TheCaller, width: Width = WIDTH
) -> Response:
    """The budget with the chosen point, the members' ranks and log-ratios, or coverage or size of every group."""
    with service.store.reading() as work:
        document = work.certificates.get(caller.tenant, id).document
    certificate = service.issuer_keys.issued(document, id)
    return _figure(svg(_OF_CERTIFICATE[name](certificate), width))


@router.get("/predictors/{id}/figures/{name}", response_class=Response, responses={**_SHOWN, **problems(404, 409, 422)})
@requires("read")
async def predictor_figure(
    id: PathId, name: OfPredictor, service: TheService, caller: TheCaller, width: Width = WIDTH
) -> Response:
    """Sizes of sets on uploaded rows, the band over them (for one input), the capital, or the coverage so far, for
    all inputs or by group."""
    slots = service.route_slots.of(caller.tenant)
    if name in ("monitor", "coverage", "group_outcomes"):
        eta = service.settings.monitor_eta
        monitor = await run_sync(monitor_of, service.store, caller.tenant, id, eta, limiter=slots)
        if name == "group_outcomes":
            if not monitor.groups:
                raise ConflictError("This predictor has no groups with thresholds of their own.")
            return _figure(svg(outcomes_by_group(monitor.groups, monitor.promised_miscoverage), width))
        draw = monitor_figures.coverage if name == "coverage" else monitor_figures.capital
        return _figure(svg(draw(monitor), width))
    cached = await service.predictors.get(caller.tenant, id)
    _refuse_groups(cached)
    x, y = await run_sync(_some_rows, service, cached, limiter=slots)
    if name == "sizes":
        sets = await service.sets.sets_to_show(cached, x.astype(np.float64))
        return _figure(svg(uploaded_rows.sizes(sets, cached.predictor.certificate), width))
    if cached.predictor.scorer.model.manifest.input_shape != (1,) or y.ndim != 1:
        raise ConflictError("A band is drawn only for one input and one number to predict.")
    flat = x.reshape(-1).astype(np.float64)
    grid = np.linspace(flat.min(), flat.max(), _GRID)
    sets = await service.sets.sets_to_show(cached, grid[:, None])
    band = sets.band()
    if band is None:
        raise ConflictError("A band is drawn only for predictors that give intervals.")
    return _figure(svg(uploaded_rows.band(grid, *band, flat, y.astype(np.float64)), width))


@router.get("/figures/compare", response_class=Response, responses={**_SHOWN, **problems(404, 409, 422)})
@requires("read")
async def compared_figure(
    predictors: Several, service: TheService, caller: TheCaller, width: Width = WIDTH
) -> Response:
    """How large the sets of several predictors are, each on the rows that it was calibrated with."""
    sets = {}
    for id in dict.fromkeys(predictors.split(",")):
        cached = await service.predictors.get(caller.tenant, id)
        _refuse_groups(cached)
        x, _ = await run_sync(_some_rows, service, cached, limiter=service.route_slots.of(caller.tenant))
        with service.store.reading() as work:
            name = work.predictors.get(caller.tenant, id).name or id
        sets[name if name not in sets else f"{name} ({id[-6:]})"] = await service.sets.sets_to_show(
            cached, x.astype(np.float64)
        )
    if len({one.unit for one in sets.values()}) > 1:
        raise ConflictError("Labels and widths cannot be compared: choose predictors of one task.")
    return _figure(comparison_figure(sets, width))


def _refuse_groups(cached: CachedPredictor) -> None:
    if cached.predictor.groups is not None:
        raise ConflictError(
            "Every group has a threshold of its own, so that no one figure shows all sets: see the sizes by group."
        )


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
