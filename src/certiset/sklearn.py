"""Certified sets as scikit-learn estimators: they clone, go into pipelines and searches, and keep their promise.

    from certiset.sklearn import CertifiedClassifier

    certified = CertifiedClassifier(forest, confidence_level=0.9).conformalize(X, y)
    certified.predict_set(X_new)
    certified.certificate_

`conformalize` calibrates a model that is fitted already (``prefit=True``), on rows that it was not trained on. With
``prefit=False``, `fit` splits the rows by itself: one part trains a clone of the estimator, the other calibrates it.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from certiset.core.certificate import Certificate
from certiset.core.errors import OptionError
from certiset.core.fit.default_levels import DEFAULT_ALPHA, DEFAULT_DELTA
from certiset.core.sets import Intervals, PredictionSets
from certiset.extras import explaining

with explaining("certiset.sklearn"):
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
    from sklearn.exceptions import NotFittedError
    from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit
    from sklearn.utils import Tags, _safe_indexing, get_tags, indexable
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

    from certiset.core.fit import Predictor, fit

__all__ = ["CertifiedClassifier", "CertifiedRegressor"]


class _Certified(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """What both have in common."""

    predictor_: Predictor

    def __init__(
        self,
        estimator: Any = None,
        *,
        confidence_level: float = 1 - DEFAULT_ALPHA,
        delta: float = DEFAULT_DELTA,
        prefit: bool = True,
        calibration_size: float = 0.5,
        method: str = "auto",
        conformity_score: Any = None,
        random_state: int = 0,
        options: dict[str, Any] | None = None,
    ) -> None:
        """``calibration_size`` is the share of the rows that `fit` keeps back; ``options``: further ones of a fit."""
        self.estimator = estimator
        self.confidence_level = confidence_level
        self.delta = delta
        self.prefit = prefit
        self.calibration_size = calibration_size
        self.method = method
        self.conformity_score = conformity_score
        self.random_state = random_state
        self.options = options

    def fit(self, X: Any, y: Any, clusters: Any = None, groups: Any = None) -> Self:  # noqa: N803 (scikit-learn's name)
        """Trains a clone of the estimator on some rows and calibrates it on the others.

        Rows of one of the ``clusters`` are kept together; every one of the ``groups`` keeps the promise by itself.
        """
        if self.prefit:
            raise OptionError(
                f"The estimator is fitted already (prefit=True): call conformalize, on rows that it was not trained "
                f"on, or make {type(self).__name__} with prefit=False.",
                field="prefit",
            )
        if y is None:
            raise OptionError(f"{type(self).__name__} requires y to be passed, but the target y is None.", field="y")
        X, y, clusters, groups = indexable(X, y, clusters, groups)  # noqa: N806
        if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        splitter = ShuffleSplit if clusters is None else GroupShuffleSplit
        split = splitter(1, test_size=self.calibration_size, random_state=self.random_state)
        train, kept = next(split.split(X, y, clusters))
        self.estimator_ = clone(self.estimator).fit(_safe_indexing(X, train), _safe_indexing(y, train))
        further = {
            name: None if values is None else _safe_indexing(values, kept)
            for name, values in (("clusters", clusters), ("groups", groups))
        }
        return self._calibrated(_safe_indexing(X, kept), _safe_indexing(y, kept), **further)

    def conformalize(self, X: Any, y: Any, clusters: Any = None, groups: Any = None) -> Self:  # noqa: N803
        """Calibrates the fitted estimator on rows that it was not trained on."""
        if self.prefit:
            check_is_fitted(self.estimator)
            self.estimator_ = self.estimator
        elif not hasattr(self, "estimator_"):
            raise NotFittedError("With prefit=False, call fit first: it trains and calibrates in one go.")
        return self._calibrated(X, y, clusters=clusters, groups=groups)

    def _calibrated(self, X: Any, y: Any, **further: Any) -> Self:  # noqa: N803
        self.predictor_ = fit(
            self.estimator_,
            X,
            y,
            **further,
            **{
                "confidence_level": self.confidence_level,
                "delta": self.delta,
                "method": self.method,
                "score": self.conformity_score,
                "seed": self.random_state,
                "allow_missing_classes": True,
                **(self.options or {}),
            },
        )
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    @property
    def certificate_(self) -> Certificate:
        """What is promised about the sets, for auditors."""
        check_is_fitted(self, "predictor_")
        return self.predictor_.certificate

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """What the estimator itself predicts."""
        check_is_fitted(self, "predictor_")
        if getattr(X, "ndim", 2) == 2:
            # About anything else the estimator itself has the usual words.
            validate_data(self, X, reset=False, skip_check_array=True)
        found: NDArray[Any] = self.estimator_.predict(X)
        return found

    def predict_set(self, X: Any, groups: Any = None) -> PredictionSets:  # noqa: N803
        """The certified sets, one for each row; ``groups`` are needed where each of them has a promise."""
        check_is_fitted(self, "predictor_")
        return self.predictor_.predict_set(X, groups=groups)

    def __sklearn_clone__(self) -> Self:
        """A fitted estimator stays the same one: a clone of it could not be calibrated."""
        parameters = {
            name: value if name == "estimator" and self.prefit else clone(value, safe=False)
            for name, value in self.get_params(deep=False).items()
        }
        return type(self)(**parameters)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        tags.input_tags.sparse = False
        return tags


def _has(method: str) -> Any:
    return available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), method))


class CertifiedClassifier(ClassifierMixin, _Certified):  # type: ignore[misc]
    """Sets of classes that contain the truth as often as promised."""

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.floating[Any]]:  # noqa: N803
        """The estimator's own probabilities."""
        check_is_fitted(self, "predictor_")
        found: NDArray[np.floating[Any]] = self.estimator_.predict_proba(X)
        return found


class CertifiedRegressor(RegressorMixin, _Certified):  # type: ignore[misc]
    """Intervals that contain the truth as often as promised."""

    def predict_interval(self, X: Any, groups: Any = None) -> NDArray[np.floating[Any]]:  # noqa: N803
        """(rows, 2): lower and upper ends; `predict_set` has the same as sets."""
        sets = self.predict_set(X, groups)
        if not isinstance(sets, Intervals):
            raise OptionError(
                f"The sets are no intervals but {type(sets).__name__}: call predict_set.", field="conformity_score"
            )
        return np.column_stack([sets.lower, sets.upper])
