// sparsegam/local_model.hpp: the quadratic model of one scan: predicted gains of every addition, drop and swap, and the
// coefficients after each.
//
// At a point with support A = [1, X_S], theta = (b, w) and gradient r = A'g + ridge, let H, M, Q_c and V_c be as in
// projection.hpp. The quadratic model has its minimum on the support at theta* = theta - M r, where a column c outside
// the support has the gradient G_c* = G_c - Q_c'r. Then
//     add c        gain  G*^2 / 2V
//     drop j       cost  w*_j^2 / 2M_jj
//     swap j -> c  gain  G'^2 / 2V' - cost of dropping j,  G' = G* - Q_cj w*_j / M_jj,  V' = V + Q_cj^2 / M_jj
//
// To derive the swap: fixing w_j at zero moves the support by -w*_j / M_jj times the j-th column of M, which changes
// the gradient of c by -Q_cj w*_j / M_jj, and frees the curvature Q_cj^2 / M_jj that c shared with column j. These
// formulas are exact for the squared loss and predictions for the others; exchange.hpp verifies moves on the rows.
// Since predictions need not be exact, the curvature may be that of an earlier point: a model can be moved to nearby
// points at the cost of computing their gradients.
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
    // Position of the dropped term in the support.
    Index drop = none;
    // The column that enters.
    Index add = none;
    // A second column that enters, nested around the first.
    Index also = none;
    // Predicted decrease of the objective, including lambda0.
    double gain = 0.0;
};

// The effect of a move on the coefficients: changes of those in the support, the column that leaves and the columns
// that enter.
struct Step {
    double intercept = 0.0;
    std::vector<Index> columns;
    std::vector<double> change;
    Index dropped = none;
    std::vector<Index> added;
    std::vector<double> added_coef;
};

// Applies a step to a point, whose support may differ slightly from that for which the step was computed.
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

// For each term of the support, with w* and M as above: w*_j / M_jj, 1 / M_jj and the cost of dropping it. Coefficients
// that are fixed at a bound have zeros and the given cost.
struct DropCosts {
    std::vector<double> shift, inverse, cost;
    // Copies in float32 for the kernel of swap gains, padded to a multiple of eight.
    std::vector<float> shift_float, inverse_float;

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

// The factor by which the cost of dropping a coefficient is multiplied. A diverged coefficient (pure group, no ridge)
// has so little curvature left that dropping it seems to cost nothing. Towards zero the curvature grows like exp(R
// |w|), and the cost must grow likewise.
inline double divergence_factor(double divergence) {
    return divergence > tuning::large_score ? std::exp(divergence - tuning::large_score) : 1.0;
}

// Corrections of the quadratic model for 0/1 columns, each of which shifts a group of rows. They depend on the loss and
// on the purity |gradient| / curvature of the group, which is close to 1 if nearly all rows have the same label.
// Columns are identified by their slots in the projection.
class GroupShifts {
  public:
    explicit GroupShifts(const Objective& objective) : objective_(objective) {}

    // The curvature of all rows, and of the group of each column, ridge included.
    double total() const { return total_; }
    double curv(Index slot) const { return curv_[slot]; }
    void set_total(double curv) { total_ = curv; }
    void set(Index slot, double curv) { curv_[slot] = curv; }
    void add(double curv) { curv_.push_back(curv); }

    // With an intercept, a column and its complement are equivalent; the purity is that of the smaller group.
    double purity(Index slot, Index column, double grad) const {
        const double group = curv_[slot], others = total_ - group + 2.0 * objective_.ridge(column);
        const bool smaller_others = objective_.penalty().free_intercept && others > 0.0 && others < group;
        return std::abs(grad) / (smaller_others ? others : group);
    }

    // Gain of a shift relative to the quadratic model: an estimate, and an upper bound; and the best step relative to
    // the Newton step.
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
    // Scans the selected columns (all if empty). `capacity` is the number of columns that can enter the support before
    // the next scan is needed.
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

    // A model of the support alone, penalties included, which is sufficient for drops.
    LocalModel(Objective& objective, const Point& point, Gram gram)
        : objective_(objective), penalty_(objective.penalty()), k_(point.size()), refitted_(point) {
        take_support(std::move(gram));
        refit_support(slopes_);
    }

    // Returns a model of some of the columns only, with another capacity.
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

    // Moves the model to another point without changing the curvature of the scan, and reorders the columns of the
    // point to match the model. If it returns false, the model cannot be used any more.
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

    // The number of points that the model was moved to since its scan. The age stays zero for losses of constant
    // curvature, for which no model becomes outdated.
    Index n_moves() const { return age_; }
    Index age() const { return objective_.loss().constant_curvature ? 0 : age_; }

    // The predicted gain of re-optimising the support, and its result.
    double refit_gain() const { return refit_gain_; }
    const Point& refitted() const { return refitted_; }
    double drop_cost(Index position) const { return drops_.cost[position]; }
    bool has_diverged(Index position) const {
        return divergence(refitted_.columns[position], refitted_.coef[position]) > tuning::large_score;
    }

    // The columns that were scanned.
    std::span<const Index> columns() const { return projection_.columns(); }
    bool includes(Index column) const { return slot_of(column) != none; }

    double add_gain(Index c) const {
        const Index i = slot_of(c);
        const double push = std::max(std::abs(grad_[i]) - objective_.lasso(c), 0.0);
        if (projection_.curv(i) <= min_curv(i) || !may_move(c, -grad_[i])) return -infinity;
        return 0.5 * push * push / projection_.curv(i) * shifts_.gain_factor(c, purity(c));
    }

    // An upper bound on the gain: for nearly pure groups, the quadratic model may predict much too little.
    double max_add_gain(Index c) const { return add_gain(c) * shifts_.max_gain_factor(c, purity(c)); }

    // Computes the gains of replacing each term by column c, given the costs of dropping them, and returns the largest.
    // Arrays are padded to a multiple of eight, costs with infinity.
    float swap_gains(Index c, const float* costs, float* gains) const noexcept {
        const Index i = slot_of(c);
        return kernels().swap_gains(
            {k_, projection_.q(i) + 1, drops_.shift_float.data(), drops_.inverse_float.data(), costs,
             static_cast<float>(grad_[i]), static_cast<float>(projection_.curv(i)), static_cast<float>(min_curv(i)),
             static_cast<float>(objective_.lasso(c)), penalty_.highest(c) > 0, penalty_.lowest(c) < 0},
            gains);
    }

    // The numbers of one column that are needed to score pairs.
    struct PairStats {
        // `raw` is the curvature without ridge and before projection on the support.
        float grad, curv, raw;
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

    // Returns x_a'(h x_b) for two columns of one feature, the inner one first, or a step before a ramp. Below its own
    // knot, a ramp is another ramp of the feature plus a constant.
    double cross_curvature(Index a, Index b) const {
        const ColumnInfo& columns = objective_.columns();
        if (columns.kind[b] != ColumnKind::ramp) return raw_curv(a);
        if (columns.kind[a] == ColumnKind::ramp)
            return raw_curv(a) + (columns.knot[a] - columns.knot[b]) * moment_[slot_of(a)];
        return columns.knot[a] <= columns.knot[b] ? moment_[slot_of(a)] - columns.knot[b] * raw_curv(a)
                                                  : moment_[slot_of(b)];
    }
    bool multiplicative() const { return objective_.loss().multiplicative; }

    // Returns the predicted effect of a move on the coefficients.
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

    // A column with less curvature than this after projection on the support is collinear with it. The limit is
    // relative to the curvature after projection on the intercept alone, since a column that is 1 for nearly all rows
    // has little even then.
    double min_curv(Index i) const {
        return std::max(tuning::collinear * projection_.intercept_curv(i), tuning::rounding * projection_.diagonal(i));
    }

    double purity(Index c) const { return shifts_.purity(slot_of(c), c, grad_[slot_of(c)]); }

    bool may_move(Index c, double direction) const {
        return direction > 0 ? penalty_.highest(c) > 0 : penalty_.lowest(c) < 0;
    }

    // --- Scan

    // Fixes coefficients that are pressed against their bounds. The cost of dropping one of them is that of a step to
    // zero along its own axis.
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

    // --- Moving to other points

    // Returns the point with the remaining columns in the order of the model, followed by those that entered.
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

    // Coefficients at bounds may change from point to point, and H with them, so that a model with bounds cannot be
    // moved.
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

    // --- Both

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

    // Replaces the gradients G by G*.
    void project_slopes() {
        const auto shared = projection_.dots(slopes_);
        for (std::size_t i = 0; i < grad_.size(); ++i) grad_[i] -= shared[i];
    }

    double raw_curv(Index c) const { return projection_.diagonal(slot_of(c)) - objective_.ridge(c); }

    // --- Effects of moves on the coefficients

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

    // A column enters, possibly in exchange for another, whose share of the projection is removed.
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

    // Two nested columns enter. The parameters are the level of the inner column and the height of the step between
    // both.
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
    // Token of the scan.
    Token token_;
    // The scanned columns; empty for all.
    std::vector<Index> selected_;
    Index capacity_ = 0, age_ = 0, k_;
    Point refitted_;
    // Cost of dropping each coefficient that is fixed at a bound, infinity for others; and 1 for coefficients that may
    // move, else 0.
    std::vector<double> pinned_, free_;
    // Gradient of the support.
    std::vector<double> slopes_;
    Projection projection_;
    double refit_gain_ = 0.0;
    DropCosts drops_;
    // G* and moments (see Block) of each scanned column.
    std::vector<double> grad_;
    std::vector<double> moment_;
    GroupShifts shifts_{objective_};
};

}  // namespace sparsegam
