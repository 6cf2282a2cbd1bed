"""The digest of a document, of which its name is made: equal for equal fits."""

import hashlib
import json
from typing import Any

NOT_IN_DIGEST = ("id", "issued_at", "signature", "account", "deployment", "names")
"""what may differ between certificates of equal fits, beside the machine that they were made on"""


def digest_of(content: dict[str, Any]) -> str:
    """SHA-256 of a document in its one spelling, without what may differ between those of equal fits."""
    kept = {name: value for name, value in content.items() if name not in NOT_IN_DIGEST}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
