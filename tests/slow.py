"""Which tests are slow: those that `make test-slow` runs and `make test` leaves out. The one place that says so."""

SLOW = (
    "tests/core/bounds/test_against_reference.py",
    "tests/core/store/test_lease_machine.py",
    "tests/benchmarks/test_reproduce.py::test_a_quick_sweep_from_the_command_line",
    "tests/benchmarks/test_reproduce.py::test_a_quick_sweep_on_mnist",
    "tests/benchmarks/test_reproduce.py::test_every_page_is_made_of_its_runs",
    "tests/benchmarks/test_reproduce.py::test_theory_has_the_golden_values",
    "tests/benchmarks/test_sweep.py::test_all_runs_in_order_and_none_twice[2]",
    "tests/service/cli/test_up.py::test_up_starts_a_worker_and_an_api_again_that_were_killed",
    "tests/service/client/test_connection.py::test_a_stream_survives_a_server_that_is_killed_and_started_again",
    "tests/service/demo/test_demo.py",
    "tests/service/demo/test_offer.py",
    "tests/service/http/test_event_loop.py",
    "tests/service/http/test_hostile_models.py::test_a_replica_stops_in_seconds_while_a_model_loops",
    "tests/service/http/test_memory.py",
    "tests/service/http/test_outages.py",
    "tests/service/http/test_switching.py",
    "tests/service/http/test_tenant_shares.py",
    "tests/system/browser/test_every_view.py",
    "tests/system/browser/test_named_classes.py",
    "tests/system/browser/test_numbers.py",
    "tests/system/browser/test_pool.py",
    "tests/system/browser/test_printing.py",
    "tests/system/browser/test_truths.py",
    "tests/system/containers/test_install.py",
    "tests/system/docs/test_from_libraries.py",
    "tests/system/docs/test_notebooks.py::test_every_cell_runs",
    "tests/system/docs/test_pages.py",
    "tests/system/docs/test_site.py",
    "tests/system/promises",
    "tests/system/test_chaos.py",
    "tests/system/test_mlflow.py",
    "tests/system/test_openapi.py",
    "tests/system/test_ray.py",
    "tests/system/test_wheel.py",
    "tests/worker/test_batches.py::test_a_killed_worker_loses_nothing_and_what_was_deleted_fails_clearly",
    "tests/worker/test_disasters.py::test_postgresql_that_restarts_in_the_middle_of_a_fit",
    "tests/worker/test_disasters.py::test_twenty_kills_at_random_moments_lose_and_double_nothing",
    "tests/worker/test_disasters.py::test_two_hundred_calibrations_through_two_workers",
)

ALONE = ("tests/system/test_chaos.py",)
"""slow tests that need the machine for themselves: `make test-slow` runs them after all others"""


TOGETHER = (
    "tests/service",
    "tests/system/browser",
    "tests/system/docs/test_site.py",
    "tests/system/test_mlflow.py",
    "tests/system/test_wheel.py",
)
"""where the slow tests of a file run in one process, since they share what was started or installed for all of them"""


def is_in(nodeid: str, entries: tuple[str, ...]) -> bool:
    """Whether a test belongs to an entry: a folder, a file, or one test with all its parameters."""
    return any(nodeid == entry or nodeid.startswith((f"{entry}/", f"{entry}::", f"{entry}[")) for entry in entries)
