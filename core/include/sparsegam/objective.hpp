// sparsegam/objective.hpp: what is minimised: the loss of the rows and the penalties on the coefficients.
//
//     loss(point) + sum_j ridge_j w_j^2 / 2 + sum_j lasso_j |w_j|  (+ lambda0 times the cost of its columns)
//
// It stands between Rows and the searches: it knows the weights of the penalties, counts the questions to the rows, and
// does not ask twice about the same point.
#pragma once

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "penalty.hpp"
#include "rows.hpp"
#include "tuning.hpp"

namespace sparsegam {

// Takes a coordinate out of a Newton step: it stays where it is.
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

    // Beyond this a coefficient without a finite optimum (a pure group of rows, no ridge) gains nothing more.
    double max_coef(Index column) const {
        const double score_scale = loss().curvature_decay() * columns_.score_scale(column);
        return score_scale > 0.0 ? tuning::diverged / score_scale : infinity;
    }

    double ridge(Index column) const { return 2.0 * penalty_.lambda2 * penalty_scale(column); }  // as curvature
    double lasso(Index column) const {
        return penalty_.lambda1 > 0.0 ? penalty_.lambda1 * std::sqrt(penalty_scale(column)) : 0.0;
    }

    double penalised(const Point& point, double lambda0) const {
        return point.value() + lambda0 * penalty_.cost_of(point);
    }

    // Loss and ridge of a point.
    void evaluate(Point& point) {
        if (!is_last(point)) {
            ++counts_.evaluations;
            point.loss = rows_.evaluate(std::span(&point, 1))[0];
            remember(point);
        }
        point.loss = last_.loss;
        point.ridge = penalty_on(point);
    }

    // The same of several, in one pass.
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

    // Evaluates a point, and returns what Newton needs to move its coefficients from the `held`-th on, penalties
    // included. A coefficient does not change its sign within a step (newton_step sees to it), so lambda1 is a constant
    // slope.
    Gram newton(Point& point, bool low_precision, Index n_fixed = 0) {
        ++counts_.newtons;
        NewtonSums answer = rows_.newton(point, std::span(point.columns).subspan(n_fixed), low_precision);
        point.loss = answer.loss;
        point.ridge = penalty_on(point);
        remember(point);
        add_penalties(point, answer.gram, n_fixed);
        return std::move(answer.gram);
    }

    void add_penalties(const Point& point, Gram& gram, Index n_fixed = 0) const {
        if (!penalty_.free_intercept) fix_coordinate(gram, 0);
        for (Index s = n_fixed; s < point.size(); ++s) {
            const Index i = s - n_fixed + 1, c = point.columns[s];
            gram.curv(i, i) += ridge(c);
            gram.grad[i] += ridge(c) * point.coef[s];
            if (point.coef[s] != 0.0) gram.grad[i] += std::copysign(lasso(c), point.coef[s]);
            if (penalty_.free_intercept && !(columns_.centred_sq_norm[c] > 0.0))
                fix_coordinate(gram, i);  // a second intercept
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
    // What a squared coefficient counts for.
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
