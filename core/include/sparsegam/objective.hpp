// sparsegam/objective.hpp: the objective: loss of the rows plus penalties on the coefficients.
//
//     loss(point) + sum_j ridge_j w_j^2 / 2 + sum_j lasso_j |w_j|  (+ lambda0 times the cost of its columns)
//
// It mediates between Rows and the searches: it adds the penalties, counts the passes over the rows, and caches the
// last evaluated point.
#pragma once

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "penalty.hpp"
#include "rows.hpp"
#include "tuning.hpp"

namespace sparsegam {

// Removes a coordinate from a Newton step, so that it does not change.
inline void fix_coordinate(Gram& gram, Index i) {
    for (Index j = 0; j < gram.curv.size(); ++j) gram.curv(i, j) = gram.curv(j, i) = 0.0;
    gram.curv(i, i) = 1.0;
    gram.grad[i] = 0.0;
}

class Objective {
  public:
    Objective(Rows& rows, const Penalty& penalty) : rows_(rows), columns_(rows.columns()), penalty_(penalty) {}

    const Penalty& penalty() const { return penalty_; }
    const ColumnInfo& columns() const { return columns_; }
    Index n_columns() const { return columns_.size(); }
    const LossTraits& loss() const { return traits(rows_.loss()); }
    Counts& counts() { return counts_; }
    const Counts& counts() const { return counts_; }

    // A coefficient beyond this value, which has no finite optimum (a pure group of rows, no ridge), gains nothing
    // more.
    double max_coef(Index column) const {
        const double score_scale = loss().curvature_decay() * columns_.score_scale(column);
        return score_scale > 0.0 ? tuning::diverged / score_scale : infinity;
    }

    // The ridge as curvature.
    double ridge(Index column) const { return 2.0 * penalty_.lambda2 * penalty_scale(column); }
    double lasso(Index column) const {
        return penalty_.lambda1 > 0.0 ? penalty_.lambda1 * std::sqrt(penalty_scale(column)) : 0.0;
    }

    double penalised(const Point& point, double lambda0) const {
        return point.value() + lambda0 * penalty_.cost_of(point);
    }

    // Computes loss and ridge of a point.
    void evaluate(Point& point) {
        if (!is_last(point)) {
            ++counts_.evaluations;
            point.loss = rows_.evaluate(std::span(&point, 1))[0];
            remember(point);
        }
        point.loss = last_.loss;
        point.ridge = penalty_on(point);
    }

    // Computes loss and ridge of several points in one pass.
    void evaluate(std::span<Point> points) {
        if (points.empty()) return;
        if (points.size() == 1) return evaluate(points[0]);
        ++counts_.evaluations;
        const auto losses = rows_.evaluate(points);
        for (std::size_t i = 0; i < points.size(); ++i) {
            points[i].loss = losses[i];
            points[i].ridge = penalty_on(points[i]);
        }
    }

    // Evaluates a point and returns gradient and Hessian of the objective for the intercept and the coefficients from
    // the n_fixed-th on. newton_step ensures that no coefficient changes its sign within a step, so that lambda1
    // contributes a constant slope.
    Gram newton(Point& point, bool low_precision, Index n_fixed = 0) {
        ++counts_.newtons;
        NewtonSums sums = rows_.newton(point, std::span(point.columns).subspan(n_fixed), low_precision);
        point.loss = sums.loss;
        point.ridge = penalty_on(point);
        remember(point);
        add_penalties(point, sums.gram, n_fixed);
        return std::move(sums.gram);
    }

    void add_penalties(const Point& point, Gram& gram, Index n_fixed = 0) const {
        if (!penalty_.free_intercept) fix_coordinate(gram, 0);
        for (Index s = n_fixed; s < point.size(); ++s) {
            const Index i = s - n_fixed + 1, c = point.columns[s];
            gram.curv(i, i) += ridge(c);
            gram.grad[i] += ridge(c) * point.coef[s];
            if (point.coef[s] != 0.0) gram.grad[i] += std::copysign(lasso(c), point.coef[s]);
            if (penalty_.free_intercept && !(columns_.centred_sq_norm[c] > 0.0))
                // A constant column would be a second intercept.
                fix_coordinate(gram, i);
        }
    }

    Token scan(const Point& point, std::span<const Index> selected, ScanVisitor& visitor) {
        ++counts_.scans;
        return rows_.scan(point, selected, visitor);
    }

    double rescan(const ScanToken& token, const Point& point, std::span<const Index> entered,
                  std::span<const Index> selected, const BlockCallback& take) {
        ++counts_.rescans;
        return rows_.rescan(token, point, entered, selected, take);
    }

    GroupSums groups(const Point& point, std::span<const Index> columns) {
        ++counts_.groups;
        return rows_.groups(point, columns);
    }

  private:
    // The scale u_j of a column, see Penalty.
    double penalty_scale(Index column) const {
        return penalty_.penalty_scale.empty() ? columns_.centred_sq_norm[column] : penalty_.penalty_scale[column];
    }

    double penalty_on(const Point& point) const {
        double sum = 0.0;
        for (Index s = 0; s < point.size(); ++s) {
            const Index c = point.columns[s];
            sum += 0.5 * ridge(c) * point.coef[s] * point.coef[s] + lasso(c) * std::abs(point.coef[s]);
        }
        return sum;
    }

    bool is_last(const Point& point) const {
        return last_.loss < infinity && point.intercept == last_.intercept && point.coef == last_.coef &&
               point.columns == last_.columns;
    }

    void remember(const Point& point) {
        last_.intercept = point.intercept;
        last_.columns = point.columns;
        last_.coef = point.coef;
        last_.loss = point.loss;
    }

    Rows& rows_;
    const ColumnInfo& columns_;
    const Penalty& penalty_;
    Point last_;
    Counts counts_;
};

}  // namespace sparsegam
