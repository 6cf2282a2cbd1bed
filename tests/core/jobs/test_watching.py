"""What a monitor holds a served set to: its member's certified size, or that of the pool it was drawn from."""

import numpy as np
import pytest

from certiset.core.fit import fit
from certiset.core.jobs.watching import Watched
from tests.core.fit.pools import hand_pool
from tests.core.fit.problems import QUICK, class_data, class_model


def test_members_of_a_pool_are_held_to_the_mean_over_the_pool() -> None:
    """Each is one draw of what is served: no size is certified for it alone, nor any miscoverage."""
    certificate = hand_pool(class_model(), *class_data(1000, 0), sizes=[200, 300]).certificate
    watched = Watched.by(certificate)
    bound = certificate.efficiency.upper_bound
    assert bound is not None
    assert watched.alpha == 0.1
    assert watched.size(0, 2.0) == watched.size(1, 2.0) == pytest.approx((2 / 3, bound / 3))


def test_other_members_are_held_to_their_own() -> None:
    certificate = fit(class_model(), *class_data(600, 0), method="learned", **QUICK).certificate
    (member,) = certificate.members
    assert member.efficiency_bound is not None
    assert Watched.by(certificate).size(0, 1.0) == pytest.approx((1 / 3, member.efficiency_bound / 3))


def test_every_group_with_a_threshold_is_watched_with_its_part_of_eta() -> None:
    x, y = class_data(600, 0)
    groups = np.where(np.arange(600) < 590, np.arange(600) % 2, 7)
    watched = Watched.by(fit(class_model(), x, y, method="standard", groups=groups).certificate)
    levels = watched.levels(0.01)
    assert levels.eta_coverage + 2 * (levels.eta_group or 0) == pytest.approx(0.01)
    assert [watched.group(place, 2) for place in (0, 1, 2, 3, None)] == [0, 1, None, None, None]
    by_class = Watched.by(fit(class_model(), x, y, method="standard", groups="class").certificate)
    assert by_class.group(None, 2.0) == 2
