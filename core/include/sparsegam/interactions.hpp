// sparsegam/interactions.hpp: predicted gains of interactions of two conditions, from sums over coarse bins of two
// features.
//
// Let an interaction hold for rows with sums G (gradient) and D (curvature), and let G_tot and H be the sums over all
// rows. Relative to a model with an intercept only, its gain is
//
//     marginal_gain     (G - G_tot D / H)^2 / (2 (D (1 - D / H) + ridge)).
//
// Relative to a model that also contains both conditions, only the interaction contrast of the 2 x 2 table (first
// condition holds or not) x (second condition holds or not) is left, whose cells q have sums G_q and D_q. The contrast
// is c = G_11/D_11 - G_10/D_10 - G_01/D_01 + G_00/D_00. It has the variance of a column with curvature V = 1 / sum_q (1
// / D_q) and gradient c V, so that the gain is
//
//     interaction_gain  (c V)^2 / (2 (V + ridge)).
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "kernel_table.hpp"
#include "rows.hpp"

namespace sparsegam {

struct Interaction {
    Index pair, condition_a, condition_b;
    double marginal_gain, interaction_gain;
};

struct InteractionRules {
    // Maximum number of interactions per pair and kind of gain; all are returned if a pair has no more than this
    // number.
    Index per_pair = 0;
    // Added to the curvature.
    double ridge = 0.0;
    // Minimum curvature of the rows for which an interaction holds, and of all other rows.
    double min_curvature = 0.0;
};

// The gains of all interactions of one pair of features.
class InteractionGains {
  public:
    InteractionGains(const CoarseBins& a, const CoarseBins& b, std::span<const double> grad,
                     std::span<const double> curv, const InteractionRules& rules)
        : a_(a),
          b_(b),
          n_a_(a.n_conditions()),
          n_b_(b.n_conditions()),
          marginal_(n_a_ * n_b_, not_allowed),
          interaction_(n_a_ * n_b_, not_allowed) {
        const double total = std::accumulate(curv.begin(), curv.end(), 0.0);
        if (total > 0.0 && total < infinity)
            score(by_condition(grad, 1.0 / std::sqrt(total)), by_condition(curv, 1.0 / total), total, rules);
    }

    double best_interaction_gain() const {
        return interaction_.empty() ? 0.0 : std::max(*std::max_element(interaction_.begin(), interaction_.end()), 0.0);
    }

    // Appends the best dissimilar interactions by either gain, each once, or all interactions.
    void append_to(std::vector<Interaction>& products, Index pair, Index per_pair) const {
        std::vector<Index> chosen;
        if (per_pair >= n_a_ * n_b_) {
            for (Index i = 0; i < n_a_ * n_b_; ++i)
                if (marginal_[i] != not_allowed) chosen.push_back(i);
        } else {
            chosen = best(marginal_, per_pair);
            for (Index i : best(interaction_, per_pair))
                if (std::find(chosen.begin(), chosen.end(), i) == chosen.end()) chosen.push_back(i);
        }
        for (Index i : chosen) products.push_back({pair, i % n_a_, i / n_a_, marginal_[i], interaction_[i]});
    }

  private:
    // The value that the kernel quadrant_gains returns for interactions that are not allowed.
    static constexpr double not_allowed = -1.0;
    // Share of the total curvature below which a sum is rounding error.
    static constexpr double empty = 1e-9;
    // Differences of gains below this share of the largest gain are rounding errors.
    static constexpr double rounding = 1e-9;

    // Returns scaled sums for every pair of conditions, with one row for each condition of the second feature. The last
    // row, and the last entry of each row, are sums over all rows of the data.
    std::vector<double> by_condition(std::span<const double> by_cell, double unit) const {
        const Index width = b_.n_coarse, line = n_a_ + 1;
        std::vector<double> first(line * width), turned(line * width), both(line * (n_b_ + 1));
        sum_conditions(a_, width, by_cell.data(), first.data());
        for (Index p = 0; p < line; ++p)
            for (Index i = 0; i < width; ++i) turned[i * line + p] = unit * first[p * width + i];
        sum_conditions(b_, line, turned.data(), both.data());
        return both;
    }

    // Turns sums per bin, `width` values each, into sums per condition, followed by the sum over all bins. No
    // differences are taken, so that sums of positive values stay positive.
    static void sum_conditions(const CoarseBins& coarse_bins, Index width, const double* from, double* to) {
        const Index cuts = coarse_bins.n_thresholds(), ordered = coarse_bins.n_ordered,
                    all = coarse_bins.n_conditions();
        const auto put = [&](Index part, Index before, Index cell) {
            for (Index j = 0; j < width; ++j)
                to[part * width + j] = (before == none ? 0.0 : to[before * width + j]) + from[cell * width + j];
        };
        for (Index i = 0; i < cuts; ++i) put(i, i == 0 ? none : i - 1, i);
        for (Index i = cuts; i-- > 0;) put(cuts + i, i + 1 == cuts ? none : cuts + i + 1, i + 1);
        for (Index i = ordered; i < coarse_bins.n_coarse; ++i) put(2 * cuts + i - ordered, none, i);
        for (Index i = 0; i < coarse_bins.n_coarse; ++i) put(all, i == 0 ? none : all, i);
    }

    // Computes gains in units of the total curvature, so that products of four sums do not overflow.
    void score(const std::vector<double>& g, const std::vector<double>& d, double total,
               const InteractionRules& rules) {
        const double ridge = rules.ridge / total, min_curvature = std::max(rules.min_curvature / total, empty);
        const Index line = n_a_ + 1;
        const double *g_a = g.data() + n_b_ * line, *d_a = d.data() + n_b_ * line;
        for (Index q = 0; q < n_b_; ++q) {
            const double *g_q = g.data() + q * line, *d_q = d.data() + q * line;
            kernels().quadrant_gains(
                {n_a_, g_q, d_q, g_a, d_a, g_q[n_a_], d_q[n_a_], g_a[n_a_], ridge, min_curvature, empty},
                marginal_.data() + q * n_a_, interaction_.data() + q * n_a_);
        }
    }

    // Returns the best interactions, omitting those similar to a better one. Of equal gains, the first is chosen.
    std::vector<Index> best(const std::vector<double>& of, Index count) const {
        if (count == 0) return {};
        std::vector<Index> gains = ranks(of);
        const auto best_of = [&](Index q) -> Index {
            const auto line = gains.begin() + q * n_a_;
            return std::max_element(line, line + n_a_) - gains.begin();
        };
        // `top` contains the best interaction of each row.
        std::vector<Index> chosen, top;
        for (Index q = 0; q < n_b_ && n_a_ > 0; ++q) top.push_back(best_of(q));
        const auto lower = [&](Index i, Index j) { return gains[i] < gains[j]; };
        while (static_cast<Index>(chosen.size()) < count && !top.empty()) {
            const Index next = *std::max_element(top.begin(), top.end(), lower);
            if (gains[next] == 0) break;
            chosen.push_back(next);
            const auto [first, last] = similar(a_, next % n_a_);
            const auto [first_line, last_line] = similar(b_, next / n_a_);
            for (Index q = first_line; q < last_line; ++q) {
                std::fill(&gains[q * n_a_ + first], &gains[q * n_a_] + last, Index{0});
                top[q] = best_of(q);
            }
        }
        return chosen;
    }

    // Gains that differ by rounding errors only count as equal: the four quadrants of two thresholds have the same
    // contrast.
    static std::vector<Index> ranks(const std::vector<double>& gains) {
        const double most = gains.empty() ? 0.0 : *std::max_element(gains.begin(), gains.end());
        std::vector<Index> out(gains.size(), 0);
        // All gains are zero, or scores have overflowed.
        if (!(most > 1e-290 && most < infinity)) return out;
        const double per_unit = 1.0 / (rounding * most);
        for (std::size_t i = 0; i < gains.size(); ++i)
            out[i] = gains[i] > 0.0 ? static_cast<Index>(gains[i] * per_unit + 1.5) : 0;
        return out;
    }

    // Returns the range [first, last) of conditions that are of the same kind and whose thresholds differ by at most
    // one bin.
    static std::pair<Index, Index> similar(const CoarseBins& coarse_bins, Index part) {
        const Index cuts = coarse_bins.n_thresholds();
        if (part >= 2 * cuts) return {part, part + 1};
        const Index first = part < cuts ? 0 : cuts;
        return {std::max(part - 1, first), std::min(part + 2, first + cuts)};
    }

    const CoarseBins &a_, &b_;
    Index n_a_, n_b_;
    // One row for each condition of the second feature.
    std::vector<double> marginal_, interaction_;
};

// Candidate interactions, pair by pair, and the largest interaction_gain of each pair.
struct BestInteractions {
    std::vector<Interaction> products;
    std::vector<double> best_interaction_gain;
};

inline BestInteractions best_interactions(Rows& rows, const Point& point, std::span<const CoarseBins> coarse_bins,
                                          std::span<const FeaturePair> pairs, const InteractionRules& rules) {
    std::vector<std::vector<Interaction>> found(pairs.size());
    BestInteractions best{{}, std::vector<double>(pairs.size(), 0.0)};
    rows.pairs(point, coarse_bins, pairs, [&](Index p, std::span<const double> grad, std::span<const double> curv) {
        const InteractionGains gains(coarse_bins[pairs[p].first], coarse_bins[pairs[p].second], grad, curv, rules);
        best.best_interaction_gain[p] = gains.best_interaction_gain();
        gains.append_to(found[p], p, rules.per_pair);
    });
    for (const auto& some : found) best.products.insert(best.products.end(), some.begin(), some.end());
    return best;
}

}  // namespace sparsegam
