"""Checks of what a certificate says about the rows that were given."""

from certiset.core.certificate.checks import Check, equal
from certiset.core.certificate.content import CertificateContent


def data_checks(certificate: CertificateContent) -> list[Check]:
    """Rows, clusters and the order; a certificate without the section is refused elsewhere."""
    data, provenance, options = certificate.data, certificate.provenance, certificate.options or {}
    if data is None:
        return []
    used = provenance.n_tune + provenance.n_calibrate
    found = [
        Check("distinct rows", 1 <= (data.distinct_rows or 1) <= data.rows, f"at most {data.rows}", data.distinct_rows),
        Check("order", 0 <= (data.order_p_value or 0) <= 1, "from 0 to 1", data.order_p_value),
    ]
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
