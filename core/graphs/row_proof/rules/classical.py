"""The operators of ai.onnx.ml: trees, linear models, kernels, and what prepares columns for them.

Their input is a table of rows. One that has a single axis they take for a single row.
"""

from certiset.core.graphs.row_proof.call import CLASSICAL, Call, rule
from certiset.core.graphs.row_proof.values import NotProvedError, Rows, Value, count, of_rows


@rule("LinearClassifier", "SVMClassifier", "TreeEnsembleClassifier", domain=CLASSICAL)
def classifier(call: Call) -> list[Value]:
    """A label and scores for each row; how many scores depends on how the classes were coded."""
    call.rows_first(rank=2)
    return [of_rows([None], Rows(0)), of_rows([None, None], Rows(0))]


@rule("LinearRegressor", "SVMRegressor", "TreeEnsemble", "TreeEnsembleRegressor", domain=CLASSICAL)
def regressor(call: Call) -> Value:
    call.rows_first(rank=2)
    targets = call.attribute("targets" if call.operator == "LinearRegressor" else "n_targets", 1)
    return of_rows([None, targets], Rows(0))


@rule("Imputer", "Normalizer", "Scaler", domain=CLASSICAL)
def same_table(call: Call) -> Value:
    return call.rows_first(rank=2).forgotten()


@rule("OneHotEncoder", domain=CLASSICAL)
def one_hot_encoder(call: Call) -> Value:
    x = call.rows_first(rank=2)
    categories = call.attribute("cats_int64s") or call.attribute("cats_strings") or ()
    if not categories:
        raise NotProvedError("has no categories")
    return of_rows([None, x.shape[1], len(categories)], Rows(0))


@rule("FeatureVectorizer", domain=CLASSICAL)
def feature_vectorizer(call: Call) -> Value:
    sides: list[int] = []
    for number in range(len(call)):
        x = call.data(number)
        if x.rows != Rows(0) or x.rank != 2:
            raise NotProvedError("expects the rows in another place")
        sides.append(count([x.shape[1]]))
    if list(call.attribute("inputdimensions", ())) != sides:
        raise NotProvedError("has columns that do not fit")
    return of_rows([None, sum(sides)], Rows(0))
