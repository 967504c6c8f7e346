// sparsegam/exchange.hpp: improves a model by additions, drops and swaps, each verified on the rows before it is made.
//
// In each iteration, a local model of the current point lists the moves with the largest predicted gains. All trials of
// an iteration are evaluated in one pass: the first few moves individually, and the best move together with more and
// more of the others.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "certificate.hpp"
#include "model_cache.hpp"
#include "move_list.hpp"
#include "types.hpp"

namespace sparsegam {

class Exchange {
  public:
    Exchange(Objective& objective, Index max_terms, const Deadline& deadline)
        : objective_(objective),
          penalty_(objective.penalty()),
          max_terms_(max_terms),
          deadline_(deadline),
          models_(objective, max_terms) {
        current_.columns = penalty_.always;
        current_.coef.assign(penalty_.always.size(), 0.0);
        polish(current_);
        min_improvement_ = std::max(tuning::min_improvement * current_.value(), 1e-300);
    }

    const Point& current() const { return current_; }
    // The smallest decrease of the objective that counts as an improvement.
    double min_improvement() const { return min_improvement_; }
    bool out_of_time() const { return deadline_.passed(); }

    // Allows full scans to reuse the curvature of an earlier scan (model_cache.hpp).
    void cache_curvature() { models_.cache_curvature(); }

    // Refits a point to machine precision.
    void polish(Point& point) { refit(objective_, point, {.full_precision = true}); }

    // Refits a point with the precision of trials.
    void refit_roughly(Point& point) { refit(objective_, point, trial_refit(2, infinity)); }

    void go_to(const Point& point) {
        set_current(point);
        failed_.clear();
    }

    // Makes moves that lower loss + ridge + lambda0 * terms sufficiently until there is none and a refit would not
    // either. Most local models reuse earlier scans (model_cache.hpp). If rules.require_full_scan, the search ends only
    // after a full scan at the final support.
    void improve(MoveRules rules) {
        rules.min_gain = std::max(min_predicted_gain(), rules.min_gain);
        for (int refits = 0; !deadline_.passed();) {
            if (make_move_or_request_scan(rules)) {
                refits = 0;
                continue;
            }
            if (++refits <= tuning::max_consecutive_refits && refit_if_worthwhile(rules.min_gain)) continue;
            if (rules.add && rules.require_full_scan && (try_optimistic_addition(rules) || try_diverged_drop(rules)))
                continue;
            return;
        }
    }

    // Makes swaps until none helps, among the columns of the shortlist or, if a full scan is required, among all.
    void swap_all(bool require_full_scan, double lambda0, double min_gain = 0.0) {
        const MoveRules rules{
            .lambda0 = lambda0, .min_gain = std::max(min_predicted_gain(), min_gain), .add = false, .drop = false};
        for (int refits = 0; !deadline_.passed();) {
            if (try_moves(move_list().best(rules), rules) || (require_full_scan && request_full_scan())) {
                refits = 0;
                continue;
            }
            if (++refits <= tuning::max_consecutive_refits && refit_if_worthwhile(rules.min_gain)) continue;
            return;
        }
    }

    // Makes the addition with the largest predicted gain, even if it does not pay off. Returns false if no column would
    // help.
    bool grow() {
        const auto moves = move_list().best(additions());
        return !moves.empty() && make(moves.front(), local_model());
    }

    // One step of greedy selection: tries the best few additions and makes the best of them. The first one suffices if
    // predictions are exact, or if later swaps correct wrong choices.
    bool grow_greedily() {
        if (objective_.loss().constant_curvature || objective_.columns().shortlist > 0) return grow();
        const auto moves = move_list().best(additions());
        std::vector<Point> points;
        for (std::size_t m = 0; m < std::min(moves.size(), tuning::greedy_trials); ++m)
            points.push_back(apply_step(local_model().step_of(moves[m]), penalty_, local_model().refitted()));
        Point best;
        for (Point& next : points) {
            refit(objective_, next, trial_refit(8, best.value()));
            if (next.value() < best.value()) best = std::move(next);
        }
        // `grow` falls back on a step of the new column alone.
        if (!(best.value() < current_.value())) return grow();
        go_to(best);
        return true;
    }

    // Adds the best pair of nested columns if it is predicted to bring the objective below a value.
    bool grow_by_two(double below) {
        const auto moves =
            move_list().best_pairs({.min_gain = std::max(current_.value() - below, min_predicted_gain())});
        return !moves.empty() && make(moves.front(), local_model());
    }

    // Returns the best models, as predicted, that have one column more than one of the given models, refitted.
    std::vector<Point> grow_beam(const std::vector<Point>& from, std::size_t most) {
        std::vector<std::pair<double, Point>> found;
        for (const Point& point : from) {
            if (deadline_.passed()) break;
            go_to(point);
            for (const Move& move : move_list().best_additions(most)) {
                const Point next = apply_step(local_model().step_of(move), penalty_, local_model().refitted());
                const auto is_same = [&](const auto& other) { return same_support(other.second, next); };
                if (std::none_of(found.begin(), found.end(), is_same))
                    found.emplace_back(current_.value() - move.gain, next);
            }
        }
        std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<Point> best;
        for (auto& [value, point] : found) {
            if (best.size() == most || deadline_.passed()) break;
            refit_roughly(point);
            best.push_back(std::move(point));
        }
        return best;
    }

    // Makes the drop with the lowest cost.
    bool shrink() {
        if (model_) return shrink(*model_);
        return shrink(LocalModel(objective_, current_, objective_.newton(current_, true)));
    }

    // Checks all swaps of the current point for a certificate. If one of them is an improvement, the search continues
    // from there.
    std::pair<Certificate, bool> sweep(double lambda0) {
        Sweep sweep(objective_, current_, lambda0, min_improvement_, deadline_);
        const auto better = sweep.find_better();
        if (better) go_to(*better);
        return {sweep.certificate(), better.has_value()};
    }

  private:
    double min_predicted_gain() const { return tuning::prediction_margin * min_improvement_; }
    MoveRules additions() const { return {.min_gain = min_predicted_gain(), .drop = false, .swap = false}; }
    RefitOptions trial_refit(int max_steps, double must_beat) const {
        return {
            .tolerance = 0.1 * min_improvement_, .max_steps = max_steps, .must_beat = must_beat, .low_precision = true};
    }

    const LocalModel& local_model() {
        if (!model_) {
            model_ = &models_.at(current_);
            full_scan_done_ |= models_.from_full_scan();
        }
        return *model_;
    }

    MoveList move_list() { return {objective_, local_model(), current_, failed_, max_terms_}; }

    void set_current(Point point) {
        if (point.size() != current_.size()) failed_.clear();
        current_ = std::move(point);
        model_ = nullptr;
        full_scan_done_ = false;
    }

    // Makes the next local model a full scan. Returns false if there was a full scan at this support.
    bool request_full_scan() {
        if (full_scan_done_) return false;
        models_.invalidate();
        model_ = nullptr;
        return true;
    }

    // --- Trials

    // Makes a move, or requests a full scan if there is none to make. Returns false if neither is possible.
    bool make_move_or_request_scan(const MoveRules& rules) {
        if (try_listed_moves(rules)) return true;
        const bool pairs_first = rules.add && current_.size() > tuning::expensive_scan_terms;
        if (pairs_first && try_moves(move_list().best_pairs(rules), rules)) return true;
        if (rules.require_full_scan && request_full_scan()) return true;
        return rules.add && try_moves(move_list().best_pairs(rules), rules);
    }

    // Makes one of the moves with the largest predicted gains. For diverged coefficients, float32 sums do not resolve
    // the remaining curvature, and predictions may be poor; in this case the next moves of the list are tried, too.
    bool try_listed_moves(const MoveRules& rules) {
        Outcome outcome = Outcome::poor_predictions;
        for (int n = 0; n < tuning::max_retries && outcome == Outcome::poor_predictions; ++n)
            outcome = evaluate_moves(move_list().best(rules), rules);
        return outcome == Outcome::improved;
    }

    bool try_moves(const std::vector<Move>& moves, const MoveRules& rules) {
        return evaluate_moves(moves, rules) == Outcome::improved;
    }

    enum class Outcome { improved, failed, poor_predictions };

    // Makes the best of these moves, individually or several together. If none is good enough as predicted, refits
    // those that miss the target by less than their predicted gain. Predictions are poor if the objective after the
    // first move increases by more than its predicted gain.
    Outcome evaluate_moves(const std::vector<Move>& moves, const MoveRules& rules) {
        if (moves.empty()) return Outcome::failed;
        const LocalModel& model = local_model();
        const double must_beat = objective_.penalised(current_, rules.lambda0) - model.refit_gain() - min_improvement_;
        std::vector<Point> points = trial_points(moves, model);
        objective_.evaluate(points);
        objective_.counts().trials += static_cast<Index>(points.size());
        const auto value = [&](const Point& point) { return objective_.penalised(point, rules.lambda0); };
        const auto best = std::min_element(points.begin(), points.end(),
                                           [&](const Point& a, const Point& b) { return value(a) < value(b); });
        if (value(*best) < must_beat) {
            ++objective_.counts().moves;
            set_current(std::move(*best));
            return Outcome::improved;
        }
        const bool poor_predictions = value(points[0]) > objective_.penalised(current_, rules.lambda0) + moves[0].gain;
        for (std::size_t m = 0; m < tried_alone(moves) && !deadline_.passed(); ++m) {
            if (refit_trial(points[m], rules.lambda0, must_beat, moves[m].gain)) return Outcome::improved;
            failed_.record(moves[m], current_);
        }
        return poor_predictions && !deadline_.passed() ? Outcome::poor_predictions : Outcome::failed;
    }

    static std::size_t tried_alone(const std::vector<Move>& moves) {
        return std::min(moves.size(), tuning::moves_tried_alone);
    }

    // The points after each of the first few moves, and after the first move together with more and more of the others.
    std::vector<Point> trial_points(const std::vector<Move>& moves, const LocalModel& model) const {
        std::vector<Step> steps;
        for (const Move& move : moves) steps.push_back(model.step_of(move));
        std::vector<Point> points;
        for (std::size_t m = 0; m < tried_alone(moves); ++m)
            points.push_back(apply_step(steps[m], penalty_, model.refitted()));
        Point together = points[0];
        for (std::size_t m = 1, joined = 1; m < steps.size(); ++m) {
            if (!applies(steps[m], together)) continue;
            together = apply_step(steps[m], penalty_, together);
            if (tuning::is_tried_together(++joined) || m + 1 == steps.size()) points.push_back(together);
        }
        return points;
    }

    // Whether a step can still be taken: the dropped column is in the support, the added columns are not, and the
    // limits hold.
    bool applies(const Step& step, const Point& point) const {
        const Index n_added = static_cast<Index>(step.added.size());
        if (point.size() + n_added - (step.dropped != none) > max_terms_) return false;
        if (step.dropped != none && !point.has(step.dropped)) return false;
        if (std::any_of(step.added.begin(), step.added.end(), [&](Index c) { return point.has(c); })) return false;
        const Limits limits(penalty_, point.columns);
        return n_added > 0 ? limits.allow(step.dropped, step.added[0], n_added) : limits.may_drop(step.dropped);
    }

    // Refits an evaluated point that misses the target by less than the predicted gain, and goes there if it then
    // reaches the target.
    bool refit_trial(Point& point, double lambda0, double must_beat, double predicted_gain) {
        const double terms = lambda0 * penalty_.cost_of(point), missing = point.value() + terms - must_beat;
        if (missing >= 0.0 && missing < predicted_gain) refit(objective_, point, trial_refit(4, must_beat - terms));
        if (!(point.value() + terms < must_beat)) {
            ++objective_.counts().failed;
            return false;
        }
        ++objective_.counts().moves;
        set_current(std::move(point));
        return true;
    }

    // Tries additions with a sufficient upper bound on their gain: for nearly pure groups, the quadratic model may
    // predict too little.
    bool try_optimistic_addition(const MoveRules& rules) {
        if (current_.size() >= max_terms_) return false;
        const LocalModel& model = local_model();
        std::vector<Point> points;
        for (const Move& move : move_list().optimistic_additions(rules)) {
            points.push_back(apply_step(model.step_of(move), penalty_, model.refitted()));
            // All trials are recorded as failed; the record is cleared when a move is made.
            failed_.record(move, current_);
        }
        objective_.evaluate(points);
        objective_.counts().trials += static_cast<Index>(points.size());
        const double must_beat = objective_.penalised(current_, rules.lambda0) - rules.min_gain;
        return std::any_of(points.begin(), points.end(), [&](Point& point) {
            return !deadline_.passed() && refit_trial(point, rules.lambda0, must_beat, infinity);
        });
    }

    // Tries to drop diverged coefficients. The cost of this can only be computed on the rows, since no curvature is
    // left. The other coefficients hardly depend on a diverged one: trials keep them, and add the dropped coefficient
    // to the intercept in one of two trials.
    bool try_diverged_drop(const MoveRules& rules) {
        std::vector<Point> points;
        for (const Move& move : move_list().diverged_drops()) {
            points.push_back(current_.without(move.drop));
            points.push_back(points.back());
            points.back().intercept += current_.coef[move.drop];
        }
        objective_.evaluate(points);
        objective_.counts().trials += static_cast<Index>(points.size());
        std::stable_sort(points.begin(), points.end(),
                         [](const Point& a, const Point& b) { return a.value() < b.value(); });
        points.resize(std::min(points.size(), tuning::max_optimistic_trials));
        const double must_beat = objective_.penalised(current_, rules.lambda0) - rules.min_gain;
        return std::any_of(points.begin(), points.end(), [&](Point& point) {
            return !deadline_.passed() && refit_trial(point, rules.lambda0, must_beat, rules.lambda0);
        });
    }

    // Refits the support if its predicted gain is sufficient.
    bool refit_if_worthwhile(double min_gain) {
        if (local_model().refit_gain() < min_gain) return false;
        const bool seen = full_scan_done_;
        Point refitted = local_model().refitted();
        objective_.evaluate(refitted);
        ++objective_.counts().trials;
        if (!(refitted.value() < current_.value()))
            // The full step was too long: try shorter ones from the current point.
            refitted = current_;
        // The improvement must be sufficient. Otherwise, refits would continue forever when predictions fail, as for a
        // diverged coefficient.
        const bool moved = refit_trial(refitted, 0.0, current_.value() - min_improvement_, infinity);
        // The support has not changed.
        full_scan_done_ = seen;
        return moved;
    }

    // --- Moves that are made in any case

    bool shrink(const LocalModel& model) {
        const Move move = MoveList(objective_, model, current_, failed_, max_terms_).cheapest_drop();
        return move.drop != none && make(move, model);
    }

    bool make(const Move& move, const LocalModel& model) {
        ++objective_.counts().trials;
        Point next = start_point(model.step_of(move), model);
        const bool improved = refit_trial(next, 0.0, infinity, infinity);
        failed_.clear();
        return improved;
    }

    // Returns the predicted point after a step. If it is worse than the point with all other coefficients unchanged (a
    // diverged coefficient has no curvature to predict from), returns the latter after a refit.
    Point start_point(const Step& step, const LocalModel& model) {
        Step only_support;
        only_support.dropped = step.dropped;
        only_support.added = step.added;
        only_support.added_coef.assign(step.added.size(), 0.0);
        std::vector<Point> points{apply_step(step, penalty_, model.refitted()),
                                  apply_step(only_support, penalty_, current_)};
        objective_.evaluate(points);
        if (step.dropped == none && points[0].value() < current_.value()) return points[0];
        if (points[0].value() < points[1].value()) return points[0];
        refit(objective_, points[1], {.tolerance = 0.1 * min_improvement_});
        return points[1];
    }

    Objective& objective_;
    const Penalty& penalty_;
    Index max_terms_;
    Deadline deadline_;
    Point current_;
    double min_improvement_ = 0.0;
    ModelCache models_;
    // The local model of the current point, or null if it was not needed yet.
    const LocalModel* model_ = nullptr;
    // Whether there was a full scan at the current support.
    bool full_scan_done_ = false;
    FailedMoves failed_;
};

}  // namespace sparsegam
