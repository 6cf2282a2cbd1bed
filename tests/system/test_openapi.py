"""The OpenAPI document, tried out: thousands of requests that fit it, or just do not, and never a 5xx."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.server import start_server

# What a file, a manifest or a prediction id must hold cannot be said in a schema, so that what fits the schema may
# still be refused there, but with one of these and nothing else.
ACCEPTED = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "304", "400", "401", "403", "404", "409", "412", "413", "415", "422", "429"]

[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "412", "413", "415", "422", "428", "429", "5xx"]
"""
EXAMPLES = "50"
"""of each operation, on top of those that are made from its parameters one by one"""
REAL_IDS = """
[[operations]]
include-path = "/predict_set"
parameters = {{ predictor = "{predictor}" }}
[[operations]]
include-path-regex = "^/v2/models/"
parameters = {{ "path.id" = "{predictor}" }}
[[operations]]
include-path-regex = "^/predictors/"
parameters = {{ "path.id" = "{predictor}" }}
[[operations]]
include-path-regex = "^/certificates/.id"
parameters = {{ "path.id" = "{certificate}" }}
"""


@pytest.mark.parametrize("real_ids", [False, True])
def test_no_request_breaks_the_service(tmp_path: Path, real_ids: bool) -> None:
    server = start_server(tmp_path, rate_limit=0, wrong_keys=0)
    try:
        certificate = server.predictors["regression"].certificate
        config = tmp_path / "schemathesis.toml"
        ids = REAL_IDS.format(predictor=certificate.predictor_id, certificate=certificate.id) if real_ids else ""
        config.write_text(ACCEPTED + ids)
        program = Path(sys.executable).with_name("schemathesis")
        command = [str(program), "--config-file", str(config), "run", f"{server.url}/openapi.json", "--checks", "all"]
        key = ["--header", f"Authorization: Bearer {server.keys['ada']}"]
        amount = ["--max-examples", EXAMPLES, "--generation-deterministic", "--continue-on-failure"]
        # With real ids everything would soon be deleted, and nothing left to try.
        kept = ["--exclude-method", "DELETE"] if real_ids else []
        program_line = [*command, *key, *amount, *kept]
        done = subprocess.run(program_line, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stdout[done.stdout.find("FAILURES") :][:5000] + done.stderr[-2000:]
        generated = re.search(r"(\d+) generated", done.stdout)
        assert generated is not None
        assert int(generated[1]) >= 2_500, "with both runs, five thousand cases"
        assert '"status": 5' not in (tmp_path / "api.log").read_text()
    finally:
        server.stop()
