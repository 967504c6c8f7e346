// sparsegam/exchange.hpp: adds, drops and swaps, the best-looking first, each verified on the rows before it is made.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "best.hpp"
#include "certificate.hpp"
#include "deadline.hpp"
#include "scout.hpp"

namespace sparsegam {

// Which moves a search step may make.
struct Allow {
    bool add, drop, swap;
};

class Exchange {
  public:
    Exchange(Rows& rows, const Penalty& penalty, Index max_terms, const Deadline& deadline)
        : rows_(rows), penalty_(penalty), max_terms_(max_terms), deadline_(deadline), scout_(rows, penalty, max_terms) {
        current_.columns = penalty.always;
        current_.coef.assign(penalty.always.size(), 0.0);
        polish(current_);
        at_current_ = true;
        tie_ = std::max(2e-8 * current_.value(), 1e-300);
        least_ = 10.0 * tie_;
        neighbourhood_ = std::min(Index{8}, rows.n_columns() / 128);
    }

    const Point& current() const { return current_; }
    const Counts& counts() const { return counts_; }
    double tie() const { return tie_; }  // the smallest improvement that counts
    bool out_of_time() const { return deadline_.passed(); }

    // Refits a point to the last digit.
    void polish(Point& point) {
        at_current_ = false;
        evaluate(rows_, penalty_, point);
        refit(rows_, penalty_, point, {1e-9 * point.value(), 40, infinity, 0, false, true}, counts_);
    }

    void go_to(const Point& point) {
        current_ = point;
        at_current_ = false;
        model_ = nullptr;
        seen_ = false;
        failures_.clear();
    }

    // Makes moves that lower loss + ridge + lambda0 * terms by more than `least` until none does and no refit
    // is worth as much. Most looks are cheap ones (scout.hpp); before it ends, a new scan of all columns has met the
    // support.
    void improve(double lambda0, Allow allow, double least = 0.0) {
        least_ = std::max(10.0 * tie_, least);
        const auto bump = [&] { return allow.add && bump_step(lambda0); };
        const auto on = [&] {
            return step(lambda0, allow) || (scan_is_dear() && bump()) || look_again() || bump() || settle() ||
                   (allow.add && doubtful_add(lambda0));
        };
        while (!deadline_.passed() && on()) {
        }
    }

    // Swaps until none helps, among the columns in focus or, if thorough, among all.
    void swap_all(bool thorough, double lambda0) {
        least_ = 10.0 * tie_;
        while (!deadline_.passed() && (step(lambda0, {false, false, true}) || (thorough && look_again()) || settle())) {
        }
    }

    // The best-looking addition, whatever it is worth. False when no column is left that would help at all.
    bool grow() {
        least_ = 10.0 * tie_;
        const auto moves = best_moves(local_model(), 0.0, {true, false, false});
        return !moves.empty() && make(moves.front(), local_model());
    }

    // A step of greedy selection: the best few are tried, and the best of them is made. Where predictions are exact, or
    // swaps will put right what they got wrong, the first will do.
    bool grow_greedily() {
        if (rows_.loss() == Loss::squared || rows_.can_focus()) return grow();
        const auto moves = best_moves(local_model(), 0.0, {true, false, false});
        Point best;
        for (std::size_t m = 0; m < std::min(moves.size(), tries); ++m) {
            Point next = taken(local_model().step_of(moves[m]), penalty_, local_model().refitted());
            evaluate(rows_, penalty_, next);
            refit(rows_, penalty_, next, {0.1 * tie_, 8, best.value(), 0, true}, counts_);
            if (next.value() < best.value()) best = std::move(next);
        }
        if (!(best.value() < infinity)) return false;
        go_to(best);
        return true;
    }

    // The best-looking pair of nested columns, where it promises to come below a value.
    bool grow_by_two(double below) {
        least_ = 10.0 * tie_;
        const auto moves = best_bumps(0.0, current_.value() - below);
        return !moves.empty() && make(moves.front(), local_model());
    }

    // The cheapest drop.
    bool shrink() {
        if (!at_current_) evaluate(rows_, penalty_, current_);
        at_current_ = true;
        if (!model_) return shrink(LocalModel(rows_, penalty_, current_, rows_.gram(current_.columns, true)));
        return shrink(*model_);
    }

    // The certified sweep at the current point; goes on from the better one that it may find.
    std::pair<Certificate, bool> sweep(double lambda0) {
        Sweep sweep(rows_, penalty_, current_, lambda0, tie_, counts_);
        auto better = sweep.find_better();
        at_current_ = false;
        if (better) go_to(*better);
        return {sweep.certificate(), better.has_value()};
    }

  private:
    static constexpr std::size_t listed = 12;  // moves considered per scan
    static constexpr std::size_t tries = 6;    // of them, those that may fail before the search looks elsewhere
    static constexpr double share = 0.5;       // of its promise that a move must keep beside others
    static constexpr double doubtful = 0.7;    // of its price that a nearly pure column may promise and yet pay
    static constexpr std::size_t doubts = 3;   // such columns tried
    static constexpr Index first_terms = 8;    // models smaller than this try them

    double objective(const Point& point, double lambda0) const {
        return point.value() + lambda0 * penalty_.cost_of(point);
    }

    // Scans beside many terms cost more than looking for pairs.
    bool scan_is_dear() const { return current_.size() > 32; }

    // The next model will be that of a new scan of all columns. False when one has met this support.
    bool look_again() {
        if (seen_) return false;
        scout_.renew();
        model_ = nullptr;
        return true;
    }

    const LocalModel& local_model() {
        if (model_) return *model_;
        if (!at_current_) evaluate(rows_, penalty_, current_);
        at_current_ = true;
        model_ = &scout_.look(current_, counts_);
        seen_ |= scout_.saw_all();
        return *model_;
    }

    bool step(double lambda0, Allow allow) { return make_any(best_moves(local_model(), lambda0, allow), lambda0); }

    // Makes the first of these moves that truly helps, then those that keep most of their promise beside it:
    // a trial costs one evaluation, a scan many times that.
    bool make_any(const std::vector<Move>& moves, double lambda0) {
        const LocalModel& model = local_model();
        const double must_beat = objective(current_, lambda0) - model.refit_gain() - tie_;
        std::size_t made = 0, failed = 0;
        for (const Move& move : moves) {
            if (failed == tries || deadline_.passed()) break;
            const Step step = model.step_of(move);
            const bool helped = made == 0
                                    ? attempt(taken(step, penalty_, model.refitted()), lambda0, must_beat, move.gain)
                                    : applies(step) && attempt_beside(step, lambda0, share * move.gain);
            ++(helped ? made : failed);
            if (made == 0) failures_[key(move)] = move.gain;
        }
        return made > 0;
    }

    // Can the step still be taken: what it drops is there, what it adds is not and keeps within the limits.
    bool applies(const Step& step) const {
        const Limits limits(penalty_, current_.columns);
        if (!step.added.empty() && !limits.allow(step.dropped, step.added[0], static_cast<Index>(step.added.size())))
            return false;
        return (step.dropped == none || has(step.dropped)) &&
               std::none_of(step.added.begin(), step.added.end(), [&](Index c) { return has(c); });
    }

    bool attempt_beside(const Step& step, double lambda0, double least) {
        Point next = taken(step, penalty_, current_);
        if (next.size() > max_terms_) return false;
        ++counts_.trials;
        evaluate(rows_, penalty_, next);
        at_current_ = objective(next, lambda0) < objective(current_, lambda0) - least;
        if (at_current_) {
            ++counts_.moves;
            model_ = nullptr;
            seen_ = false;
            current_ = std::move(next);
        } else {
            ++counts_.failed;
        }
        return at_current_;
    }

    // An addition that promises a little less than it costs: on nearly pure groups the quadratic model promises too little.
    // That matters for the first terms, which may be all that the price allows.
    bool doubtful_add(double lambda0) {
        if (rows_.loss() != Loss::logistic || current_.size() >= std::min(max_terms_, first_terms)) return false;
        const LocalModel& model = local_model();
        const Limits limits(penalty_, current_.columns);
        Best best(doubts);
        for (Index c : model.columns())
            if (penalty_.allowed[c] && model.add_gain(c) > doubtful * lambda0 * penalty_.cost[c] && !has(c) &&
                limits.allow(none, c))
                best.offer(model.add_gain(c) - lambda0 * penalty_.cost[c], c);
        std::vector<Index> columns;
        best.append_to(columns);
        const double must_beat = objective(current_, lambda0) - least_;
        for (Index c : columns)
            if (!deadline_.passed() &&
                attempt(taken(model.step_of({none, c, none, 0.0}), penalty_, model.refitted()), lambda0, must_beat))
                return true;
        return false;
    }

    // Two nested columns at once.
    bool bump_step(double lambda0) {
        return current_.size() + 2 <= max_terms_ && make_any(best_bumps(lambda0, lambda0 + least_), lambda0);
    }

    // The most promising pairs of nested columns that gain at least so much together.
    std::vector<Move> best_bumps(double lambda0, double least) {
        std::vector<Move> moves;
        for (const Nested& range : rows_.nested()) local_model().best_bumps(range, least, moves);
        for (Move& m : moves) m.gain -= lambda0 * (penalty_.cost[m.add] + penalty_.cost[m.also]);
        const Limits limits(penalty_, current_.columns);
        std::erase_if(moves, [&](const Move& m) { return has(m.add) || has(m.also) || !limits.allow(none, m.add, 2); });
        return most_promising(std::move(moves));
    }

    // Re-optimises the support where the last scan says that it is worth a tie.
    bool settle() {
        if (local_model().refit_gain() < least_) return false;
        const double before = current_.value();
        const bool seen = seen_;
        Point refitted = local_model().refitted();
        const bool settled = attempt(std::move(refitted), 0.0, before);
        seen_ = seen;
        return settled;
    }

    bool shrink(const LocalModel& model) {
        Move move;
        for (Index s = 0; s < current_.size(); ++s)
            if (may_drop(s) && (move.drop == none || model.drop_cost(s) < model.drop_cost(move.drop))) move.drop = s;
        return move.drop != none && make(move, model);
    }

    // Makes a move, whatever comes of it.
    bool make(const Move& move, const LocalModel& model) {
        const bool made = attempt(start_of(model.step_of(move), model), 0.0, infinity);
        failures_.clear();
        return made;
    }

    // Where a step leads, as predicted; where that is worse than leaving the other coefficients alone (one that
    // has run off leaves no curvature to go by), a refit from there.
    Point start_of(const Step& step, const LocalModel& model) {
        Point next = taken(step, penalty_, model.refitted());
        evaluate(rows_, penalty_, next);
        if (step.dropped == none && next.value() < current_.value()) return next;
        const std::vector<double> zeros(step.added.size(), 0.0);
        Point plain = taken({0.0, {}, {}, step.dropped, step.added, zeros}, penalty_, current_);
        evaluate(rows_, penalty_, plain);
        if (next.value() < plain.value()) return next;
        refit(rows_, penalty_, plain, {0.1 * tie_}, counts_);
        return plain;
    }

    // Goes to a predicted point if it beats what it must, refitted where it misses that by less than it promised.
    bool attempt(Point next, double lambda0, double must_beat, double promise = infinity) {
        ++counts_.trials;
        at_current_ = false;
        evaluate(rows_, penalty_, next);
        const double terms = lambda0 * penalty_.cost_of(next);
        const double missing = next.value() + terms - must_beat;
        if (missing >= 0.0 && missing < promise)
            refit(rows_, penalty_, next, {0.1 * tie_, 4, must_beat - terms, 0, true}, counts_);
        if (!(next.value() + terms < must_beat)) {
            ++counts_.failed;
            return false;
        }
        ++counts_.moves;
        if (next.size() != current_.size()) failures_.clear();
        current_ = std::move(next);
        at_current_ = true;
        model_ = nullptr;
        seen_ = false;
        return true;
    }

    std::pair<Index, Index> key(const Move& move) const {
        return {move.drop == none ? none : current_.columns[move.drop], move.add};
    }

    bool has(Index column) const { return std::count(current_.columns.begin(), current_.columns.end(), column) > 0; }

    // A move that failed is not tried again until it looks twice as good.
    bool failed_before(const Move& move) const {
        const auto at = failures_.find(key(move));
        return at != failures_.end() && move.gain < 2.0 * at->second;
    }

    std::vector<Move> best_moves(const LocalModel& model, double lambda0, Allow allow) const {
        std::vector<Move> moves;
        if (allow.add && current_.size() >= max_terms_) allow.add = false;
        if (allow.drop) list_drops(model, lambda0, moves);
        if (allow.add || (allow.swap && current_.size() > 0)) list_columns(model, lambda0, allow, moves);
        return most_promising(std::move(moves));
    }

    bool may_drop(Index position) const { return !penalty_.is_always(current_.columns[position]); }

    void list_drops(const LocalModel& model, double lambda0, std::vector<Move>& moves) const {
        for (Index s = 0; s < current_.size(); ++s)
            if (may_drop(s))
                moves.push_back({s, none, none, lambda0 * penalty_.cost[current_.columns[s]] - model.drop_cost(s)});
    }

    void list_columns(const LocalModel& model, double lambda0, Allow allow, std::vector<Move>& moves) const {
        const Index k = current_.size();
        const Limits limits(penalty_, current_.columns);
        std::vector<double> costs(k), gains(k);
        for (Index s = 0; s < k; ++s)
            costs[s] = may_drop(s) ? model.drop_cost(s) - lambda0 * penalty_.cost[current_.columns[s]] : infinity;
        std::vector<char> taken(rows_.n_columns(), 0);
        for (Index c : current_.columns) taken[c] = 1;
        for (Index c : model.columns()) {
            if (taken[c] || !penalty_.allowed[c]) continue;
            const double price = lambda0 * penalty_.cost[c];
            if (const double gain = model.add_gain(c) - price; allow.add && gain > least_ && limits.allow(none, c))
                moves.push_back({none, c, none, gain});
            if (!allow.swap || k == 0) continue;
            model.swap_gains(c, costs.data(), gains.data());
            for (Index s = 0; penalty_.limited() && s < k; ++s)
                if (!limits.allow(current_.columns[s], c)) gains[s] = -infinity;
            const auto best = std::max_element(gains.begin(), gains.end());
            if (*best - price > least_) moves.push_back({best - gains.begin(), c, none, *best - price});
        }
    }

    // The best few that differ: neighbouring thresholds of one feature for the same term are one idea.
    std::vector<Move> most_promising(std::vector<Move> moves) const {
        std::erase_if(moves, [&](const Move& m) { return !(m.gain > least_) || failed_before(m); });
        const auto shown = std::min<std::size_t>(moves.size(), 20 * listed);
        std::partial_sort(moves.begin(), moves.begin() + shown, moves.end(), Ranked(moves));
        std::vector<Move> chosen;
        for (std::size_t m = 0; m < shown && chosen.size() < listed; ++m)
            if (std::none_of(chosen.begin(), chosen.end(), [&](const Move& c) { return alike(c, moves[m]); }))
                chosen.push_back(moves[m]);
        return chosen;
    }

    // The larger gain first. Gains that differ by less than scans are accurate to are equal: then the earlier
    // column wins, however the rows were summed.
    class Ranked {
      public:
        explicit Ranked(const std::vector<Move>& moves) {
            for (const Move& m : moves) unit_ = std::max(unit_, 1e-5 * m.gain);
        }
        bool operator()(const Move& a, const Move& b) const { return rank(a) < rank(b); }

      private:
        std::tuple<double, Index, Index, Index> rank(const Move& m) const {
            return {-std::round(m.gain / unit_), m.add, m.drop, m.also};
        }
        double unit_ = 1e-300;
    };

    bool alike(const Move& a, const Move& b) const {
        return a.drop == b.drop && a.add != none && b.add != none && penalty_.group[a.add] == penalty_.group[b.add] &&
               std::abs(a.add - b.add) < neighbourhood_;
    }

    Rows& rows_;
    const Penalty& penalty_;
    Index max_terms_;
    const Deadline& deadline_;
    Point current_;
    bool at_current_ = true;  // are the rows evaluated at the current point
    double tie_ = 0.0, least_ = 0.0;
    Index neighbourhood_ = 0;  // columns of one feature this close are one idea; where columns are few, none are
    Scout scout_;
    const LocalModel* model_ = nullptr;  // of the current point, once it was looked at
    bool seen_ = false;                  // has a new scan of all columns met the current support
    std::map<std::pair<Index, Index>, double> failures_;
    Counts counts_;
};

}  // namespace sparsegam
