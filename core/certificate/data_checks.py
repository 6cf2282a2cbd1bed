"""Checks of what a certificate says about the rows that were given."""

import re
from typing import Any

from certiset.core.certificate.checks import Check, equal
from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.shift import PREVALENCES
from certiset.core.certificate.shift_checks import shift_checks

ORDER_LEVEL = 0.01
"""p-values of the test of the rows' order below this are a caveat"""
_SHA256 = re.compile("[0-9a-f]{64}")


def data_checks(certificate: CertificateContent) -> list[Check]:
    """Rows, clusters and the order; a certificate without the section is refused elsewhere."""
    data, provenance, options = certificate.data, certificate.provenance, certificate.options or {}
    if data is None:
        return []
    used = provenance.n_tune + provenance.n_calibrate
    found = [
        Check("distinct rows", 1 <= (data.distinct_rows or 1) <= data.rows, f"at most {data.rows}", data.distinct_rows),
        Check("order", 0 <= (data.order_p_value or 0) <= 1, "from 0 to 1", data.order_p_value),
        Check("points that tune", provenance.n_tune >= 0, "at least 0", provenance.n_tune),
        *_hashes(certificate),
    ]
    if data.order_p_value is not None:
        said = any(caveat.code == "order" for caveat in certificate.caveats)
        found.append(equal("caveat about the order", data.order_p_value < ORDER_LEVEL, said))
    found += _shift(certificate, data.rows, used, options)
    if data.clusters is not None:
        found += [
            equal("clusters", used, data.clusters),
            Check("rows of clusters", data.clusters <= data.rows, f"at most {data.rows}", data.clusters),
        ]
    if options.get("clusters") is not None:
        found.append(equal("cluster column", options["clusters"], data.cluster_column))
    if (data.cluster_column is not None) > (data.clusters is not None):
        found.append(Check("clusters", False, "a number, if there is a column of clusters", None))
    return found


def _shift(certificate: CertificateContent, rows: int, used: int, options: dict[str, Any]) -> list[Check]:
    """That rows were chosen as the options ask, and for whom the promise is."""
    shift = certificate.shift
    said = any(caveat.code == "estimated_weights" for caveat in certificate.caveats)
    if shift is None:
        asked = [name for name in ("weights", "prevalences") if options.get(name) is not None]
        return [equal("shift that is asked for", [], asked)] if asked or said else []
    found = shift_checks(shift, rows, used, said)
    found.append(equal("column of weights", options.get("weights"), shift.column))
    if shift.kind == PREVALENCES:
        found.append(equal("prevalences", options.get("prevalences"), shift.prevalences))
    return found


def _hashes(certificate: CertificateContent) -> list[Check]:
    """A hash that is none would agree with nothing, or with a program that compares beginnings."""
    provenance = certificate.provenance
    stated = {
        "dataset": provenance.dataset_sha256,
        "model": provenance.model_sha256,
        "members": provenance.members_sha256,
        "predictor": provenance.predictor_sha256,
        "data file": certificate.data.file_sha256 if certificate.data is not None else None,
        "weights": certificate.shift.weights_sha256 if certificate.shift is not None else None,
        "target inputs": certificate.shift.target_sha256 if certificate.shift is not None else None,
    }
    wrong = [name for name, value in stated.items() if value is not None and not _SHA256.fullmatch(value)]
    return [equal("hashes that are none", [], wrong)]
