"""What docstrings of several things share, each written down once; `parameters.documented` fills it in."""

PARAMETERS = "Parameters\n----------\n"
RETURNS = "\nReturns\n-------\n"
ATTRIBUTES = "Attributes\n----------\n"

LOSS = """\
loss : {"logistic", "exponential"}
    The loss, summed over rows.
"""
RIDGE = """\
    Ridge penalty. A number is on the standardised coefficients, as in the paper: its shrinkage is the same however
    many rows there are. "auto" is a prior that gives way to the rows as they come in: 3 times the square of each
    step of an additive classifier, 10 times the share of noise in the variance of y for a regression; of linear models,
    10 over the sum of the weights, on the standardised coefficients.
"""
MAX_TERMS = """\
max_terms : int, optional
    Largest number of terms.
"""
SEARCH = 'lambda2 : float or "auto"\n' + RIDGE + MAX_TERMS
CHOICE = """\
    Of a list the best is chosen together with the size; "auto" is then a grid around what it is otherwise.
"""
SEARCH_FOLDS = 'lambda2 : float, list of float or "auto"\n' + RIDGE + CHOICE + MAX_TERMS
AUTO_PRICE = """\
    "auto", the default of additive models, knows how many columns there were to choose from: in a model of k
    terms it is the larger of 0.4 times "bic" and log(P / k) / 2, where P counts thresholds and levels (0.6 log(P / k)
    of a regression, 0.7 log(P / k) of the P columns of a linear model). From 10 000 rows on it asks for more of
    "bic", and for all of it at 160 000.
"""
PRICE = """\
lambda0 : float or {"auto", "aic", "bic"}
    Price of a term: it must lower the total loss by so much to stay. "aic" is 1 and "bic" is log(n)/2, where n
    is the sum of the weights, or the number of rows where that is more.
"""
NOISE_PRICE = """\
lambda0 : float or {"auto", "aic", "bic"}
    Price of a term: it must lower half the sum of squares by so much to stay. "aic" is the noise variance and
    "bic" log(n)/2 times it, where n is the sum of the weights, or the number of rows where that is more, and the
    variance is estimated from the residuals; so they do not depend on the units of y. `lambda0_` is the price found.
"""
TABLE = """\
standardize : bool, optional
    Whether the ridge is on the coefficients times the norms of their centred columns, or on the coefficients
    themselves: steps. By default a number is on the former, "auto" on the latter.
max_features, max_terms_per_feature : int, optional
    Largest number of source features, and of terms of one feature.
features_always, features_never : list of columns, optional
    Features of which every model has at least one term (the step that helps most by itself is kept in; it counts
    as a term), and features that no model has. Columns go by name, or by position.
feature_cost : dict from column to float, optional
    Factor on lambda0 for the terms of a feature, 1 where none is given. Frontiers (paths and cross-validation) go by
    the number of terms and have no use for it.
monotone : dict from column to {"increasing", "decreasing"}, or list, optional
    How the score may move as a feature grows; a list holds 1, -1 or 0 for each column. Missing and special values
    are out of the order, and free.
max_bins : int
    Thresholds are at every unique value of a column with at most so many, else at quantiles (of the weight, where
    rows have weights). Of a category, the most frequent levels are kept.
thresholds : dict from column to list, optional
    The thresholds of a column, where they shall not be learned.
min_samples_bin : int or "auto"
    Steps stand on at least so many rows (of positive weight): each holds for as many and fails for as many, and
    between any two thresholds of a feature there are as many. "auto" is one row in a hundred, and 20 at most. A
    fit at the default warns of steps that stand on few.
min_events_bin : int
    Of a classifier: a term must hold, and fail, for at least so many rows of either class.
categorical : "auto" or list of columns
    Columns to take as categories besides those that are text or categorical; ordered categoricals become
    thresholds unless named here.
min_category_count : int
    Levels with fewer rows, whatever these weigh, are merged into one.
special_values : list, or dict from column to list, optional
    Values out of the order of their column, each a candidate of its own: for all numeric columns, or by column. Where
    none are given, a warning names columns that look as if they had some (-9, 999); `[]` says that there are none.
shapes : {"steps", "ramps", "both"}, or dict from column to one of them
    What describes a number: steps (`x <= t`), ramps (`min(x - t, 0)`: a straight line up to the knot t, and level from
    there on), or both, whichever serves better term by term. Ramps are held at the 1 % and 99 % quantiles of their
    column. Columns that are no numbers, or take two values only, have steps in any case. Estimators that end in CV also
    take a list, and choose (`shapes_`).
interactions : int, "auto" or list of pairs of columns
    Pairs of columns that may have products of two conditions, `x <= s and z > t` or the like, as terms beside those of
    single columns: the so many pairs that promise most, all pairs that stand out from what chance would give, or the
    pairs named. Estimators that end in CV also score the models without products, and keep these unless products are
    better by more than a standard error.
interaction_cost : float or "auto"
    Factor on lambda0 of a product, and what one must be better by than a term of one column where models of a size are
    compared; "auto" is 2.
hierarchy : {"weak", "strong"}, optional
    Whether a product may only stand beside a term of one of its columns, or of both.
max_terms_per_pair : int, optional
    Largest number of products of one pair of columns.
missing : {"mean", "error", "last"}
    How a value is scored that is missing, special or of a new level where no row of the fit had one in that column:
    at the mean contribution of the column over the rows of the fit (by their weights, those of classes included), with
    a warning that counts; by a ValueError; or as if no condition held, so like the highest values.
"""
COEFFICIENTS = """\
lambda1 : float
    Lasso penalty on the standardised coefficients (L0L1 with lambda0), to shrink them where data are noisy.
standardize : bool
    Whether lambda1 and lambda2 are on the coefficients times the norms of their centred columns, so that the units
    of the columns do not matter; else they are on the coefficients themselves.
fit_intercept : bool
    Whether there is an intercept; it is never penalised.
coef_bounds : (low, high), optional
    Bounds of the coefficients, each a number or an array with one for each column; low <= 0 <= high.
unpenalized : list of columns, optional
    Columns that are in every model and free of lambda0, by name or position. They count as terms.
"""
POSITIVE = """\
positive : label, optional
    The label whose probability is modelled, which equation, plots, report and scorecards speak of: the last of
    `model_.classes`. By default it is the last in order. With more than two labels, the others become "not" this one.
    `classes_` and the columns of `predict_proba` stay in order, as scikit-learn's scorers need them; where a size is
    chosen, scorers see True for this label and False for others.
"""
PATH_POSITIVE = """\
positive : label, optional
    The label whose probability is modelled; by default the last in order. With more than two labels, the others become
    "not" this one.
"""
CLASS_WEIGHT = """\
class_weight : dict or "balanced", optional
    Weights of the classes in fitting (where a size is chosen, not in scoring), multiplied with `sample_weight`;
    "balanced" gives all the same total.
"""
OF_CLASSES = CLASS_WEIGHT + POSITIVE
DEVICE = """\
device : {"cpu", "cuda"}
    Where the sums over rows are made: "cuda" is a card of NVIDIA, for tables of millions of rows (needs CuPy). Data may
    be there already: CuPy arrays, cuDF frames, PyTorch and JAX tensors.
"""
RUN = (
    DEVICE
    + """\
n_jobs : int, optional
    Number of threads; None is one, -1 is all cores. The result does not depend on it.
time_limit : float, optional
    Seconds after which the best found so far is kept, with a ConvergenceWarning.
"""
)
REPORT = """\
verbose : int
    Whether to show a bar as the search goes on, in terminals and notebooks, where tqdm is installed.
callback : callable, optional
    Called with (n_terms, objective) as models are found.
"""
BY_NAME = """\
search : {"exchange", "swap"}
    "exchange" scores every add, drop and swap at once, with the others re-optimised; "swap" is the paper's search.
cuts : {"auto", "none", "linear", "quadratic", "selfconcordant"}
    For "swap": the lower bound that rules out a column before its line search.
order : {"dynamic", "sequential"}
    For "swap": try the term that failed least often first, or go by column.
certify : bool
    Whether to prove that no exchange of one term for another column helps, and to go on from any better model that
    the proof finds. Takes several times as long, and often finds a lower objective. Its time grows with terms times
    columns: with hundreds of terms it may take minutes, which `time_limit` ends.
"""
FOLDS = """\
cv : int, splitter or iterable, optional
    The folds, as scikit-learn takes them; None is five. A number of folds is shuffled, and stratified by class.
scoring : str or callable, optional
    What a good model is, as scikit-learn takes it; None is "neg_log_loss", or "neg_mean_squared_error".
rule : {"steady", "best", "one_se"}
    "best" takes the ridge and size of the best mean score, "steady" (of additive models) the same after each size was
    averaged with those one term smaller and larger, which count half. "one_se" takes the smallest size whose mean score
    is within one standard error of the best: that of the differences on the same folds.
n_repeats : int or "auto"
    How often a number of folds is drawn anew, which steadies the choice where rows are few. "auto" is once from 5001
    rows on, twice from 3334, three times from 2501, and four times with fewer; always once beside a `time_limit`, of
    which repeats would leave less to each search.
random_state : int, RandomState or None
    The seed of the shuffles.
"""
RUN_FOLDS = (
    DEVICE
    + """\
n_jobs : int, optional
    Number of threads, shared by the folds; None is one, -1 is all cores. The result does not depend on it.
time_limit : float, optional
    Seconds that all searches share; those that run out of their part keep the best found so far, with a
    ConvergenceWarning.
"""
)
FITTED = """\
loss_, objective_, lambda0_ : float
    Loss, loss with penalties and price of the terms, and the price of one term.
lambda2_, standardize_ : float, bool
    The ridge, and whether it is on the standardised coefficients.
search_stats_ : dict
    Counts of what the search did: its questions to the rows, `passes` of them in all, and the moves it tried.
n_iter_ : int
    Number of moves the search made.
n_features_in_, feature_names_in_ : int, ndarray
    The columns seen in `fit`.
"""
FITTED_MODEL = """\
model_ : Model
    The model: predicts without this package's compiled part, prints as an equation, saves as JSON.
intercept_, terms_, n_terms_ : float, tuple of Term, int
    The parts of the model; terms say what they stand on (`n_rows`, `n_events`, `standard_error`).
feature_importances_ : ndarray of shape (n_features,)
    Mean absolute centred contribution of each column over the rows of the fit.
"""
LINEAR_MODEL = """\
model_, n_terms_ : LinearModel (OneVsRestModel with more than two classes), int
    The model: predicts without this package's compiled part, prints as an equation; and its number of columns in use.
"""
CERTIFICATE = """\
certificate_ : Certificate or None
    With `certify`: whether the model was proved to be swap 1-OPT, and at what cost.
"""
CHOSEN = """\
path_ : Path or LinearPath
    The frontier of all rows with the ridge chosen.
cv_results_ : dict of ndarray
    By ridge and size: lambda2, n_terms, lambda0, mean_test_score, std_test_score, se_test_score, rank_test_score,
    steady_test_score (the mean over neighbouring sizes), and the score on each fold, split0_test_score and so on. Folds
    drawn anew do not make standard errors smaller: they test the same rows.
best_n_terms_, best_score_ : int, float
    The size chosen and its mean score.
best_lambda2_, lambda2_, standardize_ : float, float, bool
    The ridge chosen, and whether it is on the standardised coefficients.
best_lambda0_, lambda0_ : float
    A price per term at which the frontier's best size is the one chosen; NaN where no price does that.
"""
SEEN = """\
loss_, objective_ : float
    Its loss, and its loss with the penalties.
n_iter_ : int
    Number of moves that the search on all rows made.
n_features_in_, feature_names_in_ : int, ndarray
    The columns seen in `fit`.
"""
MODEL = """\
model_, intercept_, terms_, n_terms_ : Model, float, tuple of Term, int
    The model of that size, fitted to all rows, and its parts; terms say what they stand on (`n_rows`, `n_events`,
    `standard_error`).
feature_importances_ : ndarray of shape (n_features,)
    Mean absolute centred contribution of each column over the rows of the fit.
"""
ROWS = """\
X : array-like or data frame of shape (n_rows, n_features)
    Rows with the columns that the model was fitted with; additive models also take what comes in pieces.
"""
FIT_ROWS = """\
X : array-like, data frame or (linear models) scipy.sparse matrix of shape (n_rows, n_features)
    Numbers; for additive models also booleans, dates, text and categories, and values may be missing. Additive models
    also take what comes in pieces: `sparsegam.scan` of files, a pyarrow Dataset, a function that opens a
    RecordBatchReader, a polars LazyFrame; y and sample_weight are then names of columns.
y : array-like of shape (n_rows,)
    Labels of two or more classes, or the responses of a regression.
sample_weight : array-like of shape (n_rows,), optional
    Weights of the rows, where a size is chosen also in scoring; 2 is the same as the row twice, 0 as no row.
"""
SUM_OF_WEIGHTS = """\
    "auto", "aic" and "bic" take their sum for the number of rows: divide weights of a survey by their mean.
"""
FITTED_SELF = """\
self : estimator
    The fitted estimator.
"""
GROUPS = """\
groups : array-like of shape (n_rows,), optional
    Groups of rows, for splitters that keep them together.
"""
AX = """\
ax : matplotlib.axes.Axes, optional
    Where to draw; a new figure by default.
"""
RUN_GAM = RUN + BY_NAME + REPORT
FITTED_GAM = "\n" + ATTRIBUTES + FITTED_MODEL + FITTED + CERTIFICATE
CHOSEN_GAM = "\n" + ATTRIBUTES + CHOSEN + MODEL + SEEN
CLASSES = """\
classes_ : ndarray
    The labels; with two of them, scores above zero stand for the second.
"""

SECTIONS = {
    "loss_of_columns": """\
loss : {"logistic", "exponential"}
    The loss, summed over rows. The exponential one needs columns of two values each.
""",
    "of_columns": """\
where s_i are weights and sigma_j is the norm of the centred column j (1 without `standardize`).

"""
    + PARAMETERS,
    "of_steps": """\
where s_i are weights. Standardised, as for every lambda2 that is a number unless said otherwise, the ridge is on
sigma_j w_j, where sigma_j is the norm of the centred column of term j: the paper's objective.

"""
    + PARAMETERS,
    "class_weight": CLASS_WEIGHT + PATH_POSITIVE,
    "positive": PATH_POSITIVE,
    "classes_run": OF_CLASSES + RUN + REPORT,
    "classes_run_folds": OF_CLASSES + RUN_FOLDS + REPORT,
    "predictions": PARAMETERS + ROWS + RETURNS + "ndarray of shape (n_rows,)\n    Predictions.\n",
    "scores": RETURNS.lstrip()
    + """\
ndarray of shape (n_rows,)
    Log odds for the logistic loss, half of them for the exponential loss, predictions for the squared loss.
""",
    "search": SEARCH,
    "table": TABLE,
    "coefficients": COEFFICIENTS,
    "run": RUN,
    "price": PRICE + AUTO_PRICE + SEARCH,
    "noise_price": NOISE_PRICE + AUTO_PRICE + SEARCH,
    "fitted_linear": ATTRIBUTES + LINEAR_MODEL + FITTED,
    "rows": PARAMETERS + ROWS,
    "path_rows": """\
y : array-like of shape (n_rows,)
    Labels of two classes, or numbers for the squared loss.
loss : {"logistic", "exponential", "squared", "squared_hinge"}
    The loss, summed over rows. Models of the squared hinge, max(1 - y f, 0)^2, have classes and no probabilities.
""",
    "weights": """\
sample_weight : array-like of shape (n_rows,), optional
    Weights of the rows; a weight of 2 is the same as the row twice.
""",
    "classes": CLASSES,
    "ax": AX,
    "figure": """\
matplotlib.figure.Figure
    The figure.
""",
    "folds": SEARCH_FOLDS + FOLDS,
    "run_folds": RUN_FOLDS + REPORT,
    "chosen_linear": ATTRIBUTES + CHOSEN + LINEAR_MODEL + SEEN,
    "each_class": """\
With more than two classes, a size is chosen for each class against the rest, on the same folds and by the same
scoring, which then sees True for the class and False for the rest. `estimators_` holds the choices; `path_` and
`cv_results_` are tuples, `best_n_terms_`, `best_score_`, `best_lambda0_`, `lambda0_` and `lambda2_` arrays, in the
order of `classes_`; `n_terms_`, `loss_` and `objective_` are sums. `predict_proba` divides the probabilities of the
models by their sum.
""",
    "frontier": """\
The frontier (the best model of each size up to `max_terms`) is searched on the training rows of each fold, bins
included, for each ridge; every ridge and size is scored on the rows left out. Then that of the ridge chosen is
searched on all rows.

"""
    + PARAMETERS,
    "fit": PARAMETERS + FIT_ROWS + SUM_OF_WEIGHTS + RETURNS + FITTED_SELF,
    "choose": PARAMETERS + FIT_ROWS + GROUPS + RETURNS + FITTED_SELF,
    "draw": PARAMETERS + AX + RETURNS + "matplotlib.axes.Axes\n    The axes.\n",
    "gam_classifier": LOSS + PRICE + AUTO_PRICE + SEARCH + TABLE + OF_CLASSES + RUN_GAM + FITTED_GAM + CLASSES,
    "gam_regressor": NOISE_PRICE + AUTO_PRICE + SEARCH + TABLE + RUN_GAM + FITTED_GAM,
    "gam_classifier_cv": LOSS + SEARCH_FOLDS + FOLDS + TABLE + OF_CLASSES + RUN_FOLDS + REPORT + CHOSEN_GAM + CLASSES,
    "gam_regressor_cv": SEARCH_FOLDS + FOLDS + TABLE + RUN_FOLDS + REPORT + CHOSEN_GAM,
    "client": PARAMETERS
    + """\
client : distributed.Client, optional
    The cluster; by default the client that is there.
""",
    "dask_rows": """\
X : Dask DataFrame, Dask Array or list of delayed parts
    Numbers, booleans, dates, text and categories; values may be missing. Parts may be empty.
y, sample_weight : Dask Series, Array, list of delayed parts or str
    Labels or responses, and weights of the rows, in the same parts; of frames also names of columns.
""",
    "round_trips": """\
round_trips_ : int
    Questions that went to all workers.
""",
    "scorer": PARAMETERS
    + """\
model : Model, Scorecard or fitted estimator
    What scores.
""",
    "rows_drawn": """\
model : Model
    The model.
X : array-like or data frame
    Rows.
""",
    "centred": """\
centred : bool, optional
    Whether contributions are measured against the mean of their feature over the rows of the fit; by default where the
    model knows these rows.
""",
    "run_report": RUN + REPORT,
    "fetched": """\
Raises
------
FileNotFoundError
    If `path` does not exist.
ConnectionError
    If `path` is None and OpenML cannot be reached.
ValueError
""",
}
"""By the mark that stands for them in a docstring: alone on its line, in braces."""
