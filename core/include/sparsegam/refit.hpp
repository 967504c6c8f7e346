// sparsegam/refit.hpp: damped Newton on a fixed support: free intercept, per-column ridge, coefficients in bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "penalty.hpp"
#include "rows.hpp"

namespace sparsegam {

struct RefitOptions {
    double tolerance = 1e-9;  // stop after a step that promised less than this
    int max_steps = 40;
    double must_beat = infinity;  // give up once even an optimistic reading of the next step stays above
    Index held = 0;               // leading columns whose coefficients stay as they are
    bool rough = false;           // steps from sums in floats: for trials
    bool last_digit = false;      // go on beyond the tolerance where that is cheap
};

inline double ridge_weight(const Rows& rows, const Penalty& penalty, Index column) {
    return 2.0 * penalty.lambda2 * (penalty.standardize ? rows.spread()[column] : 1.0);
}

inline double lasso_weight(const Rows& rows, const Penalty& penalty, Index column) {
    if (penalty.lambda1 == 0.0) return 0.0;
    return penalty.lambda1 * (penalty.standardize ? std::sqrt(rows.spread()[column]) : 1.0);
}

// Loss and penalty on the coefficients of a point, on the rows.
inline void evaluate(Rows& rows, const Penalty& penalty, Point& point) {
    point.loss = rows.evaluate(point);
    point.ridge = 0.0;
    for (Index s = 0; s < point.size(); ++s) {
        const Index c = point.columns[s];
        point.ridge += 0.5 * ridge_weight(rows, penalty, c) * point.coef[s] * point.coef[s] +
                       lasso_weight(rows, penalty, c) * std::abs(point.coef[s]);
    }
}

// Takes a coordinate out of a Newton step: it stays where it is.
inline void hold(Gram& gram, Index i) {
    for (Index j = 0; j < gram.curv.size(); ++j) gram.curv(i, j) = gram.curv(j, i) = 0.0;
    gram.curv(i, i) = 1.0;
    gram.grad[i] = 0.0;
}

// Adds the penalties to the ingredients of a Newton step on the columns from `held` on. A coefficient does
// not change its sign within a step (newton_step sees to it), so lambda1 is a constant slope.
inline void add_penalties(const Rows& rows, const Penalty& penalty, const Point& point, Gram& gram, Index held = 0) {
    if (!penalty.free_intercept) hold(gram, 0);
    for (Index s = held; s < point.size(); ++s) {
        const Index i = s - held + 1;
        const double ridge = ridge_weight(rows, penalty, point.columns[s]);
        gram.curv(i, i) += ridge;
        gram.grad[i] += ridge * point.coef[s];
        if (point.coef[s] != 0.0)
            gram.grad[i] += std::copysign(lasso_weight(rows, penalty, point.columns[s]), point.coef[s]);
        if (penalty.free_intercept && !(rows.spread()[point.columns[s]] > 0.0)) hold(gram, i);  // a second intercept
    }
}

// The step d that minimises grad'd + d'Hd/2 with low <= d <= high, by fixing at their bounds the coordinates
// that would leave the box and releasing those that want to come back. K is the number of terms: small.
class BoxStep {
  public:
    BoxStep(const Gram& gram, std::vector<double> low, std::vector<double> high)
        : gram_(gram), low_(std::move(low)), high_(std::move(high)), step_(low_.size(), 0.0), fixed_(low_.size(), 0) {}

    std::vector<double> solve() {
        for (std::size_t round = 0; round < 2 * step_.size() + 2; ++round) {
            solve_free();
            if (!fix_outside() && !release_one()) break;
        }
        for (std::size_t i = 0; i < step_.size(); ++i) step_[i] = std::clamp(step_[i], low_[i], high_[i]);
        return step_;
    }

  private:
    void solve_free() {
        std::vector<Index> free;
        for (std::size_t i = 0; i < step_.size(); ++i)
            if (!fixed_[i]) free.push_back(static_cast<Index>(i));
        Symmetric curv(static_cast<Index>(free.size()));
        std::vector<double> rhs(free.size());
        for (std::size_t a = 0; a < free.size(); ++a) {
            rhs[a] = -gram_.grad[free[a]];
            for (std::size_t i = 0; i < step_.size(); ++i)
                if (fixed_[i]) rhs[a] -= gram_.curv(free[a], i) * step_[i];
            for (std::size_t b = 0; b < free.size(); ++b) curv(a, b) = gram_.curv(free[a], free[b]);
        }
        const auto solved = curv.inverse().times(rhs);
        for (std::size_t a = 0; a < free.size(); ++a) step_[free[a]] = solved[a];
    }

    bool fix_outside() {
        bool any = false;
        for (std::size_t i = 0; i < step_.size(); ++i) {
            if (fixed_[i] || !(step_[i] < low_[i] || step_[i] > high_[i])) continue;
            step_[i] = step_[i] < low_[i] ? low_[i] : high_[i];
            fixed_[i] = any = true;
        }
        return any;
    }

    // Among fixed coordinates, the one that gains most by moving inwards becomes free again.
    bool release_one() {
        double most = 1e-12;
        Index at = -1;
        for (std::size_t i = 0; i < step_.size(); ++i) {
            if (!fixed_[i]) continue;
            double slope = gram_.grad[i];
            for (std::size_t j = 0; j < step_.size(); ++j) slope += gram_.curv(i, j) * step_[j];
            const double inward = step_[i] <= low_[i] ? -slope : slope;
            if (inward > most) most = inward, at = static_cast<Index>(i);
        }
        if (at >= 0) fixed_[at] = 0;
        return at >= 0;
    }

    const Gram& gram_;
    std::vector<double> low_, high_, step_;
    std::vector<char> fixed_;
};

// The bounds of a coefficient within one step: its own and, under lambda1, zero on the side of its sign.
inline std::pair<double, double> step_bounds(const Penalty& penalty, Index column, double coef) {
    double low = penalty.low[column], high = penalty.high[column];
    if (penalty.lambda1 > 0.0 && coef > 0.0) low = std::max(low, 0.0);
    if (penalty.lambda1 > 0.0 && coef < 0.0) high = std::min(high, 0.0);
    return {low - coef, high - coef};
}

inline std::vector<double> newton_step(const Penalty& penalty, const Point& point, const Gram& gram, Index held = 0) {
    std::vector<double> low(point.size() - held + 1, -infinity), high(point.size() - held + 1, infinity);
    bool boxed = false;
    for (Index s = held; s < point.size(); ++s) {
        std::tie(low[s - held + 1], high[s - held + 1]) = step_bounds(penalty, point.columns[s], point.coef[s]);
        boxed |= penalty.bounded(point.columns[s]) || penalty.lambda1 > 0.0;
    }
    if (boxed) return BoxStep(gram, std::move(low), std::move(high)).solve();
    auto step = gram.curv.inverse().times(gram.grad);
    for (double& d : step) d = -d;
    return step;
}

inline Point moved(const Point& from, const std::vector<double>& step, double length, Index held = 0) {
    Point to = from;
    to.intercept += length * step[0];
    for (Index s = held; s < to.size(); ++s) to.coef[s] += length * step[s - held + 1];
    return to;
}

// Newton from an evaluated point. Leaves the rows at the point it returns in place.
inline void refit(Rows& rows, const Penalty& penalty, Point& point, const RefitOptions& options, Counts& counts) {
    double last = infinity;
    for (int n = 0; n < options.max_steps; ++n) {
        Gram gram = rows.gram(std::span(point.columns).subspan(options.held), options.rough);
        add_penalties(rows, penalty, point, gram, options.held);
        const auto step = newton_step(penalty, point, gram, options.held);
        double decrease = 0.0;
        for (std::size_t i = 0; i < step.size(); ++i) decrease -= gram.grad[i] * step[i];
        if (!(decrease > 0.0) || point.value() - decrease > options.must_beat) return;
        ++counts.newton_steps;
        double length = 1.0;
        Point next = moved(point, step, length, options.held);
        evaluate(rows, penalty, next);
        while (!(next.value() <= point.value() - 1e-4 * length * decrease) && length > 1e-6) {
            length *= 0.5;
            next = moved(point, step, length, options.held);
            evaluate(rows, penalty, next);
        }
        if (!(next.value() < point.value())) {
            evaluate(rows, penalty, point);
            return;
        }
        point = std::move(next);
        // The step is made: Newton's last one squares the error. For the last digit it goes on while it converges like
        // that; a coefficient that runs off (a pure group) converges step by step and is let go.
        const bool squaring = decrease < 0.05 * last;
        last = decrease;
        if (decrease < options.tolerance && !(options.last_digit && squaring && decrease > 1e-8 * options.tolerance))
            return;
    }
}

}  // namespace sparsegam
