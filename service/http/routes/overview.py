"""Calibrations and predictors in one list, for a page or a person who looks for one of many."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from certiset.core.jobs.views import overview_row
from certiset.core.overview_resources import OverviewRow
from certiset.core.store.overview import NEWEST, OF_CALIBRATIONS, OF_PREDICTORS, Wanted
from certiset.service.http.access.requirements import requires
from certiset.service.http.routes.dependencies import TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, Items, Limit, QueryId, problems
from certiset.service.http.schemas.lists import AnyCursor, Search, SortedBy

router = APIRouter(tags=["overview"], responses=ALWAYS)

Status = Annotated[str | None, Query(pattern=f"^({'|'.join((*OF_PREDICTORS, *OF_CALIBRATIONS))})$")]
Method = Annotated[str | None, Query(pattern=r"^[a-z_]{1,40}$", description="by which predictors were made")]


@router.get("/overview", response_model=Items[OverviewRow], responses=problems(422))
@requires("read")
def get_overview(
    service: TheService,
    caller: TheCaller,
    search: Search = None,
    sort: SortedBy = NEWEST,
    status: Status = None,
    dataset: QueryId = None,
    model: QueryId = None,
    method: Method = None,
    limit: Limit = 50,
    cursor: AnyCursor = None,
) -> Any:
    """Predictors with their certificates' numbers, and calibrations that have no predictor (yet).

    Rows without the number by which they are sorted come last. The next page needs the same `sort`.
    """
    wanted = Wanted(search, status, dataset, model, method, only_predictors=method is not None)
    with service.store.reading() as work:
        page = work.overview.list(caller.tenant, wanted, sort, limit=limit, cursor=cursor)
    return Items.of(page, overview_row)
