"""The ways to adapt a model that a fit may choose among: which parameters move, and what pulls them back."""

from dataclasses import dataclass, replace

from certiset.core.fit.model_defaults import TuningSchedule, tuning_schedule
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.workspace import Workspace

_PULLS = (1e-4, 1e-2, 1e-1, 1.0)
_PULLS_OF_MANY = (1e-4, 1e-1)
_MANY = 20_000
"""parameters, where each pull takes its time"""
_PULLS_OF_SCALE = (1e-1, 3e-1)
_FASTER = 2.0
"""than a learned prior of so many parameters is tuned: the pull keeps it from going astray, and with thousands of rows
the usual rate has not arrived after the usual steps"""
_TRIAL_BATCH = 128
_TRIAL_STEPS, _TRIAL_STEPS_OF_MANY, _TRIAL_STEPS_OF_SCALE = 150, 100, 75
"""of cross-validation, which only has to tell candidates apart"""
_SMALL = 1000
"""parameters: a head of so few is steady enough to make up for fewer steps by longer ones"""


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

    def is_free(self, rows: int) -> bool:
        """Whether so many rows leave its head open, which is then pulled back by the weakest pull alone."""
        return self.learns_slowly and self.scorer.parameters > rows

    def words(self, pull: float) -> str:
        return f"{self.name}, pull {pull:g}"


def families_of(work: Workspace) -> list[Family]:
    """Those that the options leave open; none where nothing is to be tuned."""
    options, score = work.plan.options, work.plan.score
    if options.prior.train == "none":
        return []
    if not score.has_scale:
        many = work.model.head.parameters > _MANY
        pulls, steps = (_PULLS_OF_MANY, _TRIAL_STEPS_OF_MANY) if many else (_PULLS, _TRIAL_STEPS)
        return [_family(work, "head", pulls, steps, tunes_head=True, tunes_scale=False)]
    pulls, steps = _PULLS_OF_SCALE, _TRIAL_STEPS_OF_SCALE
    found = []
    if options.tune in ("auto", "score"):
        found.append(_family(work, "scale", pulls, steps, tunes_head=False, tunes_scale=True))
    if options.tune in ("auto", "both"):
        found.append(_family(work, "head and scale", pulls, steps, tunes_head=True, tunes_scale=True))
    return found


def _family(
    work: Workspace, name: str, pulls: tuple[float, ...], steps: int, *, tunes_head: bool, tunes_scale: bool
) -> Family:
    options, features = work.plan.options, work.rows.features.shape[1]
    scorer = Scorer(
        work.model,
        work.plan.score,
        tunes_head=tunes_head,
        scale=work.scale_network() if tunes_scale else None,
        exponent=work.exponent,
        rule=work.rule,
    )
    # Beside a scale a pulled head is soon where it ends, and with as many steps as one alone it would only overfit.
    schedule = tuning_schedule(options.prior, tunes_head=tunes_head and not tunes_scale, features=features)
    if not tunes_scale and scorer.parameters > _MANY and options.prior.rate is None:
        schedule = replace(schedule, rate=_FASTER * schedule.rate)
    trial = replace(schedule, steps=min(schedule.steps, steps), batch=min(schedule.batch, _TRIAL_BATCH))
    if 0 < scorer.parameters <= _SMALL:
        trial = replace(trial, rate=trial.rate * schedule.steps / max(1, trial.steps))
    return Family(name, scorer, pulls, schedule, trial, learns_slowly=not tunes_scale)
