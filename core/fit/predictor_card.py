"""What a predictor shows of itself in terminals and notebooks."""

from certiset.core.certificate import Certificate
from certiset.core.certificate.card import coverage_promise
from certiset.core.certificate.rounding import promise, total_risk
from certiset.core.display import Card, listed
from certiset.core.fit.group_rule import GroupRule
from certiset.core.models import Model


def predictor_card(model: Model, certificate: Certificate, members: int, groups: GroupRule | None) -> Card:
    """``groups``: which inputs have thresholds of their own."""
    manifest, provenance, coverage = model.manifest, certificate.provenance, certificate.coverage
    shape = " x ".join(map(str, manifest.input_shape)) or "1"
    whole = certificate.card()
    confidence = promise(total_risk(coverage.delta, coverage.pool_delta))
    levels = "1 - alpha, for all alpha at once" if certificate.levels is not None else coverage_promise(coverage)
    labels = None if certificate.model is None else certificate.model.labels
    columns = None if certificate.data is None else certificate.data.columns
    facts = [
        ("promise", f"covers at least {levels}, with confidence {confidence}"),
        ("task", manifest.task),
        ("inputs", listed(columns) if columns else f"{shape} numbers per row"),
        *([("classes", listed(labels))] if labels else []),
        *([("groups", _groups(groups))] if groups is not None else []),
        ("made by", f"method {provenance.method}, score {provenance.score}"),
        ("members", str(members)),
        ("certificate", f"{certificate.id}: see .certificate"),
    ]
    return Card(
        f"Predictor of {manifest.name}",
        "predict_set(x) gives its sets",
        sentences=whole.sentences[:1],
        caveats=whole.caveats,
        facts=facts,
    )


def _groups(rule: GroupRule) -> str:
    by = "by an array" if rule.columns is None else f"by {listed(rule.columns)}"
    return f"{by}: predict_set needs the group of every input"
