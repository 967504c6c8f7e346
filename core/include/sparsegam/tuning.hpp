// sparsegam/tuning.hpp: every number of the search that was set by measuring, in one place, with what set it.
//
// "FICO" is the fold of benchmarks/fico.py with its eight cells, "wide" the paper's 800 x 1000 simulation of
// benchmarks/linear.py, "enumeration" the small problems of tests/core/test_exhaustive.py.
#pragma once

#include <cstddef>

#include "types.hpp"

namespace sparsegam::tuning {

// --- what counts as an improvement

// Of the objective of the empty model. Sums over 10^6 rows in doubles are good to 1e-12, but scans are in floats, and
// below this share they chase their own rounding.
inline constexpr double min_improvement = 2e-8;
// Of an objective, what its sums in doubles resolve.
inline constexpr double relative_resolution = 1e-13;
// Moves must promise this many times that: a promise is a float's word, an improvement a double's.
inline constexpr double prediction_margin = 10.0;
// A model of a size counts as new (its neighbours are searched again) beyond this many improvements: FICO's frontier
// took 40 % more scans without, for 1e-5 of the loss.
inline constexpr double new_model = 1000.0;
// Share of lambda0 that a move must gain in a search at one lambda0 before it is worth a scan; certified searches make the
// smaller moves too. FICO: 0.1 lost up to 6 in the objective; over ten folds 0.02 ended 0.01 % higher than 0.012, 0.01 took 5 %
// more time for no more.
inline constexpr double min_gain_share = 0.012;

// --- collinearity (FICO has 588 rows that are -9 in every feature: hundreds of equal columns)

// Share of what it keeps beside the intercept alone that a column must keep beside the support.
inline constexpr float collinear = 8e-3f;
// And of the sum that this is the rest of: less is rounding of floats.
inline constexpr double rounding = 1e-5;

// --- coefficients without a finite optimum (pure groups of rows, no ridge)

// Units of score beyond which the curvature at a coefficient says little about what dropping it costs.
inline constexpr double large_score = 3.0;
// Beyond this the curvature is below 1e-13: Newton sees nothing, and a certificate claims nothing.
inline constexpr double diverged = 30.0;

// Refits of one support, four steps each, after which the search goes on: from scores so large that the curvature is gone,
// each gains a little, for ever.
inline constexpr int max_consecutive_refits = 100;

// --- one look at the moves

inline constexpr std::size_t moves_listed = 12;  // per look; FICO: 6 took more looks, 24 found nothing more
inline constexpr std::size_t moves_tried_alone =
    3;  // of them alone; FICO: 6 took 20 % more time for the same objectives
// Lists of one look that are tried while promises are far off. Fits without a ridge where labels separate (a price of 1 or 2
// on tables of 1000 to 6000 rows) ended at 0.7 % lower objectives on average, a few at half.
inline constexpr int max_retries = 10;
// How many of them are tried together, beside all. FICO: every number took 20 % more time for the same objectives.
constexpr bool is_tried_together(std::size_t moves) { return moves == 2 || moves == 4 || moves == 7 || moves == 12; }
// Additions tried at each step of greedy selection. Enumeration: with 3 one size in 1500 is worse than the best greedy one.
inline constexpr std::size_t greedy_trials = 6;
// Where columns are many, thresholds of one feature this close (in columns: 1/128 of all, at most 8) are one idea.
inline constexpr Index similar_distance = 8, columns_per_neighbour = 128;
// Terms beside which a scan costs more than to look for nested pairs.
inline constexpr Index expensive_scan_terms = 32;

// --- moves that may gain more than they promise (nearly pure groups of rows)

// Tried at the end of a search. Ten folds of FICO: objectives are 0.01 % lower on average, with 2, 3 or 5; tables of a few
// hundred rows without a ridge: up to a quarter.
inline constexpr std::size_t max_optimistic_trials = 2;

// --- models that follow the search

inline constexpr Index max_model_age = 20;  // points that a model may follow the search to
// The same of the model of all columns that chooses shortlists for a frontier: which columns look best is little changed by
// older curvature, and each shortlist is scanned anew. Wide: 5, 20 and 40 end at the same losses.
inline constexpr Index max_full_model_age = 40;
inline constexpr Index max_moves = 200;              // the same where curvature never changes, but floats round
inline constexpr Index max_capacity = 64;            // columns that may enter meanwhile
inline constexpr Index min_capacity = 8;             // the same where columns are so many that
inline constexpr Index full_model_floats = 1 << 21;  // their room together would be more than this: 8 MB
// The same of each part of the columns, where they are too many to be looked at together: 2 MB. Their scans overlap little,
// and parts twice or half as large take the same time.
inline constexpr Index part_model_floats = 1 << 19;
inline constexpr std::size_t shortlist_additions =
    64;  // columns of a shortlist that may be added (wide: 32 lost sizes)
inline constexpr std::size_t shortlist_substitutes =
    2;  // and that may stand in for each term (wide: 4 took 10 % more time)
// The same where columns are thresholds of features: features that stay in play.
inline constexpr std::size_t shortlist_added_features = 24, shortlist_substitute_features = 1;

// --- nested pairs

// Columns of one feature whose pairs are all scored; of more, those near each other, and of every few-th column.
inline constexpr Index max_paired_columns = 64;
inline constexpr Index pair_block = 16;
inline constexpr std::size_t pairs_refined = 4;  // the best of a feature that are looked at again, finely

// --- looking around

// A fit at one lambda0 goes on at this share of the price and comes back. FICO, COMPAS, german: 0.7 and 0.9 help less
// often, a higher price and back hardly ever, a second time never.
inline constexpr double lower_lambda0_factor = 0.8;
inline constexpr Index lower_lambda0_max_terms = 80;  // terms: beyond, it takes longer than all before it
// What it comes back to is searched thoroughly where it is less than this share of the price above what it left. Ten folds
// of FICO: 4 % fewer passes for the same objectives on average; with 0 they are 0.001 % higher.
inline constexpr double close_share = 0.25;
// Columns up to which a fit at one lambda0 also goes eight terms up and down from where it ended: hardly any time.
inline constexpr Index very_few_columns = 64;
// The same of certified fits, and the terms up to which they go two up and down whatever the columns.
inline constexpr Index few_columns = 512, few_terms = 30;
// A frontier at size k looks at all columns again once it has come k / looks_up sizes up, or k / looks_down down. Wide, 60
// seeds: 8 up ended 0.035 % higher in 3 % less time; 10, 14 and 16 up, or 5 and 6 down, were no lower than these.
inline constexpr Index full_scans_up = 12, full_scans_down = 4;
// Models of each of the first sizes that a frontier with products grows from, where there are at most few_columns. The
// best three of steps and products of eight binary features (benchmarks/interactions.py) are found in 70 % of the problems
// without, in all of them with it.
inline constexpr std::size_t beam_width = 32;
inline constexpr Index beam_terms = 3;
// The same without products, of very_few_columns: in 300 problems of nine columns (tests/search/test_path.py) the last bit
// of a sum could cost a size its best model, with 4 it did not; twice the passes, 10 % more time.
inline constexpr std::size_t narrow_beam_width = 4;

}  // namespace sparsegam::tuning
