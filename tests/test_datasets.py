"""Data sets: shapes, seeds, special codes, and agreement of the target with the true model."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from sparsegam import SparseGAMClassifier
from sparsegam.datasets import (
    fetch_compas,
    fetch_fico,
    fetch_recidivism,
    load_loans,
    loans_file,
    make_correlated_classification,
    make_correlated_regression,
    make_credit,
    make_loans,
    make_recidivism,
)

DATA = Path(os.environ.get("SPARSEGAM_DATA", Path(__file__).parents[2] / "shared" / "data"))


def n_thresholds(data):
    return sum(len(np.unique(column)) - 1 for column in data.T)


def published(name):
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"no {name}: set SPARSEGAM_DATA to the folder that holds it")
    return path


@pytest.fixture(scope="module")
def credit():
    return make_credit()


@pytest.fixture(scope="module")
def large_credit():
    return make_credit(200_000, seed=1)


class TestCredit:
    def test_shape_and_types(self, credit):
        assert credit.data.shape == (10459, 23)
        assert credit.data.dtype == np.int32
        assert credit.target.shape == (10459,)
        assert set(np.unique(credit.target)) == {0, 1}
        assert len(set(credit.feature_names)) == 23
        assert repr(credit) == "Dataset(n=10459, p=23, truth=AdditiveTruth)"

    def test_same_seed_same_rows(self, credit):
        again = make_credit(seed=0)
        np.testing.assert_array_equal(credit.data, again.data)
        np.testing.assert_array_equal(credit.target, again.target)
        assert (make_credit(seed=1).data != credit.data).any()

    def test_larger_n_continues_the_rows(self, credit):
        small = make_credit(500)
        np.testing.assert_array_equal(small.data, credit.data[:500])
        np.testing.assert_array_equal(small.target, credit.target[:500])

    @pytest.mark.parametrize("seed", range(3))
    def test_number_of_thresholds_matches_fico(self, seed):
        assert n_thresholds(make_credit(seed=seed).data) == pytest.approx(1917, abs=60)

    def test_rows_without_record(self, large_credit):
        no_record = large_credit.data == -9
        assert no_record.all(axis=1).mean() == pytest.approx(0.056, abs=0.003)
        partly = no_record.any(axis=1) & ~no_record.all(axis=1)
        assert 0 < partly.mean() < 0.002

    def test_codes_are_shared_and_follow_the_features(self, credit):
        column = dict(zip(credit.feature_names, credit.data.T, strict=True))
        recorded = column["NumTotalTrades"] != -9
        no_revolving = (column["NumRevolvingTradesWBalance"] == -8) & recorded
        assert no_revolving.any()
        assert (column["NetFractionRevolvingBurden"][no_revolving] == -8).all()
        assert (column["NumBank2NatlTradesWHighUtilization"][no_revolving] == -8).all()
        never_late = column["MSinceMostRecentDelq"] == -7
        assert 0.2 < never_late.mean() < 0.5
        assert (column["MaxDelqEver"][never_late] == 8).all()
        assert np.isin(credit.data[credit.data < 0], [-9, -8, -7]).all()

    def test_correlations_have_the_expected_signs(self, credit):
        recorded = (credit.data >= 0).all(axis=1)
        correlation = np.corrcoef(credit.data[recorded].T)
        at = credit.feature_names.index
        assert correlation[at("NumSatisfactoryTrades"), at("NumTotalTrades")] > 0.7
        assert correlation[at("NumInqLast6M"), at("NumInqLast6Mexcl7days")] > 0.95
        assert correlation[at("ExternalRiskEstimate"), at("NetFractionRevolvingBurden")] < -0.4

    def test_terms_give_the_probability(self, credit):
        column = dict(zip(credit.feature_names, credit.data.T, strict=True))
        log_odds = credit.truth.intercept + sum(
            term.coef * (column[term.feature] <= term.threshold) for term in credit.truth.terms
        )
        np.testing.assert_allclose(credit.truth.probability, 1 / (1 + np.exp(-log_odds)), rtol=1e-12)
        assert 18 <= len(credit.truth.terms) <= 22

    def test_every_term_splits_the_rows(self, credit):
        column = dict(zip(credit.feature_names, credit.data.T, strict=True))
        shares = [(column[term.feature] <= term.threshold).mean() for term in credit.truth.terms]
        assert min(shares) > 0.03
        assert max(shares) < 0.97

    def test_auc_and_prevalence_match_fico(self, large_credit):
        assert roc_auc_score(large_credit.target, large_credit.truth.probability) == pytest.approx(0.805, abs=0.01)
        assert large_credit.target.mean() == pytest.approx(0.522, abs=0.01)

    def test_labels_follow_the_probability(self, large_credit):
        """In each decile of the probability, the mean label is within four standard errors of the mean probability."""
        probability, target = large_credit.truth.probability, large_credit.target
        for group in np.array_split(np.argsort(probability, kind="stable"), 10):
            error = np.sqrt(np.sum(probability[group] * (1 - probability[group]))) / len(group)
            assert abs(target[group].mean() - probability[group].mean()) < 4 * error

    def test_frame_has_the_names(self, credit):
        pytest.importorskip("pandas")
        assert list(credit.frame.columns) == credit.feature_names
        np.testing.assert_array_equal(credit.frame.to_numpy(), credit.data)

    def test_n_must_be_at_least_one(self):
        assert make_credit(1).data.shape == (1, 23)
        with pytest.raises(ValueError, match="`n` must be at least 1, got 0"):
            make_credit(0)


class TestCorrelated:
    @pytest.mark.parametrize("make", [make_correlated_classification, make_correlated_regression])
    def test_columns_correlate_as_powers_of_rho(self, make):
        data = make(20_000, 40, 4, rho=0.9, seed=3).data
        expected = 0.9 ** np.abs(np.subtract.outer(np.arange(40), np.arange(40)))
        np.testing.assert_allclose(np.cov(data.T), expected, atol=0.05)

    def test_paper_sizes_are_the_defaults(self):
        classification = make_correlated_classification()
        assert classification.data.shape == (800, 1000)
        np.testing.assert_array_equal(classification.truth.support, np.arange(0, 1000, 40))
        regression = make_correlated_regression()
        assert regression.data.shape == (2000, 2000)
        np.testing.assert_array_equal(regression.truth.support, np.arange(0, 2000, 20))

    @pytest.mark.parametrize("make", [make_correlated_classification, make_correlated_regression])
    def test_truth_is_consistent(self, make):
        found = make(300, 50, 7, seed=2)
        truth = found.truth
        np.testing.assert_array_equal(np.flatnonzero(truth.coef), truth.support)
        assert len(truth.support) == 7
        np.testing.assert_allclose(found.data @ truth.coef, truth.linear, atol=1e-12)

    @pytest.mark.parametrize("make", [make_correlated_classification, make_correlated_regression])
    def test_seed_decides_and_larger_n_continues(self, make):
        small, large = make(100, 30, 3, seed=5), make(150, 30, 3, seed=5)
        np.testing.assert_array_equal(small.data, large.data[:100])
        np.testing.assert_array_equal(small.target, large.target[:100])
        assert (make(100, 30, 3, seed=6).data != small.data).all()

    @pytest.mark.parametrize("snr", [1.0, 5.0])
    def test_signal_to_noise(self, snr):
        found = make_correlated_regression(20_000, 100, 10, snr=snr, seed=4)
        noise = found.target - found.truth.linear
        assert noise.std() == pytest.approx(found.truth.noise, rel=0.03)
        assert found.truth.linear.var() / noise.var() == pytest.approx(snr, rel=0.06)

    def test_labels_follow_the_log_odds(self):
        found = make_correlated_classification(50_000, 20, 4, seed=0)
        probability = 1 / (1 + np.exp(-found.truth.linear))
        for group in np.array_split(np.argsort(probability), 10):
            error = np.sqrt(np.sum(probability[group] * (1 - probability[group]))) / len(group)
            assert abs(found.target[group].mean() - probability[group].mean()) < 4 * error

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"n": 0}, "`n` must be at least 1"),
            ({"p": 10, "k": 11}, "`k` must lie between 1 and `p`=10, got 11"),
            ({"k": 0}, "`k` must lie between 1"),
            ({"rho": 1.0}, "`rho` must lie strictly between"),
        ],
    )
    @pytest.mark.parametrize("make", [make_correlated_classification, make_correlated_regression])
    def test_invalid_arguments_raise(self, make, arguments, message):
        with pytest.raises(ValueError, match=message):
            make(**arguments)

    def test_invalid_snr_raises(self):
        with pytest.raises(ValueError, match="`snr` must be positive, got 0"):
            make_correlated_regression(snr=0)


class TestPublished:
    def test_fico_equals_the_table_of_the_paper(self):
        fico = fetch_fico(published("fico.csv.gz"))
        assert fico.data.shape == (10459, 23)
        assert n_thresholds(fico.data) == 1917
        assert fico.target.sum() == 5459
        assert (fico.data == -9).all(axis=1).sum() == 588
        assert fico.feature_names == make_credit(1).feature_names

    def test_compas_equals_the_table_of_the_paper(self):
        compas = fetch_compas(published("compas.csv.gz"))
        assert compas.data.shape == (6907, 7)
        assert n_thresholds(compas.data) == 134
        assert compas.target.sum() == 3196
        assert "juvenile_crimes" in compas.feature_names
        assert "juv_other_count" not in compas.feature_names

    def test_raw_compas_keeps_every_row(self):
        compas = fetch_compas(published("compas.csv.gz"), raw=True)
        assert compas.data.shape == (7214, 7)
        assert compas.target.sum() == 3251
        assert "juv_other_count" in compas.feature_names

    @pytest.mark.parametrize("fetch", [fetch_fico, fetch_compas])
    def test_missing_file_raises(self, fetch, tmp_path):
        with pytest.raises(FileNotFoundError, match="`path` must be a csv"):
            fetch(tmp_path / "absent.csv")

    @pytest.mark.parametrize(("fetch", "column"), [(fetch_fico, "RiskPerformance"), (fetch_compas, "two_year_recid")])
    def test_missing_column_is_named(self, fetch, column, tmp_path):
        (tmp_path / "table.csv").write_text("a,b\n1,2\n")
        with pytest.raises(ValueError, match=f"lacks .*{column}"):
            fetch(tmp_path / "table.csv")

    def test_ragged_line_is_named(self, tmp_path):
        (tmp_path / "table.csv").write_text("a,b\n1,2\n3\n")
        with pytest.raises(ValueError, match=r"row 2 has 1 fields but the header has 2"):
            fetch_fico(tmp_path / "table.csv")

    def test_wrong_number_of_rows(self, tmp_path):
        names = ["RiskPerformance", *make_credit(1).feature_names]
        (tmp_path / "table.csv").write_text(",".join(names) + "\nBad" + ",1" * 23 + "\n")
        with pytest.raises(ValueError, match="has 1 rows, the published one has 10459"):
            fetch_fico(tmp_path / "table.csv")

    @pytest.mark.parametrize(("entry", "message"), [("Ugly", "found \\['Ugly'\\]"), ("Bad", "'ExternalRiskEstimate'")])
    def test_unknown_entries_raise(self, entry, message, tmp_path, monkeypatch):
        monkeypatch.setattr("sparsegam.datasets.published.FICO_ROWS", 1)
        names = ["RiskPerformance", *make_credit(1).feature_names]
        first = "1" if entry == "Ugly" else "many"
        (tmp_path / "table.csv").write_text(f"{','.join(names)}\n{entry},{first}" + ",1" * 22 + "\n")
        with pytest.raises(ValueError, match=message):
            fetch_fico(tmp_path / "table.csv")

    @pytest.mark.parametrize("fetch", [fetch_fico, fetch_compas])
    def test_offline_names_the_remedy(self, fetch, monkeypatch):
        def refuse(**_):
            raise TimeoutError

        monkeypatch.setattr("sklearn.datasets.fetch_openml", refuse)
        with pytest.raises(ConnectionError, match="use path= to pass"):
            fetch()


class TestRecidivism:
    @pytest.fixture(scope="class")
    @classmethod
    def rows(cls):
        return make_recidivism()

    def test_has_the_shape_of_the_published_table(self, rows):
        assert rows.data.shape == (20_000, 8)
        n_values = [len(np.unique(column)) for column in rows.data.T]
        assert n_values[:5] + n_values[7:] == [2, 7, 11, 2, 2, 8]
        assert sum(min(n, 1000) - 1 for n in n_values) == 2024

    def test_labels_follow_the_true_probability(self, rows):
        score = np.full(20_000, rows.truth.intercept)
        for term in rows.truth.terms:
            score += term.coef * (rows.data[:, rows.feature_names.index(term.feature)] <= term.threshold)
        np.testing.assert_allclose(rows.truth.probability, 1 / (1 + np.exp(-score)))
        assert rows.target.mean() == pytest.approx(rows.truth.probability.mean(), abs=0.01)
        assert 0.74 < roc_auc_score(rows.target, rows.truth.probability) < 0.80

    def test_ages_are_in_order(self, rows):
        age, first = (rows.data[:, rows.feature_names.index(name)] for name in ("age", "age_first_case"))
        assert (first <= age).all()
        assert (age <= 80).all()

    def test_larger_n_continues_the_rows(self, rows):
        small = make_recidivism(300)
        np.testing.assert_array_equal(small.data, rows.data[:300])
        np.testing.assert_array_equal(small.target, rows.target[:300])

    def test_n_of_zero_raises(self):
        with pytest.raises(ValueError, match="at least 1"):
            make_recidivism(0)

    def test_the_loader_reads_dutch_and_counts_rows(self, rows, tmp_path):
        header = "sekse,cgebland,lnvgalguz,dum1120,dum21plus,leeftijd,lftinsz1inclvtt,delcuziv,rec4"
        path = tmp_path / "netherlands.csv"
        table = np.column_stack([rows.data, rows.target])
        np.savetxt(path, table, delimiter=",", header=header, comments="", fmt="%.9g")
        loaded = fetch_recidivism(path)
        np.testing.assert_allclose(loaded.data, rows.data, atol=1e-5)
        np.testing.assert_array_equal(loaded.target, rows.target)
        np.savetxt(path, table[:100], delimiter=",", header=header, comments="")
        with pytest.raises(ValueError, match="100 rows"):
            fetch_recidivism(path)


def test_packaged_loans_equal_make_loans():
    assert loans_file().read_text() == make_loans()
    assert loans_file().stat().st_size < 100_000


def test_loans_have_every_kind_of_column():
    loans = load_loans()
    table = loans.data
    kinds = {table.label(j): table.column(j).scale.kind for j in range(table.n_columns)}
    assert kinds["opened"] == "date"
    assert kinds["housing"] == "category"
    assert kinds["customer"] == "boolean"
    assert np.isnan(table.column(table.labels.index("income")).values).any()
    codes = [table.column(table.labels.index(name)).values.min() for name in ("months_employed", "bureau_score")]
    assert codes == [-8, -9]
    assert set(loans.target.tolist()) == {"default", "repaid"}
    assert "id" not in table.labels


def test_loans_can_be_learned():
    loans = load_loans()
    gam = SparseGAMClassifier(positive="default", special_values=[-9, -8], min_samples_bin=20)
    gam.fit(loans.frame, loans.target)
    score = gam.model_.decision_function(loans.frame)
    assert roc_auc_score(loans.target == "default", score) > 0.8
