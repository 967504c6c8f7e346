// sparsegam/local_model.hpp: the quadratic model of one scan: what every add, drop and swap would gain, and
// where it leads.
//
// At a point with support A = [1, X_S], theta = (b, w), gradient r = A'g + ridge and curvature H = A'hA +
// ridge, let M = H^-1. The quadratic model has its minimum on the support at theta* = theta - M r. For a
// column c outside,
//     Q_c = M B_c,  G_c* = G_c - Q_c'r (its gradient at theta*),  V_c = D_c - B_c'Q_c (its curvature once S
//     adjusted) add c        gains  G*^2 / 2V drop j       costs  w*_j^2 / 2M_jj swap j -> c  gains  G'^2 /
//     2V' - the drop's cost,  G' = G* - Q_cj w*_j / M_jj,  V' = V + Q_cj^2 / M_jj
// Exact for the squared loss, a prediction for the others: exchange.hpp verifies on the rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernel_table.hpp"
#include "refit.hpp"

namespace sparsegam {

struct Move {
    Index drop = none;  // position in the support
    Index add = none;   // column
    Index also = none;  // a second column, nested around the first: together they make a bump
    double gain = 0.0;  // predicted fall of the objective, its lambda0 part included
};

// What a move does to the coefficients: changes of those on the support, the column that leaves, those that enter.
struct Step {
    double intercept;
    std::vector<Index> columns;
    std::vector<double> change;
    Index dropped;
    std::vector<Index> added;
    std::vector<double> added_coef;
};

// The step taken from any point that still has most of the support it was worked out for.
inline Point taken(const Step& step, const Penalty& penalty, const Point& from) {
    Point to;
    to.intercept = from.intercept + step.intercept;
    for (Index s = 0; s < from.size(); ++s) {
        const Index column = from.columns[s];
        if (column == step.dropped) continue;
        const auto at = std::find(step.columns.begin(), step.columns.end(), column);
        const double change = at == step.columns.end() ? 0.0 : step.change[at - step.columns.begin()];
        to.columns.push_back(column);
        to.coef.push_back(penalty.clip(column, from.coef[s] + change));
    }
    to.columns.insert(to.columns.end(), step.added.begin(), step.added.end());
    to.coef.insert(to.coef.end(), step.added_coef.begin(), step.added_coef.end());
    return to;
}

// The quadratic model of one scan: predicts moves and their coefficients.
class LocalModel final : ScanVisitor {
  public:
    LocalModel(Rows& rows, const Penalty& penalty, const Point& point)
        : rows_(rows), penalty_(penalty), k_(point.size()), refitted_(point) {
        rows.scan(point.columns, *this);
    }

    // The support alone, which is enough for drops.
    LocalModel(Rows& rows, const Penalty& penalty, const Point& point, Gram gram)
        : rows_(rows), penalty_(penalty), k_(point.size()), refitted_(point) {
        take_gram(std::move(gram));
    }

    // What re-optimising the support alone is predicted to gain, and where it leads.
    double refit_gain() const { return refit_gain_; }
    const Point& refitted() const { return refitted_; }
    double drop_cost(Index position) const { return drop_[position]; }

    std::span<const Index> columns() const { return columns_; }  // those that were scanned

    double add_gain(Index c) const {
        const double push = std::max(std::abs(grad_[c]) - lasso_weight(rows_, penalty_, c), 0.0);
        if (curv_[c] <= collinear * diagonal_[c] || !may_move(c, -grad_[c])) return -infinity;
        return 0.5 * push * push / curv_[c] * pure_factor(grad_[c], diagonal_[c]);
    }

    // Gains of swapping each position, at its cost, for column c.
    void swap_gains(Index c, const double* costs, double* gains) const noexcept {
        kernels().swap_gains(
            {k_, q(c) + 1, shift_.data(), inverse_diagonal_.data(), costs, grad_[c], curv_[c], collinear * diagonal_[c],
             lasso_weight(rows_, penalty_, c), penalty_.high[c] > 0, penalty_.low[c] < 0},
            gains);
    }

    // For each column a of a nested range, the b around it with which it gains most: a bump a < x <= b pays
    // for two terms where neither alone pays for one. With z = x_b - x_a, all that is needed is V_az = V_ab -
    // V_a, V_ab = D_a - B_a'Q_b. In floats: these are predictions, and there are many of them. Of very many
    // columns only every few-th is looked at: pairs grow with the square, and swaps find the neighbours.
    void best_bumps(const Nested& range, double least, std::vector<Move>& moves) const {
        const Index every = 1 + (range.last - range.first) / too_many;
        const Index m = (range.last - range.first) / every, size = k_ + 1;
        if (m < 2) return;
        std::vector<double> solved, cross(m * size);
        std::vector<float> adjusted(m * m), grad(m), curv(m), raw(m), usable(m), gains(m);
        for (Index b = 0; b < m; ++b) {
            const Index c = range.first + b * every;
            solved.insert(solved.end(), q(c), q(c) + size);
            grad[b] = grad_[c], curv[b] = curv_[c], raw[b] = raw_curv(c), usable[b] = may_bump(c);
        }
        multiply(size, m, size, curvature_.data(), solved.data(), cross.data());
        const std::vector<float> cross_f(cross.begin(), cross.end()), q_f(solved.begin(), solved.end());
        multiply(m, m, size, cross_f.data(), q_f.data(), adjusted.data(), true);
        for (Index a = 0; a + 1 < m; ++a) {
            if (!usable[a]) continue;
            const Index c = range.first + a * every, next = a + 1;
            kernels().bump_gains(
                {m - next, &grad[next], &curv[next], &raw[next], &adjusted[a * m + next], &usable[next], grad[a],
                 curv[a], raw[a], collinear, rows_.loss() == Loss::exponential},
                gains.data());
            const auto best = std::max_element(gains.begin(), gains.begin() + (m - next));
            if (*best > least) moves.push_back({none, c, c + (1 + (best - gains.begin())) * every, *best});
        }
    }

    // What a move does to the coefficients, as the model has it.
    Step step_of(const Move& move) const {
        Step step{0.0, refitted_.columns, std::vector<double>(k_, 0.0), none, {}, {}};
        if (move.drop != none) leave(move.drop, step);
        if (move.also != none)
            enter_bump(move, step);
        else if (move.add != none)
            enter(move, step);
        return step;
    }

  private:
    static constexpr Index too_many = 2048;    // columns of one feature whose pairs are all looked at
    static constexpr float collinear = 5e-3f;  // share of its curvature that a column must keep beside the support
    static constexpr double far = 3.0;         // beyond this many units of score a coefficient has run off

    const double* q(Index c) const { return q_.data() + position_[c] * (k_ + 1); }
    // A 0/1 column shifts a group of rows, whose best shift and gain may be known beyond the quadratic model.
    double pure_factor(double grad, double curv) const {
        return rows_.zero_one() ? beyond_quadratic(rows_.loss(), std::abs(grad) / curv) : 1.0;
    }
    double stretch_of(double grad, double curv) const {
        return rows_.zero_one() ? stretch(rows_.loss(), std::abs(grad) / curv) : 1.0;
    }

    bool may_move(Index c, double direction) const {
        return direction > 0 ? penalty_.high[c] > 0 : penalty_.low[c] < 0;
    }

    // Everything here is in units that give H a diagonal of ones: a coefficient that has run off leaves
    // curvature of another order of magnitude.
    void scale(Gram& gram) {
        for (Index i = 0; i <= k_; ++i) scale_.push_back(1.0 / std::sqrt(std::max(gram.curv(i, i), 1e-300)));
        for (Index i = 0; i <= k_; ++i) {
            gram.grad[i] *= scale_[i];
            for (Index j = 0; j <= k_; ++j) gram.curv(i, j) *= scale_[i] * scale_[j];
        }
    }

    // Coefficients pressed against their bounds stay there; to drop one is a step along its own slope.
    void pin(Gram& gram) {
        pinned_.assign(k_, infinity);
        for (Index s = 0; s < k_; ++s) {
            const double w = refitted_.coef[s], slope = gram.grad[s + 1];
            if (!penalty_.pinned(refitted_.columns[s], w, slope)) continue;
            pinned_[s] = std::max(0.5 * w * w * gram.curv(s + 1, s + 1) - w * slope, 0.0);
            hold(gram, s + 1);
        }
    }

    void solve_support(const std::vector<double>& grad) {
        const auto solved = inverse_.times(grad);
        refitted_.intercept -= solved[0] * scale_[0];
        for (Index s = 0; s < k_; ++s)
            refitted_.coef[s] = penalty_.clip(refitted_.columns[s], refitted_.coef[s] - solved[s + 1] * scale_[s + 1]);
        for (Index i = 0; i <= k_; ++i) refit_gain_ += 0.5 * grad[i] * solved[i];
        for (Index s = 0; s < k_; ++s) {
            const double m = inverse_(s + 1, s + 1), coef = refitted_.coef[s], w = coef / scale_[s + 1];
            if (pinned_[s] < infinity) {
                shift_.push_back(0.0);
                inverse_diagonal_.push_back(0.0);
                drop_.push_back(pinned_[s]);
                continue;
            }
            shift_.push_back(w / m);
            inverse_diagonal_.push_back(1.0 / m);
            drop_.push_back(0.5 * w * w / m * growth(rows_.reach(refitted_.columns[s]) * std::abs(coef)));
        }
    }

    // A coefficient that has run off (a pure group, no ridge) leaves so little curvature that dropping it
    // looks free; the curvature on the way back grows like exp(R |w|), and so must the cost.
    static double growth(double run) { return run > far ? std::exp(run - far) : 1.0; }

    void take_gram(Gram gram) override {
        add_penalties(rows_, penalty_, refitted_, gram);
        pin(gram);
        scale(gram);
        curvature_ = std::move(gram.curv);
        inverse_ = curvature_.inverse();
        slopes_ = std::move(gram.grad);
        free_.assign(k_ + 1, 1.0);
        free_[0] = penalty_.free_intercept;
        for (Index s = 0; s < k_; ++s) free_[s + 1] = pinned_[s] == infinity;
        solve_support(slopes_);
        const Index p = rows_.n_columns();
        position_.assign(p, 0);
        grad_.resize(p);
        curv_.resize(p);
        diagonal_.resize(p);
    }

    void take_block(const Block& block) override {
        const Index size = k_ + 1, count = static_cast<Index>(block.columns.size());
        std::vector<double> cross(count * size);
        for (Index c = 0; c < count; ++c)
            for (Index i = 0; i < size; ++i)
                cross[c * size + i] = block.cross[c * block.cross_stride + i] * scale_[i] * free_[i];
        q_.resize(q_.size() + cross.size());
        multiply(size, count, size, inverse_.data(), cross.data(), q_.data() + q_.size() - cross.size());
        for (Index i = 0; i < count; ++i) {
            position_[block.columns[i]] = static_cast<Index>(columns_.size());
            columns_.push_back(block.columns[i]);
            score_column(block.columns[i], block.grad[i], block.curv[i], &cross[i * size]);
        }
    }

    void score_column(Index c, double grad, double curv, const double* cross) {
        const double* solved = q(c);
        double adjusted = 0.0, slope = 0.0;
#pragma omp simd reduction(+ : adjusted, slope)
        for (Index i = 0; i <= k_; ++i) {
            adjusted += cross[i] * solved[i];
            slope += slopes_[i] * solved[i];
        }
        diagonal_[c] = curv + ridge_weight(rows_, penalty_, c);
        curv_[c] = std::max(diagonal_[c] - adjusted, 0.0);
        grad_[c] = grad - slope;
    }

    bool may_bump(Index c) const {
        return penalty_.allowed[c] && !penalty_.bounded(c) && curv_[c] > collinear * diagonal_[c];
    }

    double raw_curv(Index c) const { return diagonal_[c] - ridge_weight(rows_, penalty_, c); }

    void add_column(Index column, double coef, Step& step) const {
        step.added.push_back(column);
        step.added_coef.push_back(coef);
        step.intercept -= q(column)[0] * coef * scale_[0];
        for (Index s = 0; s < k_; ++s) step.change[s] -= q(column)[s + 1] * coef * scale_[s + 1];
    }

    void leave(Index position, Step& step) const {
        step.dropped = refitted_.columns[position];
        shift_support(position, -shift_[position], step);
    }

    void shift_support(Index position, double length, Step& step) const {
        step.intercept += inverse_(0, position + 1) * length * scale_[0];
        for (Index s = 0; s < k_; ++s) step.change[s] += inverse_(s + 1, position + 1) * length * scale_[s + 1];
    }

    // One column enters; where another leaves, that one's place in the adjustment is given back.
    void enter(const Move& move, Step& step) const {
        double grad = grad_[move.add], curv = curv_[move.add], back = 0.0;
        if (move.drop != none) {
            const double mine = q(move.add)[move.drop + 1];
            grad -= mine * shift_[move.drop];
            curv += mine * mine * inverse_diagonal_[move.drop];
            back = mine * inverse_diagonal_[move.drop];
        }
        const double push = std::max(std::abs(grad) - lasso_weight(rows_, penalty_, move.add), 0.0);
        const double newton = -std::copysign(push, grad) / curv;
        const double coef = penalty_.clip(move.add, newton * stretch_of(grad, diagonal_[move.add]));
        add_column(move.add, coef, step);
        if (move.drop != none) shift_support(move.drop, back * coef, step);
    }

    // Two nested columns enter: the level of the inner one and the height of the bump between them.
    void enter_bump(const Move& move, Step& step) const {
        const Index a = move.add, b = move.also, size = k_ + 1;
        const auto cross = curvature_.times(std::vector<double>(q(a), q(a) + size));
        double adjusted = 0.0;
        for (Index i = 0; i < size; ++i) adjusted += cross[i] * q(b)[i];
        const double shared = raw_curv(a) - adjusted, with_a = shared - curv_[a];
        const double bump_grad = grad_[b] - grad_[a], bump_curv = curv_[a] + curv_[b] - 2.0 * shared;
        const double det = curv_[a] * bump_curv - with_a * with_a;
        const double level = -(grad_[a] * bump_curv - bump_grad * with_a) / det;
        const double height = -(bump_grad * curv_[a] - grad_[a] * with_a) / det;
        const double stretched = height * stretch_of(bump_grad, raw_curv(b) - raw_curv(a));
        add_column(a, level - stretched, step);
        add_column(b, stretched, step);
    }

    const Rows& rows_;
    const Penalty& penalty_;
    Index k_;
    Point refitted_;
    std::vector<double> pinned_, free_;   // what dropping a pinned coefficient costs; 0 for what may not move
    std::vector<double> scale_, slopes_;  // units of the support's coefficients, and its gradient in them
    Symmetric curvature_, inverse_;       // H and M, scaled
    double refit_gain_ = 0.0;
    std::vector<double> shift_, inverse_diagonal_, drop_;  // per support position: w_j / M_jj, 1 / M_jj, cost
    std::vector<Index> columns_, position_;                // that were scanned, and where they stand
    std::vector<double> q_;                                // k + 1 per column scanned
    std::vector<double> grad_, curv_, diagonal_;           // per column
};

}  // namespace sparsegam
