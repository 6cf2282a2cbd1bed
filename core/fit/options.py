"""The options of a fit, defined once: default, limits and one sentence for each.

Python, HTTP, the command line, the page and the documentation are all made from these models. They load neither PyTorch
nor a score: what may be said about a score is asked of the scores when a score is given, or the schema is.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from certiset.core.errors import OptionError
from certiset.core.fit.default_levels import DEFAULT_ALPHA, DEFAULT_DELTA, DEFAULT_GAMMA
from certiset.core.fit.optimizer_options import OptimizerOptions
from certiset.core.fit.option_types import (
    ALL,
    REAL,
    WHOLE,
    Alpha,
    Batch,
    ColumnName,
    ColumnNames,
    Device,
    Flag,
    GroupList,
    Level,
    LevelAround,
    LevelsType,
    Positive,
    PrevalencesType,
    ScoreType,
    Section,
    Share,
    WeightBound,
)
from certiset.core.validation import validated

if TYPE_CHECKING:
    from certiset.core.scores import Score
from certiset.core.tasks import Task

GRID_SHARES = (0.2, 0.35, 0.5, 0.65, 0.8)
"""alpha_hat / alpha of the default grid, as in the paper"""

Tune: TypeAlias = Literal["auto", "head", "score", "both"]


class PriorOptions(Section):
    """How the prior is tuned on D_0, the part of the data that is not used for calibration."""

    split: Share | None = Field(
        None,
        description="share of the rows that tune the prior and are not used for calibration: one half; auto chooses it",
    )
    train: Literal["none", "mean", "mean_variance"] = Field(
        "mean_variance", description="which of the prior's parameters are tuned"
    )
    objective: Literal["auto", "size", "proper", "cross_entropy", "laplace", "mix"] = Field(
        "auto",
        description="what the prior is tuned for: the set size (as in the paper), a proper score (cross_entropy for "
        "classes, laplace for scales; proper is whichever fits), or the mix of both; auto is proper",
    )
    scale: Positive = Field(0.01, description="the prior's variance before tuning is scale / sqrt(fan_in)")
    steps: Annotated[int, Field(ge=0, le=1_000_000), WHOLE] | None = Field(
        None, description="steps of Adam; 1000 where a head is tuned, 300 for a scale alone"
    )
    rate: Positive | None = Field(
        None,
        description="learning rate; 0.002 where a head is tuned, 0.004 if it is a wide one, 0.008 for a scale alone",
    )
    batch: Batch | None = Field(None, description="rows per step; 256 where a head is tuned, 128 for a scale alone")
    dropout: Share | None = Field(
        None,
        description="share of the features that a row goes without in each step; 0.3 where a wide head is tuned "
        "(64 features or more), which has more parameters than D_0 has rows, and otherwise 0",
    )


class FitOptions(Section):
    """All options of a fit."""

    alpha: Alpha = Field(
        DEFAULT_ALPHA,
        description="promised miscoverage: sets may miss this share of future inputs; all: one promise for all of them "
        "at once, of which each request names one",
    )
    alpha_around: LevelAround = Field(
        DEFAULT_ALPHA,
        description="where alpha is all: the level that tuning, certified sizes and the monitor are about",
    )
    confidence_level: Level | None = Field(None, description="1 - alpha, as an alternative to alpha")
    delta: Level = Field(DEFAULT_DELTA, description="probability with which the promise may fail")
    gamma: Level = Field(DEFAULT_GAMMA, description="probability with which the promised size may fail")
    method: Literal["auto", "standard", "learned", "pac_bayes", "progressive"] = Field(
        "auto",
        description="standard: the score as it is; learned: tuned on rows set aside; pac_bayes: members drawn from a "
        "posterior, which is fitted within a KL budget to the rows that certify; progressive: a pool of members, each "
        "tuned on all rows before its own block; auto: whichever of standard, learned and progressive some revealed "
        "rows speak for",
    )
    guarantee: Literal["auto", "per_draw", "pool", "posterior"] = Field(
        "auto",
        description="per_draw: for every member; pool: for the mean of the stored members; posterior: for the mean "
        "over the posterior; auto: per_draw, or pool where the method makes one",
    )
    bound: Literal["chernoff", "seeger", "vovk_2a", "vovk_2b"] = Field(
        "chernoff", description="chernoff or seeger for guarantee posterior; vovk_2a or vovk_2b without a posterior"
    )
    score: Annotated[Any, ScoreType] | None = Field(
        None, description="nonconformity score with its options; log_prob for classes, scaled_residual for numbers"
    )
    tune: Tune = Field("auto", description="which parameters are tuned and randomised")
    prior: PriorOptions = Field(PriorOptions(), description="how the prior is tuned")
    alpha_hat: Annotated[Any, LevelsType] = Field(
        "grid", description="levels at which a posterior is tried, each at most alpha; grid: five shares of alpha"
    )
    members: Annotated[int, Field(ge=1, le=10_000), WHOLE] = Field(32, description="stored (theta, tau) pairs")
    serve: Literal["random", "best"] = Field(
        "random",
        description="random: a member is drawn for each input; best: only the one with the smallest certified size is "
        "stored, which needs a promise for each member",
    )
    family: Annotated[int, Field(ge=1, le=1_000_000), WHOLE] = Field(
        1,
        description="how many attempts on these rows are planned, this one included: each has its share of delta and "
        "gamma, so that the best of them keeps its promise",
    )
    optimizer: OptimizerOptions = Field(OptimizerOptions(), description="how the posterior is fitted within its budget")
    seed: Annotated[int, Field(ge=0, le=2**63 - 1), WHOLE] = Field(0, description="of all randomness")
    device: Device = Field("auto", description="auto, cpu, cuda, cuda:N or mps; auto takes a GPU if there is one")
    dtype: Literal["float32", "float64"] = Field("float32", description="precision of the fit and of the sets")
    size_bound: Literal["auto", "betting", "grid_kl", "monotone"] = Field(
        "auto",
        description="how the mean size is bounded: betting, which is tightest, or one of the paper's kind; auto is "
        "betting, but grid_kl for more than four members whose sizes are not counts of labels",
    )
    size_cap: Annotated[float, Field(gt=0, le=1e300), REAL] | None = Field(
        None, description="the size that counts as 1 in the size certificate; by default taken from the tuning rows"
    )
    clusters: ColumnName | None = Field(
        None,
        description="the column that says which rows belong together, such as patient, or equal_rows: one row of each "
        "calibrates, and the promise is for one input of a new one",
    )
    order: ColumnName | None = Field(
        None,
        description="the column of times: the latest rows calibrate and earlier ones tune, instead of a random half",
    )
    groups: ColumnNames | None = Field(
        None,
        description="the column, or several that cross, whose every value keeps the promise by itself, all at once; "
        "class: every class does",
    )
    group_list: GroupList | None = Field(
        None,
        description="the groups, where they are known beforehand: their values, lists of values where columns cross; "
        "by default those that occur",
    )
    unknown_groups: Literal["whole", "refuse", "other"] = Field(
        "whole",
        description="inputs of a group that has no threshold of its own: whole: everything is in their set; refuse: "
        "they get no set; other: all of them are one more group, which needs a group_list or rows that tune",
    )
    weights: ColumnName | None = Field(
        None,
        description="the column of weights, if future inputs are of another population: how much more frequent such an "
        "input is there, up to a factor; rows are kept in proportion, and the promise is for that population",
    )
    weight_bound: WeightBound | None = Field(
        None,
        description="what no weight can exceed, known without the rows; needed with weights. Estimated weights are "
        "clipped there",
    )
    prevalences: Annotated[Any, PrevalencesType] | None = Field(
        None,
        description="shares of the classes among future inputs, if they differ from those of the rows: a list in the "
        "order of the classes, or an object by their numbers",
    )
    ties: Literal["together", "hash"] = Field(
        "together",
        description="labels whose scores tie at the threshold: together: all of them are in the set, which covers more "
        "than needed; hash: a keyed hash of row and label says which are, so that coverage is exact",
    )
    non_empty: Flag = Field(False, description="keep the label with the smallest score in every set of labels")
    allow_missing_classes: Flag = Field(False, description="accept data in which some class never occurs")

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        """Options as users give them; an `OptionError` names the field that is wrong as they wrote it."""
        return validated(cls, given)

    @model_validator(mode="before")
    @classmethod
    def _one_level(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        if given.get("alpha", 0) is None:
            # null means the default, as for every option that has none of its own.
            given = {name: value for name, value in given.items() if name != "alpha"}
        if given.get("confidence_level") is None:
            return given
        if "alpha" in given:
            raise OptionError(
                "confidence_level is 1 - alpha: give either alpha or confidence_level.", field="confidence_level"
            )
        level = given["confidence_level"]
        if isinstance(level, int | float) and 0 < level < 1:
            return {**given, "alpha": round(1 - level, 12)}
        return given

    @model_validator(mode="after")
    def _compatible(self) -> Self:
        highest = max(self.levels)
        if highest > self.level:
            raise OptionError(
                f"alpha_hat must not exceed alpha = {self.level:g}, and {highest:g} does.", field="alpha_hat"
            )
        return self

    @property
    def all_levels(self) -> bool:
        """Whether the promise is for all alpha at once."""
        return self.alpha == ALL

    @property
    def level(self) -> float:
        """Alpha, or where it is all the one in the middle of attention."""
        return self.alpha_around if isinstance(self.alpha, str) else self.alpha

    @property
    def chosen_score(self) -> "Score":
        """The score of resolved options, which always have one."""
        assert self.score is not None
        found: Score = self.score
        return found

    @property
    def own_delta(self) -> float:
        """What this one of the planned attempts may spend."""
        return self.delta / self.family

    @property
    def own_gamma(self) -> float:
        return self.gamma / self.family

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels alpha_hat as numbers, in ascending order."""
        if isinstance(self.alpha_hat, str):
            return tuple(round(self.level * share, 12) for share in GRID_SHARES)
        given = self.alpha_hat if isinstance(self.alpha_hat, list | tuple) else [self.alpha_hat]
        return tuple(sorted(set(given)))

    def at_alpha(self, alpha: float) -> Self:
        """The same for another alpha, with levels in proportion."""
        levels = [round(level * alpha / self.level, 12) for level in self.levels]
        return self.model_copy(update={"alpha": alpha, "alpha_hat": levels})

    def resolved(self, task: "Task", guarantee: str | None = None) -> Self:
        """The same with every default that depends on the task or on other options filled in.

        ``guarantee`` is what the method means by auto.
        """
        from certiset.core.scores import default_score  # noqa: PLC0415 (loads PyTorch)

        score = self.score if self.score is not None else default_score(task)
        if score.task != task:
            raise OptionError(f"score {score.kind} is for {score.task}, but the model is for {task}.", field="score")
        prior = self.prior.model_copy(update={"objective": _objective(self.prior.objective, task)})
        changes = {"score": score, "alpha_hat": list(self.levels), "prior": prior, "confidence_level": None}
        changes |= {"guarantee": self.guarantee if guarantee is None else guarantee}
        return self.model_copy(update=changes)

    def to_json(self) -> dict[str, Any]:
        """Every option, as `read` takes it back."""
        return self.model_dump(mode="json", include=set(FitOptions.model_fields), exclude={"confidence_level"})


def _objective(given: str, task: "Task") -> str:
    """By its general name: cross_entropy and laplace are the proper scores of the two tasks."""
    if given == "auto":
        return "proper"
    if given not in ("cross_entropy", "laplace"):
        return given
    meant = "cross_entropy" if task == "classification" else "laplace"
    if given != meant:
        raise OptionError(
            f"prior.objective {given} cannot be used for {task}: choose {meant}.", field="prior.objective"
        )
    return "proper"
