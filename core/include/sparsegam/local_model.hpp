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

#include "kernel_table.hpp"
#include "projection.hpp"
#include "refit.hpp"
#include "tuning.hpp"

namespace sparsegam {

struct Move {
    Index drop = none;  // position in the support
    Index add = none;   // column
    Index also = none;  // a second column, nested around the first
    double gain = 0.0;  // predicted fall of the objective, its lambda0 part included
};

// What a move does to the coefficients: changes of those on the support, the column that leaves, those that enter.
struct Step {
    double intercept = 0.0;
    std::vector<Index> columns;
    std::vector<double> change;
    Index dropped = none;
    std::vector<Index> added;
    std::vector<double> added_coef;
};

// The step taken from any point that still has most of the support it was worked out for.
inline Point apply_step(const Step& step, const Penalty& penalty, const Point& from) {
    Point to;
    to.intercept = from.intercept + step.intercept;
    for (Index s = 0; s < from.size(); ++s) {
        const Index column = from.columns[s];
        if (column == step.dropped) continue;
        const auto slot_of = std::find(step.columns.begin(), step.columns.end(), column);
        const double change = slot_of == step.columns.end() ? 0.0 : step.change[slot_of - step.columns.begin()];
        to.columns.push_back(column);
        to.coef.push_back(penalty.clip(column, from.coef[s] + change));
    }
    to.columns.insert(to.columns.end(), step.added.begin(), step.added.end());
    to.coef.insert(to.coef.end(), step.added_coef.begin(), step.added_coef.end());
    return to;
}

// With w* and M as in local_model.hpp: w*_j / M_jj, 1 / M_jj, and the cost of the drop. Zeros and `cost` as it was given
// for coefficients that may not move.
struct DropCosts {
    std::vector<double> shift, inverse, cost;
    std::vector<float> shift_float, inverse_float;  // for the gains of swaps, in octets

    DropCosts() = default;
    explicit DropCosts(std::vector<double> costs)
        : shift(costs.size()),
          inverse(costs.size()),
          cost(std::move(costs)),
          shift_float(in_octets(static_cast<Index>(shift.size()))),
          inverse_float(shift_float.size()) {}

    void set(Index position, double shift_here, double inverse_here, double cost_here) {
        shift[position] = shift_here;
        inverse[position] = inverse_here;
        cost[position] = cost_here;
        shift_float[position] = static_cast<float>(shift_here);
        inverse_float[position] = static_cast<float>(inverse_here);
    }
};

// A diverged coefficient (a pure group, no ridge) leaves so little curvature that dropping it looks free; the curvature on
// the way back grows like exp(R |w|), and so must the cost.
inline double divergence_factor(double divergence) {
    return divergence > tuning::large_score ? std::exp(divergence - tuning::large_score) : 1.0;
}

// Of columns known by their place: how pure their groups are, |gradient| / curvature, which is near 1 where nearly all rows
// have one label; and what the loss says of the best shift of such a group.
class GroupShifts {
  public:
    explicit GroupShifts(const Objective& objective) : objective_(objective) {}

    // The curvature of all rows, and of the group of each column, ridge included.
    double total() const { return total_; }
    double curv(Index slot) const { return curv_[slot]; }
    void set_total(double curv) { total_ = curv; }
    void set(Index slot, double curv) { curv_[slot] = curv; }
    void add(double curv) { curv_.push_back(curv); }

    // Beside an intercept it is one whether a column holds for a group or for all others: the smaller says more.
    double purity(Index slot, Index column, double grad) const {
        const double group = curv_[slot], others = total_ - group + 2.0 * objective_.ridge(column);
        const bool smaller_others = objective_.penalty().free_intercept && others > 0.0 && others < group;
        return std::abs(grad) / (smaller_others ? others : group);
    }

    // How many times the quadratic promise a shift gains, as far as the loss can tell, and at most; how many times the
    // Newton step the best shift is.
    double gain_factor(Index column, double purity) const {
        return is_group(column) ? loss().gain_factor(purity) : 1.0;
    }
    double max_gain_factor(Index column, double purity) const {
        return is_group(column) ? loss().max_gain_factor(purity) : 1.0;
    }
    double step_factor(Index column, double purity) const {
        return is_group(column) ? loss().step_factor(purity) : 1.0;
    }

  private:
    const LossTraits& loss() const { return objective_.loss(); }
    bool is_group(Index column) const { return objective_.columns().zero_one(column); }

    const Objective& objective_;
    double total_ = 0.0;
    std::vector<double> curv_;
};

class LocalModel final : ScanVisitor {
  public:
    // A scan of the columns `among` (none: all); `room` is how many may enter before a new one is due.
    LocalModel(Objective& objective, const Point& point, std::span<const Index> selected, Index capacity)
        : objective_(objective),
          penalty_(objective.penalty()),
          selected_(selected.begin(), selected.end()),
          capacity_(capacity),
          k_(point.size()),
          refitted_(point) {
        token_ = objective.scan(point, selected, *this);
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
    LocalModel restricted_to(std::span<const Index> columns, Index capacity) const {
        LocalModel out(*this, projection_.restricted_to(columns, capacity));
        out.selected_.assign(columns.begin(), columns.end());
        out.shifts_.set_total(shifts_.total());
        for (Index c : columns) {
            out.grad_.push_back(grad_[slot_of(c)]);
            out.shifts_.add(shifts_.curv(slot_of(c)));
            if (!moment_.empty()) out.moment_.push_back(moment_[slot_of(c)]);
        }
        return out;
    }

    // Goes over to another point, holding the curvature of the scan; the point's columns are put into the model's order.
    // False where it cannot: then it is spent.
    bool move_to(Point& point) {
        std::vector<Index> entered;
        for (Index c : point.columns)
            if (!refitted_.has(c)) entered.push_back(c);
        if (!includes_all(entered) || has_bounds(point)) return false;
        for (Index s = k_ - 1; s >= 0; --s)
            if (!point.has(refitted_.columns[s])) remove_from_support(s);
        if (k_ + static_cast<Index>(entered.size()) >= projection_.stride()) return false;
        point = in_order(point, entered);
        std::vector<std::vector<double>> cross(entered.size(), std::vector<double>(columns().size()));
        const double total = objective_.rescan(*token_, point, entered, selected_,
                                               [&](const Block& block) { take_rescan(block, cross); });
        for (std::size_t e = 0; e < entered.size(); ++e)
            if (!add_to_support(entered[e], std::move(cross[e]))) return false;
        refitted_ = point;
        if (multiplicative()) shifts_.set_total(point.loss);
        refit_support(slopes_at(total));
        project_slopes();
        ++age_;
        return true;
    }

    // To how many points it has followed the search since the scan; always new where curvature never changes.
    Index n_moves() const { return age_; }
    Index age() const { return objective_.loss().constant_curvature ? 0 : age_; }

    // What re-optimising the support alone is predicted to gain, and where it leads.
    double refit_gain() const { return refit_gain_; }
    const Point& refitted() const { return refitted_; }
    double drop_cost(Index position) const { return drops_.cost[position]; }
    bool has_diverged(Index position) const {
        return divergence(refitted_.columns[position], refitted_.coef[position]) > tuning::large_score;
    }

    std::span<const Index> columns() const { return projection_.columns(); }  // those that were scanned
    bool includes(Index column) const { return slot_of(column) != none; }

    double add_gain(Index c) const {
        const Index i = slot_of(c);
        const double push = std::max(std::abs(grad_[i]) - objective_.lasso(c), 0.0);
        if (projection_.curv(i) <= min_curv(i) || !may_move(c, -grad_[i])) return -infinity;
        return 0.5 * push * push / projection_.curv(i) * shifts_.gain_factor(c, purity(c));
    }

    // The same as an optimist has it: on nearly pure groups the quadratic model may promise much too little.
    double max_add_gain(Index c) const { return add_gain(c) * shifts_.max_gain_factor(c, purity(c)); }

    // Gains of swapping each position, at its cost, for column c; returns the largest. In octets, with infinite costs at
    // the end.
    float swap_gains(Index c, const float* costs, float* gains) const noexcept {
        const Index i = slot_of(c);
        return kernels().swap_gains(
            {k_, projection_.q(i) + 1, drops_.shift_float.data(), drops_.inverse_float.data(), costs,
             static_cast<float>(grad_[i]), static_cast<float>(projection_.curv(i)), static_cast<float>(min_curv(i)),
             static_cast<float>(objective_.lasso(c)), penalty_.highest(c) > 0, penalty_.lowest(c) < 0},
            gains);
    }

    // What a pair of columns needs to know of each.
    struct PairStats {
        float grad, curv, raw;  // raw: the curvature without ridge and support
        bool usable;
        const float* q;
    };
    PairStats pair_stats(Index c) const {
        const Index i = slot_of(c);
        const bool usable = penalty_.allowed[c] && !penalty_.bounded(c) && projection_.curv(i) > min_curv(i);
        return {static_cast<float>(grad_[i]), static_cast<float>(projection_.curv(i)), static_cast<float>(raw_curv(c)),
                usable, projection_.q(i)};
    }
    const Symmetric& support_curvature() const { return projection_.curvature(); }

    // x_a'(h x_b) of two columns of one feature, the inner one first or a step before a ramp. Below its own knot, a ramp is
    // another one plus a constant.
    double cross_curvature(Index a, Index b) const {
        const ColumnInfo& columns = objective_.columns();
        if (columns.kind[b] != ColumnKind::ramp) return raw_curv(a);
        if (columns.kind[a] == ColumnKind::ramp)
            return raw_curv(a) + (columns.knot[a] - columns.knot[b]) * moment_[slot_of(a)];
        return columns.knot[a] <= columns.knot[b] ? moment_[slot_of(a)] - columns.knot[b] * raw_curv(a)
                                                  : moment_[slot_of(b)];
    }
    bool multiplicative() const { return objective_.loss().multiplicative; }

    // What a move does to the coefficients, as the model has it.
    Step step_of(const Move& move) const {
        Step step;
        step.columns = refitted_.columns;
        step.change.assign(k_, 0.0);
        if (move.drop != none) apply_drop(move.drop, step);
        if (move.also != none)
            apply_nested_pair(move, step);
        else if (move.add != none)
            apply_add(move, step);
        return step;
    }

  private:
    LocalModel(const LocalModel& other, Projection projection)
        : objective_(other.objective_),
          penalty_(other.penalty_),
          token_(other.token_),
          age_(other.age_),
          k_(other.k_),
          refitted_(other.refitted_),
          pinned_(other.pinned_),
          free_(other.free_),
          slopes_(other.slopes_),
          projection_(std::move(projection)),
          refit_gain_(other.refit_gain_),
          drops_(other.drops_) {}

    Index slot_of(Index column) const { return projection_.slot(column); }

    // Less curvature than this beside the support, and a column has nothing of its own to say. Measured against what it
    // keeps beside the intercept alone: a column that holds for nearly all rows has little even there.
    double min_curv(Index i) const {
        return std::max(tuning::collinear * projection_.intercept_curv(i), tuning::rounding * projection_.diagonal(i));
    }

    double purity(Index c) const { return shifts_.purity(slot_of(c), c, grad_[slot_of(c)]); }

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
            fix_coordinate(gram, s + 1);
        }
    }

    void visit_gram(Gram gram) override {
        objective_.add_penalties(refitted_, gram);
        take_support(std::move(gram));
    }

    void take_support(Gram gram) {
        pin(gram);
        shifts_.set_total(gram.curv(0, 0));
        projection_ = Projection(std::move(gram.curv), objective_.n_columns(), capacity_, n_scanned());
        grad_.reserve(n_scanned());
        slopes_ = std::move(gram.grad);
        for (Index i = 0; i <= k_; ++i) slopes_[i] *= projection_.scale(i);
        free_.assign(k_ + 1, 1.0);
        free_[0] = penalty_.free_intercept;
        for (Index s = 0; s < k_; ++s) free_[s + 1] = pinned_[s] == infinity;
    }

    Index n_scanned() const {
        return selected_.empty() ? objective_.n_columns() : static_cast<Index>(selected_.size());
    }

    void visit_block(const Block& block) override {
        std::vector<double> diagonal;
        for (std::size_t i = 0; i < block.columns.size(); ++i) {
            diagonal.push_back(block.curv[i] + objective_.ridge(block.columns[i]));
            grad_.push_back(block.grad[i]);
            shifts_.add(diagonal.back());
            if (block.moment.data) moment_.push_back(block.moment[i]);
        }
        projection_.add(block, diagonal, free_);
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

    bool includes_all(std::span<const Index> entered) const {
        return std::all_of(entered.begin(), entered.end(), [&](Index c) { return includes(c); }) &&
               std::all_of(refitted_.columns.begin(), refitted_.columns.end(), [&](Index c) { return includes(c); });
    }

    // Which coefficients are pinned can change from point to point, and so would H.
    bool has_bounds(const Point& point) const {
        const auto bounded = [&](Index c) { return penalty_.bounded(c); };
        return std::any_of(point.columns.begin(), point.columns.end(), bounded) ||
               std::any_of(refitted_.columns.begin(), refitted_.columns.end(), bounded);
    }

    void remove_from_support(Index s) {
        projection_.leave(s + 1);
        refitted_.columns.erase(refitted_.columns.begin() + s);
        pinned_.pop_back();
        free_.pop_back();
        --k_;
    }

    bool add_to_support(Index column, std::vector<double> cross) {
        const Index i = slot_of(column);
        if (!projection_.has_capacity() || !(projection_.curv(i) > 1e-6 * projection_.intercept_curv(i))) return false;
        projection_.join(i, std::move(cross));
        refitted_.columns.push_back(column);
        pinned_.push_back(infinity);
        free_.push_back(1.0);
        ++k_;
        return true;
    }

    void take_rescan(const Block& block, std::vector<std::vector<double>>& cross) {
        for (std::size_t b = 0; b < block.columns.size(); ++b) {
            const Index i = slot_of(block.columns[b]);
            grad_[i] = block.grad[b];
            if (block.curv.data) shifts_.set(i, block.curv[b] + objective_.ridge(block.columns[b]));
            for (std::size_t e = 0; e < cross.size(); ++e) cross[e][i] = block.cross[b * block.cross_stride + e];
        }
    }

    std::vector<double> slopes_at(double total) const {
        Gram gram{Symmetric(k_ + 1), {total}};
        for (Index c : refitted_.columns) gram.grad.push_back(grad_[slot_of(c)]);
        objective_.add_penalties(refitted_, gram);
        for (Index i = 0; i <= k_; ++i) gram.grad[i] *= projection_.scale(i);
        return gram.grad;
    }

    // --- either way

    void refit_support(std::vector<double> slopes) {
        slopes_ = std::move(slopes);
        const auto solved = projection_.inverse().times(slopes_);
        refitted_.intercept -= solved[0] * projection_.scale(0);
        for (Index s = 0; s < k_; ++s)
            refitted_.coef[s] =
                penalty_.clip(refitted_.columns[s], refitted_.coef[s] - solved[s + 1] * projection_.scale(s + 1));
        refit_gain_ = 0.0;
        for (Index i = 0; i <= k_; ++i) refit_gain_ += 0.5 * slopes_[i] * solved[i];
        drops_ = DropCosts(pinned_);
        for (Index s = 0; s < k_; ++s) {
            if (pinned_[s] < infinity) continue;
            const double m = projection_.inverse()(s + 1, s + 1), coef = refitted_.coef[s],
                         w = coef / projection_.scale(s + 1);
            drops_.set(s, w / m, 1.0 / m, 0.5 * w * w / m * divergence_factor(divergence(refitted_.columns[s], coef)));
        }
    }

    double divergence(Index column, double coef) const {
        return objective_.loss().curvature_decay() * objective_.columns().score_scale(column) * std::abs(coef);
    }

    // G becomes G*.
    void project_slopes() {
        const auto shared = projection_.dots(slopes_);
        for (std::size_t i = 0; i < grad_.size(); ++i) grad_[i] -= shared[i];
    }

    double raw_curv(Index c) const { return projection_.diagonal(slot_of(c)) - objective_.ridge(c); }

    // --- what moves do to the coefficients

    void add_column(Index column, double coef, Step& step) const {
        const float* q = projection_.q(slot_of(column));
        step.added.push_back(column);
        step.added_coef.push_back(coef);
        step.intercept -= q[0] * coef * projection_.scale(0);
        for (Index s = 0; s < k_; ++s) step.change[s] -= q[s + 1] * coef * projection_.scale(s + 1);
    }

    void apply_drop(Index position, Step& step) const {
        step.dropped = refitted_.columns[position];
        shift_support(position, -drops_.shift[position], step);
    }

    void shift_support(Index position, double length, Step& step) const {
        const Symmetric& inverse = projection_.inverse();
        step.intercept += inverse(0, position + 1) * length * projection_.scale(0);
        for (Index s = 0; s < k_; ++s)
            step.change[s] += inverse(s + 1, position + 1) * length * projection_.scale(s + 1);
    }

    // One column enters; where another leaves, that one's place in the adjustment is given back.
    void apply_add(const Move& move, Step& step) const {
        const Index i = slot_of(move.add);
        double grad = grad_[i], curv = projection_.curv(i), back = 0.0;
        if (move.drop != none) {
            const double mine = projection_.q(i)[move.drop + 1];
            grad -= mine * drops_.shift[move.drop];
            curv += mine * mine * drops_.inverse[move.drop];
            back = mine * drops_.inverse[move.drop];
        }
        const double push = std::max(std::abs(grad) - objective_.lasso(move.add), 0.0);
        const double newton = -std::copysign(push, grad) / curv;
        const double max_coef = objective_.max_coef(move.add);
        const double step_to =
            std::clamp(newton * shifts_.step_factor(move.add, shifts_.purity(i, move.add, grad)), -max_coef, max_coef);
        const double coef = penalty_.clip(move.add, step_to);
        add_column(move.add, coef, step);
        if (move.drop != none) shift_support(move.drop, back * coef, step);
    }

    // Two nested columns enter: the level of the inner one, and the height of what lies between them.
    void apply_nested_pair(const Move& move, Step& step) const {
        const Index a = slot_of(move.add), b = slot_of(move.also), size = k_ + 1;
        const float *q_a = projection_.q(a), *q_b = projection_.q(b);
        const double curv_a = projection_.curv(a);
        const auto cross = projection_.curvature().times(std::vector<double>(q_a, q_a + size));
        double adjusted = 0.0;
        for (Index i = 0; i < size; ++i) adjusted += cross[i] * q_b[i];
        const double shared = cross_curvature(move.add, move.also) - adjusted, with_a = shared - curv_a;
        const double outer_grad = grad_[b] - grad_[a], outer_curv = curv_a + projection_.curv(b) - 2.0 * shared;
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
    Token token_;                  // of the scan
    std::vector<Index> selected_;  // the columns it was of; none: all
    Index capacity_ = 0, age_ = 0, k_;
    Point refitted_;
    std::vector<double> pinned_, free_;  // what dropping a pinned coefficient costs; 0 for what may not move
    std::vector<double> slopes_;         // the support's gradient
    Projection projection_;
    double refit_gain_ = 0.0;
    DropCosts drops_;
    std::vector<double> grad_;    // per column scanned: G*
    std::vector<double> moment_;  // and what Block says, where there are ramps
    GroupShifts shifts_{objective_};
};

}  // namespace sparsegam
