// sparsegam/refit.hpp: damped Newton iterations on a fixed support, with free intercept, ridge and bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "objective.hpp"
#include "tuning.hpp"

namespace sparsegam {

struct RefitOptions {
    // Iterations end after a step with a predicted decrease below `tolerance`, or below this share of the objective at
    // the start.
    double tolerance = 0.0;
    double share = 1e-9;
    int max_steps = 40;
    // Iterations end if even twice the predicted decrease would not reach this value.
    double must_beat = infinity;
    // The number of leading columns whose coefficients do not change.
    Index n_fixed = 0;
    // Whether steps are computed from float32 sums, as for trials.
    bool low_precision = false;
    // Whether iterations continue beyond the tolerance while they converge quadratically.
    bool full_precision = false;
};

// Minimises grad'd + d'Hd/2 with low <= d <= high: coordinates that leave the box are fixed at their bounds, and
// released if they would move inwards. The number of terms is small.
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

    // Releases the fixed coordinate with the largest slope inwards.
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

// The bounds of a coefficient within one step: its own bounds and, with lambda1, zero on the side of its sign.
inline std::pair<double, double> step_bounds(const Penalty& penalty, Index column, double coef) {
    double low = penalty.lowest(column), high = penalty.highest(column);
    if (penalty.lambda1 > 0.0 && coef > 0.0) low = std::max(low, 0.0);
    if (penalty.lambda1 > 0.0 && coef < 0.0) high = std::min(high, 0.0);
    return {low - coef, high - coef};
}

// Returns the Newton step within the bounds. Coefficients without a finite optimum are limited to Objective::max_coef.
inline std::vector<double> newton_step(const Objective& objective, const Point& point, const Gram& gram,
                                       Index n_fixed = 0) {
    const Penalty& penalty = objective.penalty();
    std::vector<double> low(point.size() - n_fixed + 1, -infinity), high(point.size() - n_fixed + 1, infinity);
    bool boxed = false;
    for (Index s = n_fixed; s < point.size(); ++s) {
        std::tie(low[s - n_fixed + 1], high[s - n_fixed + 1]) = step_bounds(penalty, point.columns[s], point.coef[s]);
        boxed |= penalty.bounded(point.columns[s]) || penalty.lambda1 > 0.0;
    }
    if (boxed) return BoxStep(gram, std::move(low), std::move(high)).solve();
    auto step = gram.curv.inverse().times(gram.grad);
    for (double& d : step) d = -d;
    for (Index s = n_fixed; s < point.size(); ++s) {
        const double max_coef = objective.max_coef(point.columns[s]), w = point.coef[s];
        double& d = step[s - n_fixed + 1];
        if (std::abs(w + d) > max_coef) d = std::clamp(d, std::min(-max_coef - w, 0.0), std::max(max_coef - w, 0.0));
    }
    return step;
}

inline Point moved(const Point& from, const std::vector<double>& step, double length, Index n_fixed = 0) {
    Point to = from;
    to.intercept += length * step[0];
    for (Index s = n_fixed; s < to.size(); ++s) to.coef[s] += length * step[s - n_fixed + 1];
    return to;
}

// Returns the point after the longest of several shorter steps that lowers the objective sufficiently, or the start if
// none does.
inline Point backtracked(Objective& objective, const Point& from, const std::vector<double>& step, double decrease,
                         Index n_fixed) {
    double length = 0.5;
    // Down to a millionth of the step. Most steps are found among the first four.
    for (const int at_once : {4, 16}) {
        std::vector<Point> points;
        std::vector<double> lengths;
        for (int i = 0; i < at_once; ++i, length *= 0.5) {
            points.push_back(moved(from, step, length, n_fixed));
            lengths.push_back(length);
        }
        objective.evaluate(points);
        for (int i = 0; i < at_once; ++i)
            if (points[i].value() <= from.value() - 1e-4 * lengths[i] * decrease && points[i].value() < from.value())
                return points[i];
    }
    return from;
}

// Where the curvature is discontinuous, its value at one point may not predict the next point, least of all if it is
// zero. After a step that fails, a share of the largest possible curvature is added. The share grows with every
// failure, and shrinks after every success.
class Damping {
  public:
    explicit Damping(const Objective& objective)
        : objective_(objective), needed_(objective.loss().self_concordance == infinity) {}

    Gram damped(const Point& point, const Gram& gram, Index n_fixed) const {
        if (share_ == 0.0) return gram;
        const ColumnInfo& columns = objective_.columns();
        const double most = share_ * objective_.loss().largest_curvature;
        Gram out = gram;
        out.curv(0, 0) += most * columns.total_weight;
        for (Index s = n_fixed; s < point.size(); ++s) {
            const Index c = point.columns[s];
            const double mean = columns.mean[c];
            out.curv(s - n_fixed + 1, s - n_fixed + 1) +=
                most * (columns.centred_sq_norm[c] + columns.total_weight * mean * mean);
        }
        return out;
    }

    // Returns whether another damped step can be tried.
    bool raise() {
        if (!needed_ || share_ >= 1.0) return false;
        share_ = std::max(10.0 * share_, least);
        return true;
    }
    void lower() { share_ = share_ > least ? 0.1 * share_ : 0.0; }

  private:
    static constexpr double least = 1e-5;

    const Objective& objective_;
    bool needed_;
    double share_ = 0.0;
};

// Runs Newton iterations from a point, which is evaluated in the first of them.
inline void refit(Objective& objective, Point& point, const RefitOptions& options) {
    Gram gram = objective.newton(point, options.low_precision, options.n_fixed);
    Damping damping(objective);
    const double tolerance = std::max(options.tolerance, options.share * point.value());
    double last = infinity;
    for (int n = 0; n < options.max_steps; ++n) {
        const auto step = newton_step(objective, point, damping.damped(point, gram, options.n_fixed), options.n_fixed);
        double decrease = 0.0;
        for (std::size_t i = 0; i < step.size(); ++i) decrease -= gram.grad[i] * step[i];
        if (!(decrease > 0.0) || point.value() - decrease > options.must_beat) return;
        ++objective.counts().newton_steps;
        // The last Newton step squares the error. For full precision, iterations continue while convergence is
        // quadratic; the coefficient of a pure group, which has no optimum, converges linearly, and iterations end.
        const bool squaring = decrease < 0.05 * last;
        const bool is_last =
            n + 1 == options.max_steps ||
            (decrease < tolerance && !(options.full_precision && squaring && decrease > 1e-8 * tolerance));
        Point next = moved(point, step, 1.0, options.n_fixed);
        if (is_last)
            objective.evaluate(next);
        else
            gram = objective.newton(next, options.low_precision, options.n_fixed);
        // A last step may predict a decrease that sums over rows cannot resolve. The quadratic model is then more
        // accurate.
        const bool unseen = is_last && decrease < tuning::relative_resolution * point.value();
        const bool falls = unseen ? next.value() <= (1.0 + tuning::relative_resolution) * point.value()
                                  : next.value() <= point.value() - 1e-4 * decrease && next.value() < point.value();
        if (!falls) {
            next = backtracked(objective, point, step, decrease, options.n_fixed);
            const bool more = damping.raise();
            if (!(next.value() < point.value())) {
                if (!more) return;
                gram = objective.newton(point, options.low_precision, options.n_fixed);
                continue;
            }
            if (!is_last) gram = objective.newton(next, options.low_precision, options.n_fixed);
        } else {
            damping.lower();
        }
        point = std::move(next);
        last = decrease;
        if (is_last) return;
    }
}

}  // namespace sparsegam
