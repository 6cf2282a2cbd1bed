"""What the first page of the overview costs, with 100 predictors and with 10,000.

    python -m benchmarks.overview [--few 100] [--many 10000] [--database-url URL] [--output FILE]

Fills a database with summaries, as fits leave them, and times `GET /overview`'s query in each order of the list. The
pages come along indexes, so that the ratio is about 1; without them it would grow with the number of predictors.
"""

import argparse
import json
import secrets
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from sqlalchemy import text

from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.identifiers import new_id
from certiset.core.store.migrate import migrate
from certiset.core.store.overview import SORTS, Wanted
from certiset.core.store.summary_records import Summary

_AT_ONCE = 1000
_LIMIT = 25


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--few", type=int, default=100)
    parser.add_argument("--many", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--database-url", help="an empty database (default: SQLite)")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    results = measure(options.few, options.many, options.times, options.database_url)
    for result in results:
        print(
            f"{result['sort']:<16} {result['few_ms']:6.2f} ms with {options.few}, {result['many_ms']:6.2f} ms with "
            f"{options.many}: {result['ratio']:.2f} times"
        )
    print(json.dumps(results))
    if options.output:
        options.output.write_text(json.dumps(results, indent=1) + "\n")


def measure(few: int, many: int, times: int, database_url: str | None = None) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        given: dict[str, Any] = {"database_url": database_url} if database_url else {}
        store = Store(Settings(home=Path(folder), **given))
        migrate(store.database)
        for tenant, number in (("few", few), ("many", many)):
            fill(store, tenant, number)
        # A database does so by itself, some time after so many rows came.
        with store.writing() as work:
            work.session.execute(text("ANALYZE"))
        results = []
        for sort in SORTS:
            a, b = (milliseconds(store, tenant, sort, times) for tenant in ("few", "many"))
            results.append({"sort": sort, "few_ms": a, "many_ms": b, "ratio": b / a})
        store.close()
        return results


def milliseconds(store: Store, tenant: str, sort: str, times: int) -> float:
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        with store.reading() as work:
            page = work.overview.list(tenant, Wanted(), sort, limit=_LIMIT)
        found.append(time.perf_counter() - begin)
        assert len(page.items) == _LIMIT
    return 1000 * statistics.median(found)


def fill(store: Store, tenant: str, number: int) -> None:
    for begin in range(0, number, _AT_ONCE):
        with store.writing() as work:
            work.session.add_all(_summary(tenant, place) for place in range(begin, min(number, begin + _AT_ONCE)))


def _summary(tenant: str, place: int) -> Summary:
    return Summary(
        tenant=tenant,
        predictor_id=f"pred-{secrets.token_hex(10)}",
        calibration_id=new_id("cal"),
        certificate_id=f"cert-{secrets.token_hex(10)}",
        dataset_id="ds-1",
        model_id="mod-1",
        name=f"predictor {place * 7919 % 10_007}",
        dataset_name="data",
        model_name="model",
        task="classification",
        method="auto",
        guarantee="pool",
        alpha=0.1,
        delta=0.05,
        n=100 + place * 31 % 997,
        size=1 + place * 17 % 101 / 100,
        certified_size=2 + place * 13 % 103 / 100,
        measure="labels",
        created_at=time.time(),
    )


if __name__ == "__main__":
    main()
