// sparsegam/tuning.hpp: all constants of the search that were chosen by measurements, each with the measurement.
//
// "FICO" is the fold of benchmarks/fico.py with its eight configurations, "wide" the paper's 800 x 1000 simulation of
// benchmarks/linear.py, and "enumeration" the small problems of tests/core/test_exhaustive.py.
#pragma once

#include <cstddef>

#include "types.hpp"

namespace sparsegam::tuning {

// --- Improvements

// The smallest improvement, relative to the objective of the empty model. Float64 sums over 10^6 rows have a relative
// error of 1e-12, but scans use float32, and smaller improvements would be rounding errors.
inline constexpr double min_improvement = 2e-8;
// Relative error of an objective computed by float64 sums.
inline constexpr double relative_resolution = 1e-13;
// The predicted gain of a move must be at least this multiple of the smallest improvement. Predictions are float32,
// improvements float64.
inline constexpr double prediction_margin = 10.0;
// A model of a size counts as new, so that its neighbouring sizes are searched again, if it is better by this many
// smallest improvements. FICO: without this rule, the search of all sizes took 40 % more scans for a loss lower by a
// factor of 1e-5.
inline constexpr double new_model = 1000.0;
// Share of lambda0 that a move must gain in a search at one lambda0. Certified searches make smaller moves, too. FICO:
// with 0.1, the objective was up to 6 higher; over ten folds, 0.02 ended 0.01 % higher than 0.012, and 0.01 took 5 %
// more time without being lower.
inline constexpr double min_gain_share = 0.012;

// --- Collinearity (FICO has 588 rows that are -9 in every feature, hence hundreds of equal columns)

// The curvature of a column that remains after projection on the support must be at least this share of the curvature
// that remains after projection on the intercept alone.
inline constexpr float collinear = 8e-3f;
// It must also be at least this share of the curvature before projection; anything smaller is float32 rounding error.
inline constexpr double rounding = 1e-5;

// --- Coefficients without a finite optimum (all rows of a group in one class, no ridge)

// Score, in absolute value, beyond which the curvature at a coefficient does not predict the cost of dropping it.
inline constexpr double large_score = 3.0;
// Score beyond which the curvature is below 1e-13. Newton steps have no effect there, and no certificate is given.
inline constexpr double diverged = 30.0;

// Maximum number of consecutive refits of one support, with four steps each. At scores where the curvature has
// vanished, every refit gains a little, without end.
inline constexpr int max_consecutive_refits = 100;

// --- Moves evaluated per local model

// Number of moves listed per local model. FICO: 6 needed more local models, 24 gave no better results.
inline constexpr std::size_t moves_listed = 12;
inline constexpr std::size_t moves_tried_alone =
    // Number of listed moves that are tried individually. FICO: 6 took 20 % more time for the same objectives.
    3;
// Number of lists tried per local model while predictions are poor. Without ridge and with separable classes (lambda0
// of 1 or 2, tables of 1000 to 6000 rows), objectives were 0.7 % lower on average, and half as large in a few cases.
inline constexpr int max_retries = 10;
// Whether the best `moves` moves are tried together, as one. FICO data: trying every number of moves took 20 % more
// time for the same objectives.
constexpr bool is_tried_together(std::size_t moves) { return moves == 2 || moves == 4 || moves == 7 || moves == 12; }
// Number of additions tried in each step of greedy selection. Enumeration: with 3, one size in 1500 is worse than the
// best greedy solution.
inline constexpr std::size_t greedy_trials = 6;
// With many columns, thresholds of one feature closer than this (1/128 of the number of columns, at most 8) count as
// similar, and only the best of them is listed.
inline constexpr Index similar_distance = 8, columns_per_neighbour = 128;
// With more terms than this, a scan takes longer than scoring the nested pairs.
inline constexpr Index expensive_scan_terms = 32;

// --- Moves that may gain more than predicted (nearly pure groups of rows)

// Number of such moves tried at the end of a search. Ten folds of FICO: objectives are 0.01 % lower on average, with 2,
// 3 or 5. Tables of a few hundred rows without ridge: up to 25 % lower.
inline constexpr std::size_t max_optimistic_trials = 2;

// --- Reuse of local models

// Number of points for which a local model with frozen curvature is used.
inline constexpr Index max_model_age = 20;
// Number of points for which the model of all columns selects shortlists in a search of all sizes. Older curvature hardly
// changes which columns are best, and each shortlist is scanned again. Wide: 5, 20 and 40 end at the same losses.
inline constexpr Index max_full_model_age = 40;
// Number of points for losses of constant curvature, where only rounding errors accumulate.
inline constexpr Index max_moves = 200;
// Number of columns that can enter the support before the next scan.
inline constexpr Index max_capacity = 64;
// Lower limit of this number. It applies to wide data, where the model of all columns would otherwise have more than
// `full_model_floats` numbers (8 MB).
inline constexpr Index min_capacity = 8;
inline constexpr Index full_model_floats = 1 << 21;
// Size of the local model of each part of the columns, if there are too many columns for one model (2 MB). Scans of the
// parts overlap little, and parts of half or twice this size take the same time.
inline constexpr Index part_model_floats = 1 << 19;
inline constexpr std::size_t shortlist_additions =
    // Number of columns in a shortlist as candidates for additions. Wide: with 32, some sizes were worse.
    64;
inline constexpr std::size_t shortlist_substitutes =
    // Number of columns in a shortlist as replacements of each term. Wide: 4 took 10 % more time.
    2;
// Numbers of features in a shortlist if columns are thresholds: all columns of these features are in it.
inline constexpr std::size_t shortlist_added_features = 24, shortlist_substitute_features = 1;

// --- Nested pairs

// Number of columns of a feature up to which all pairs of them are scored. With more columns, only nearby pairs (within
// blocks of `pair_block`) and pairs of every n-th column are scored.
inline constexpr Index max_paired_columns = 64;
inline constexpr Index pair_block = 16;
// Number of the best pairs of a feature around which all pairs are scored.
inline constexpr std::size_t pairs_refined = 4;

// --- Escaping local optima

// A fit at one lambda0 continues at this multiple of lambda0 and returns to lambda0. FICO, COMPAS, german: 0.7 and 0.9
// help less often, a higher lambda0 hardly ever, and a second round never.
inline constexpr double lower_lambda0_factor = 0.8;
// Number of terms up to which this is done. For larger models it takes longer than the search before it.
inline constexpr Index lower_lambda0_max_terms = 80;
// After the return to lambda0, the search continues with full scans if its objective is within this share of lambda0 of
// the objective before. Ten folds of FICO: 4 % fewer passes for the same objectives on average; with 0, objectives are
// 0.001 % higher.
inline constexpr double close_share = 0.25;
// Number of columns up to which a fit at one lambda0 also tries models with up to eight terms more or fewer. This takes
// hardly any time.
inline constexpr Index very_few_columns = 64;
// Number of columns up to which certified fits do so, and number of terms up to which these try models with two terms
// more or fewer, for any number of columns.
inline constexpr Index few_columns = 512, few_terms = 30;
// A search of all sizes scans all columns at size k again if the last full scan was k / full_scans_up sizes below or k
// / full_scans_down sizes above. Wide, 60 seeds: 8 up ended 0.035 % higher in 3 % less time; 10, 14 and 16 up, and 5
// and 6 down, were not lower.
inline constexpr Index full_scans_up = 12, full_scans_down = 4;
// Number of models kept for each of the first sizes by a search of all sizes with interactions and at most few_columns
// columns. The best three terms among steps and interactions of eight binary features (benchmarks/interactions.py) are
// found in 70 % of the problems without this beam, and in all of them with it.
inline constexpr std::size_t beam_width = 32;
inline constexpr Index beam_terms = 3;
// Number of models kept without interactions and with at most very_few_columns columns. In 300 problems of nine columns
// (tests/search/test_path.py), rounding errors could make a size miss its best model; with 4, none did. It needs twice
// the passes and 10 % more time.
inline constexpr std::size_t narrow_beam_width = 4;

}  // namespace sparsegam::tuning
