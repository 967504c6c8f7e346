// sparsegam/local_model.hpp: the quadratic model of one scan: what every add, drop and swap would gain, and
// where it leads.
//
// At a point with support A = [1, X_S], theta = (b, w) and gradient r = A'g + ridge, let H, M, Q_c and V_c be as in
// projection.hpp. The quadratic model has its minimum on the support at theta* = theta - M r, where a column c outside
// has the gradient G_c* = G_c - Q_c'r. Then
//     add c        gains  G*^2 / 2V
//     drop j       costs  w*_j^2 / 2M_jj
//     swap j -> c  gains  G'^2 / 2V' - the drop's cost,  G' = G* - Q_cj w*_j / M_jj,  V' = V + Q_cj^2 / M_jj
// Exact for the squared loss, a prediction for the others: exchange.hpp verifies on the rows. So the curvature need not
// be that of the very point: a model can follow the search to points nearby for the price of their gradients.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "group_shifts.hpp"
#include "kernel_table.hpp"
#include "leaving.hpp"
#include "move.hpp"
#include "projection.hpp"
#include "refit.hpp"
#include "tuning.hpp"

namespace sparsegam {

class LocalModel final : ScanVisitor {
  public:
    // A scan of the columns `among` (none: all); `room` is how many may enter before a new one is due.
    LocalModel(Objective& objective, const Point& point, std::span<const Index> among, Index room)
        : objective_(objective),
          penalty_(objective.penalty()),
          among_(among.begin(), among.end()),
          room_(room),
          k_(point.size()),
          refitted_(point) {
        token_ = objective.scan(point, among, *this);
        refit_support(slopes_);
        project_slopes();
    }

    // The support alone, penalties included, which is enough for drops.
    LocalModel(Objective& objective, const Point& point, Gram gram)
        : objective_(objective), penalty_(objective.penalty()), k_(point.size()), refitted_(point) {
        take_support(std::move(gram));
        refit_support(slopes_);
    }

    // The same of some columns only, with room for so many to enter.
    LocalModel narrowed(std::span<const Index> columns, Index room) const {
        LocalModel out(*this, beside_.narrowed(columns, room));
        out.among_.assign(columns.begin(), columns.end());
        out.shifts_.set_total(shifts_.total());
        for (Index c : columns) {
            out.grad_.push_back(grad_[at(c)]);
            out.shifts_.add(shifts_.curv(at(c)));
            if (!moment_.empty()) out.moment_.push_back(moment_[at(c)]);
        }
        return out;
    }

    // Goes over to another point, holding the curvature of the scan; the point's columns are put into the model's order.
    // False where it cannot: then it is spent.
    bool follow(Point& point) {
        std::vector<Index> entered;
        for (Index c : point.columns)
            if (!refitted_.has(c)) entered.push_back(c);
        if (!knows_all(entered) || boxed(point)) return false;
        for (Index s = k_ - 1; s >= 0; --s)
            if (!point.has(refitted_.columns[s])) leave_support(s);
        if (k_ + static_cast<Index>(entered.size()) >= beside_.stride()) return false;
        point = in_order(point, entered);
        std::vector<std::vector<double>> cross(entered.size(), std::vector<double>(columns().size()));
        const double total =
            objective_.rescan(*token_, point, entered, among_, [&](const Block& block) { take_rescan(block, cross); });
        for (std::size_t e = 0; e < entered.size(); ++e)
            if (!join_support(entered[e], std::move(cross[e]))) return false;
        refitted_ = point;
        if (multiplicative()) shifts_.set_total(point.loss);
        refit_support(slopes_at(total));
        project_slopes();
        ++age_;
        return true;
    }

    // To how many points it has followed the search since the scan; always new where curvature never changes.
    Index follows() const { return age_; }
    Index age() const { return objective_.loss().constant_curvature ? 0 : age_; }

    // What re-optimising the support alone is predicted to gain, and where it leads.
    double refit_gain() const { return refit_gain_; }
    const Point& refitted() const { return refitted_; }
    double drop_cost(Index position) const { return leaving_.cost[position]; }
    bool has_diverged(Index position) const {
        return way_back(refitted_.columns[position], refitted_.coef[position]) > tuning::far;
    }

    std::span<const Index> columns() const { return beside_.columns(); }  // those that were scanned
    bool knows(Index column) const { return at(column) != none; }

    double add_gain(Index c) const {
        const Index i = at(c);
        const double push = std::max(std::abs(grad_[i]) - objective_.lasso(c), 0.0);
        if (beside_.curv(i) <= min_curv(i) || !may_move(c, -grad_[i])) return -infinity;
        return 0.5 * push * push / beside_.curv(i) * shifts_.gain_factor(c, purity(c));
    }

    // The same as an optimist has it: on nearly pure groups the quadratic model may promise much too little.
    double most_add_gain(Index c) const { return add_gain(c) * shifts_.most_gain_factor(c, purity(c)); }

    // Gains of swapping each position, at its cost, for column c; returns the largest. In octets, with infinite costs at
    // the end.
    float swap_gains(Index c, const float* costs, float* gains) const noexcept {
        const Index i = at(c);
        return kernels().swap_gains(
            {k_, beside_.q(i) + 1, leaving_.shift_float.data(), leaving_.inverse_float.data(), costs,
             static_cast<float>(grad_[i]), static_cast<float>(beside_.curv(i)), static_cast<float>(min_curv(i)),
             static_cast<float>(objective_.lasso(c)), penalty_.highest(c) > 0, penalty_.lowest(c) < 0},
            gains);
    }

    // What a pair of columns needs to know of each.
    struct PairFacts {
        float grad, curv, raw;  // raw: the curvature without ridge and support
        bool usable;
        const float* q;
    };
    PairFacts pair_facts(Index c) const {
        const Index i = at(c);
        const bool usable = penalty_.allowed[c] && !penalty_.bounded(c) && beside_.curv(i) > min_curv(i);
        return {static_cast<float>(grad_[i]), static_cast<float>(beside_.curv(i)), static_cast<float>(raw_curv(c)),
                usable, beside_.q(i)};
    }
    const Symmetric& support_curvature() const { return beside_.curvature(); }

    // x_a'(h x_b) of two columns of one feature, the inner one first or a step before a ramp. Below its own knot, a ramp is
    // another one plus a constant.
    double product(Index a, Index b) const {
        const ColumnInfo& columns = objective_.columns();
        if (columns.kind[b] != ColumnKind::ramp) return raw_curv(a);
        if (columns.kind[a] == ColumnKind::ramp)
            return raw_curv(a) + (columns.knot[a] - columns.knot[b]) * moment_[at(a)];
        return columns.knot[a] <= columns.knot[b] ? moment_[at(a)] - columns.knot[b] * raw_curv(a) : moment_[at(b)];
    }
    bool multiplicative() const { return objective_.loss().multiplicative; }

    // What a move does to the coefficients, as the model has it.
    Step step_of(const Move& move) const {
        Step step;
        step.columns = refitted_.columns;
        step.change.assign(k_, 0.0);
        if (move.drop != none) leave(move.drop, step);
        if (move.also != none)
            enter_pair(move, step);
        else if (move.add != none)
            enter(move, step);
        return step;
    }

  private:
    LocalModel(const LocalModel& other, Projection beside)
        : objective_(other.objective_),
          penalty_(other.penalty_),
          token_(other.token_),
          age_(other.age_),
          k_(other.k_),
          refitted_(other.refitted_),
          pinned_(other.pinned_),
          free_(other.free_),
          slopes_(other.slopes_),
          beside_(std::move(beside)),
          refit_gain_(other.refit_gain_),
          leaving_(other.leaving_) {}

    Index at(Index column) const { return beside_.place(column); }

    // Less curvature than this beside the support, and a column has nothing of its own to say. Measured against what it
    // keeps beside the intercept alone: a column that holds for nearly all rows has little even there.
    double min_curv(Index i) const {
        return std::max(tuning::collinear * beside_.own(i), tuning::rounding * beside_.diagonal(i));
    }

    double purity(Index c) const { return shifts_.purity(at(c), c, grad_[at(c)]); }

    bool may_move(Index c, double direction) const {
        return direction > 0 ? penalty_.highest(c) > 0 : penalty_.lowest(c) < 0;
    }

    // --- a scan

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

    void take_gram(Gram gram) override {
        objective_.add_penalties(refitted_, gram);
        take_support(std::move(gram));
    }

    void take_support(Gram gram) {
        pin(gram);
        shifts_.set_total(gram.curv(0, 0));
        beside_ = Projection(std::move(gram.curv), objective_.n_columns(), room_, n_scanned());
        grad_.reserve(n_scanned());
        slopes_ = std::move(gram.grad);
        for (Index i = 0; i <= k_; ++i) slopes_[i] *= beside_.scale(i);
        free_.assign(k_ + 1, 1.0);
        free_[0] = penalty_.free_intercept;
        for (Index s = 0; s < k_; ++s) free_[s + 1] = pinned_[s] == infinity;
    }

    Index n_scanned() const { return among_.empty() ? objective_.n_columns() : static_cast<Index>(among_.size()); }

    void take_block(const Block& block) override {
        std::vector<double> diagonal;
        for (std::size_t i = 0; i < block.columns.size(); ++i) {
            diagonal.push_back(block.curv[i] + objective_.ridge(block.columns[i]));
            grad_.push_back(block.grad[i]);
            shifts_.add(diagonal.back());
            if (block.moment.data) moment_.push_back(block.moment[i]);
        }
        beside_.add(block, diagonal, free_);
    }

    // --- following the search

    // The columns that stayed in the order that the model has them in, then those that entered.
    Point in_order(const Point& point, std::span<const Index> entered) const {
        Point out = point;
        out.columns = refitted_.columns;
        out.columns.insert(out.columns.end(), entered.begin(), entered.end());
        for (std::size_t s = 0; s < out.columns.size(); ++s) out.coef[s] = point.coef[point.position(out.columns[s])];
        return out;
    }

    bool knows_all(std::span<const Index> entered) const {
        return std::all_of(entered.begin(), entered.end(), [&](Index c) { return knows(c); }) &&
               std::all_of(refitted_.columns.begin(), refitted_.columns.end(), [&](Index c) { return knows(c); });
    }

    // Which coefficients are pinned can change from point to point, and so would H.
    bool boxed(const Point& point) const {
        const auto bounded = [&](Index c) { return penalty_.bounded(c); };
        return std::any_of(point.columns.begin(), point.columns.end(), bounded) ||
               std::any_of(refitted_.columns.begin(), refitted_.columns.end(), bounded);
    }

    void leave_support(Index s) {
        beside_.leave(s + 1);
        refitted_.columns.erase(refitted_.columns.begin() + s);
        pinned_.pop_back();
        free_.pop_back();
        --k_;
    }

    bool join_support(Index column, std::vector<double> cross) {
        const Index i = at(column);
        if (!beside_.has_room() || !(beside_.curv(i) > 1e-6 * beside_.own(i))) return false;
        beside_.join(i, std::move(cross));
        refitted_.columns.push_back(column);
        pinned_.push_back(infinity);
        free_.push_back(1.0);
        ++k_;
        return true;
    }

    void take_rescan(const Block& block, std::vector<std::vector<double>>& cross) {
        for (std::size_t b = 0; b < block.columns.size(); ++b) {
            const Index i = at(block.columns[b]);
            grad_[i] = block.grad[b];
            if (block.curv.data) shifts_.set(i, block.curv[b] + objective_.ridge(block.columns[b]));
            for (std::size_t e = 0; e < cross.size(); ++e) cross[e][i] = block.cross[b * block.cross_stride + e];
        }
    }

    std::vector<double> slopes_at(double total) const {
        Gram gram{Symmetric(k_ + 1), {total}};
        for (Index c : refitted_.columns) gram.grad.push_back(grad_[at(c)]);
        objective_.add_penalties(refitted_, gram);
        for (Index i = 0; i <= k_; ++i) gram.grad[i] *= beside_.scale(i);
        return gram.grad;
    }

    // --- either way

    void refit_support(std::vector<double> slopes) {
        slopes_ = std::move(slopes);
        const auto solved = beside_.inverse().times(slopes_);
        refitted_.intercept -= solved[0] * beside_.scale(0);
        for (Index s = 0; s < k_; ++s)
            refitted_.coef[s] =
                penalty_.clip(refitted_.columns[s], refitted_.coef[s] - solved[s + 1] * beside_.scale(s + 1));
        refit_gain_ = 0.0;
        for (Index i = 0; i <= k_; ++i) refit_gain_ += 0.5 * slopes_[i] * solved[i];
        leaving_ = Leaving(pinned_);
        for (Index s = 0; s < k_; ++s) {
            if (pinned_[s] < infinity) continue;
            const double m = beside_.inverse()(s + 1, s + 1), coef = refitted_.coef[s], w = coef / beside_.scale(s + 1);
            leaving_.set(s, w / m, 1.0 / m, 0.5 * w * w / m * cost_growth(way_back(refitted_.columns[s], coef)));
        }
    }

    double way_back(Index column, double coef) const {
        return objective_.loss().decay() * objective_.columns().reach(column) * std::abs(coef);
    }

    // G becomes G*.
    void project_slopes() {
        const auto shared = beside_.dots(slopes_);
        for (std::size_t i = 0; i < grad_.size(); ++i) grad_[i] -= shared[i];
    }

    double raw_curv(Index c) const { return beside_.diagonal(at(c)) - objective_.ridge(c); }

    // --- what moves do to the coefficients

    void add_column(Index column, double coef, Step& step) const {
        const float* q = beside_.q(at(column));
        step.added.push_back(column);
        step.added_coef.push_back(coef);
        step.intercept -= q[0] * coef * beside_.scale(0);
        for (Index s = 0; s < k_; ++s) step.change[s] -= q[s + 1] * coef * beside_.scale(s + 1);
    }

    void leave(Index position, Step& step) const {
        step.dropped = refitted_.columns[position];
        shift_support(position, -leaving_.shift[position], step);
    }

    void shift_support(Index position, double length, Step& step) const {
        const Symmetric& inverse = beside_.inverse();
        step.intercept += inverse(0, position + 1) * length * beside_.scale(0);
        for (Index s = 0; s < k_; ++s) step.change[s] += inverse(s + 1, position + 1) * length * beside_.scale(s + 1);
    }

    // One column enters; where another leaves, that one's place in the adjustment is given back.
    void enter(const Move& move, Step& step) const {
        const Index i = at(move.add);
        double grad = grad_[i], curv = beside_.curv(i), back = 0.0;
        if (move.drop != none) {
            const double mine = beside_.q(i)[move.drop + 1];
            grad -= mine * leaving_.shift[move.drop];
            curv += mine * mine * leaving_.inverse[move.drop];
            back = mine * leaving_.inverse[move.drop];
        }
        const double push = std::max(std::abs(grad) - objective_.lasso(move.add), 0.0);
        const double newton = -std::copysign(push, grad) / curv;
        const double farthest = objective_.farthest(move.add);
        const double step_to =
            std::clamp(newton * shifts_.step_factor(move.add, shifts_.purity(i, move.add, grad)), -farthest, farthest);
        const double coef = penalty_.clip(move.add, step_to);
        add_column(move.add, coef, step);
        if (move.drop != none) shift_support(move.drop, back * coef, step);
    }

    // Two nested columns enter: the level of the inner one, and the height of what lies between them.
    void enter_pair(const Move& move, Step& step) const {
        const Index a = at(move.add), b = at(move.also), size = k_ + 1;
        const float *q_a = beside_.q(a), *q_b = beside_.q(b);
        const double curv_a = beside_.curv(a);
        const auto cross = beside_.curvature().times(std::vector<double>(q_a, q_a + size));
        double adjusted = 0.0;
        for (Index i = 0; i < size; ++i) adjusted += cross[i] * q_b[i];
        const double shared = product(move.add, move.also) - adjusted, with_a = shared - curv_a;
        const double outer_grad = grad_[b] - grad_[a], outer_curv = curv_a + beside_.curv(b) - 2.0 * shared;
        const double det = curv_a * outer_curv - with_a * with_a;
        const double level = -(grad_[a] * outer_curv - outer_grad * with_a) / det;
        const double height = -(outer_grad * curv_a - grad_[a] * with_a) / det;
        const double between = raw_curv(move.also) - raw_curv(move.add);
        const double stretched = height * shifts_.step_factor(move.also, std::abs(outer_grad) / between);
        add_column(move.add, level - stretched, step);
        add_column(move.also, stretched, step);
    }

    Objective& objective_;
    const Penalty& penalty_;
    Token token_;               // of the scan
    std::vector<Index> among_;  // the columns it was of; none: all
    Index room_ = 0, age_ = 0, k_;
    Point refitted_;
    std::vector<double> pinned_, free_;  // what dropping a pinned coefficient costs; 0 for what may not move
    std::vector<double> slopes_;         // the support's gradient
    Projection beside_;
    double refit_gain_ = 0.0;
    Leaving leaving_;
    std::vector<double> grad_;    // per column scanned: G*
    std::vector<double> moment_;  // and what Block says, where there are ramps
    GroupShifts shifts_{objective_};
};

}  // namespace sparsegam
