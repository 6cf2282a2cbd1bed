"""The ways to adapt a model that a fit may choose among: which parameters move, and what pulls them back."""

from dataclasses import dataclass, replace

from certiset.core.fit.model_defaults import TuningSchedule, tuning_schedule
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.workspace import Workspace
from certiset.core.posterior.network import ScaleNetwork

_PULLS = (1e-4, 1e-2, 1e-1, 1.0)
_PULLS_OF_MANY = (1e-4, 1e-1)
_MANY = 20_000
"""parameters, where each pull takes its time"""
_PULLS_OF_SCALE, _PULLS_OF_BOTH = (1e-2, 1e-1), (1e-1,)
_TRIAL_BATCH = 128
_TRIAL_STEPS, _TRIAL_STEPS_OF_SCALE = 150, 100
"""of cross-validation, which only has to tell candidates apart"""


@dataclass(frozen=True)
class Family:
    """One set of parameters, at several strengths of the pull towards the model as given."""

    name: str
    scorer: Scorer
    pulls: tuple[float, ...]
    schedule: TuningSchedule
    """of the members that are served"""
    trial: TuningSchedule
    """of cross-validation"""
    learns_slowly: bool
    """whether more rows than were revealed may make a difference: heads have many parameters, scales learn early"""

    def words(self, pull: float) -> str:
        return f"{self.name}, pull {pull:g}"


def families_of(work: Workspace) -> list[Family]:
    """Those that the options leave open; none where nothing is to be tuned."""
    options, score = work.plan.options, work.plan.score
    if options.prior.train == "none":
        return []
    if not score.has_scale:
        pulls = _PULLS_OF_MANY if work.model.head.parameters > _MANY else _PULLS
        return [_family(work, "head", pulls, _TRIAL_STEPS, tunes_head=True, tunes_scale=False)]
    found = []
    if options.tune in ("auto", "score"):
        steps = _TRIAL_STEPS_OF_SCALE
        found.append(_family(work, "scale", _PULLS_OF_SCALE, steps, tunes_head=False, tunes_scale=True))
    if options.tune in ("auto", "both"):
        steps = _TRIAL_STEPS_OF_SCALE
        found.append(_family(work, "head and scale", _PULLS_OF_BOTH, steps, tunes_head=True, tunes_scale=True))
    return found


def _family(
    work: Workspace, name: str, pulls: tuple[float, ...], steps: int, *, tunes_head: bool, tunes_scale: bool
) -> Family:
    options, features = work.plan.options, work.rows.features.shape[1]
    scorer = Scorer(
        work.model,
        work.plan.score,
        tunes_head=tunes_head,
        scale=ScaleNetwork(features) if tunes_scale else None,
        exponent=work.exponent,
        rule=work.rule,
    )
    schedule = tuning_schedule(options.prior, tunes_head=tunes_head, features=features)
    trial = replace(schedule, steps=min(schedule.steps, steps), batch=min(schedule.batch, _TRIAL_BATCH))
    return Family(name, scorer, pulls, schedule, trial, learns_slowly=not tunes_scale)
