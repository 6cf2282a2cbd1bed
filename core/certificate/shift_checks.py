"""What a certificate says about another population, held against its other numbers."""

import numpy as np

from certiset.core.bounds import label_shift_draws
from certiset.core.certificate.checks import Check, equal
from certiset.core.certificate.shift import KINDS, PREVALENCES, TARGET, Shift


def shift_checks(shift: Shift, rows: int, used: int, said: bool) -> list[Check]:
    """``rows`` were given and ``used``; ``said`` is whether a caveat speaks of an estimate."""
    if shift.kind not in KINDS:
        return [Check("kind of shift", False, f"one of {', '.join(KINDS)}", shift.kind)]
    checks = [
        equal("rows kept", used, shift.kept),
        equal("caveat about estimated weights", shift.kind == TARGET, said),
    ]
    if shift.kind == PREVALENCES:
        counts, prevalences, epsilon = shift.counts or [], shift.prevalences or [], shift.epsilon or 0.0
        drawn_rows = label_shift_draws(np.array(counts, dtype=np.int64), np.array(prevalences), epsilon)
        return [*checks, equal("rows of all classes", rows, sum(counts)), equal("rows drawn", drawn_rows, shift.kept)]
    bound, effective = shift.weight_bound or 0.0, shift.effective or 0.0
    left = rows - (shift.trained_on or 0)
    return [
        *checks,
        Check("bound of the weights", bound > 0, "positive", shift.weight_bound),
        Check("effective number", 0 < effective <= left, f"at most {left}", shift.effective),
        Check("rows to keep", 0 < shift.kept <= left, f"at most {left}", shift.kept),
        Check("rows that trained weights", 0 <= left <= rows, f"at most {rows}", shift.trained_on),
        equal("target inputs", shift.kind == TARGET, shift.target_sha256 is not None),
        equal("number of target inputs", shift.kind == TARGET, (shift.target_rows or 0) > 0),
        equal("weights that were estimated", shift.kind == TARGET, shift.trained_on is not None),
        Check("SHA-256 of the weights", shift.weights_sha256 is not None, "named", shift.weights_sha256),
    ]
