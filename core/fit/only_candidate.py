"""The only candidate of a fit, calibrated and certified: for all inputs, for every group, or at all levels."""

from certiset.core.fit.all_levels import with_levels
from certiset.core.fit.candidates import Candidate
from certiset.core.fit.certification import calibration_of, certify, fitted
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.group_certification import certify_groups
from certiset.core.fit.grouping import is_grouped
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.workspace import Workspace


def certify_candidate(work: Workspace, scorer: Scorer, candidate: Candidate) -> Fitted:
    if is_grouped(work.plan.options, work.data):
        return certify_groups(work, scorer, candidate)
    work.report("calibrate", 0, 1)
    work.stop_if_asked()
    parts, plan = calibration_of(work, scorer), work.plan
    found = fitted(work, scorer, certify(plan, scorer, candidate, parts))
    if not plan.options.all_levels:
        return found
    return with_levels(
        found,
        parts.calibration,
        parts.tuning,
        parts.reference,
        delta=plan.delta(candidate.choice),
        gamma=plan.gamma(candidate.choice),
        alpha=plan.options.level,
    )
