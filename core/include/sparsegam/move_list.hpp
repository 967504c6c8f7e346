// sparsegam/move_list.hpp: lists the moves with the largest predicted gains, except those that failed before.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "limits.hpp"
#include "local_model.hpp"
#include "nested_pairs.hpp"
#include "top_columns.hpp"

namespace sparsegam {

// The kinds of moves that a search may make, its lambda0, and the gain that a move must have.
struct MoveRules {
    double lambda0 = 0.0;
    double min_gain = 0.0;
    bool add = true, drop = true, swap = true;
    // Whether the search may end only after a full scan.
    bool require_full_scan = true;
};

// Moves that failed at this support size, with their predicted gains.
class FailedMoves {
  public:
    void record(const Move& move, const Point& point) { predicted_[key(move, point)] = move.gain; }
    void clear() { predicted_.clear(); }

    // A failed move is tried again only if its predicted gain has doubled.
    bool excludes(const Move& move, const Point& point) const {
        const auto at = predicted_.find(key(move, point));
        return at != predicted_.end() && move.gain < 2.0 * at->second;
    }

  private:
    using Key = std::tuple<Index, Index, Index>;

    static Key key(const Move& move, const Point& point) {
        return {move.drop == none ? none : point.columns[move.drop], move.add, move.also};
    }

    std::map<Key, double> predicted_;
};

// Lists moves from a local model at its point.
class MoveList {
  public:
    MoveList(const Objective& objective, const LocalModel& model, const Point& point, const FailedMoves& failed,
             Index max_terms)
        : objective_(objective),
          penalty_(objective.penalty()),
          model_(model),
          point_(point),
          failed_(failed),
          n_free_(std::max(max_terms - point.size(), Index{0})),
          limits_(penalty_, point.columns) {}

    // Returns the best additions, drops and swaps.
    std::vector<Move> best(const MoveRules& rules) const {
        std::vector<Move> moves;
        if (rules.drop) list_drops(rules, moves);
        if ((rules.add && n_free_ > 0) || (rules.swap && point_.size() > 0)) list_columns(rules, moves);
        return select_best(std::move(moves), rules.min_gain);
    }

    // Returns the best pairs of nested columns.
    std::vector<Move> best_pairs(const MoveRules& rules) const {
        if (n_free_ < 2) return {};
        std::vector<Move> moves;
        const NestedPairs pairs(model_);
        for (const NestedColumns& range : objective_.columns().nested)
            if (range.first < range.last && model_.includes(range.first))
                pairs.append_best_pairs(range, rules.lambda0 + rules.min_gain, moves);
        for (Move& m : moves) m.gain -= rules.lambda0 * (penalty_.cost[m.add] + penalty_.cost[m.also]);
        std::erase_if(moves, [&](const Move& m) {
            return point_.has(m.add) || point_.has(m.also) || !limits_.allow(none, m.add, 2);
        });
        return select_best(std::move(moves), rules.min_gain);
    }

    // Returns the additions with the largest gains, similar ones included, in no particular order.
    std::vector<Move> best_additions(std::size_t most) const {
        TopColumns top(most);
        for (Index c : model_.columns())
            if (penalty_.allowed[c] && !point_.has(c) && limits_.allow(none, c)) top.add(model_.add_gain(c), c);
        std::vector<Index> columns;
        top.append_to(columns);
        std::vector<Move> moves;
        for (Index c : columns)
            if (const double gain = model_.add_gain(c); gain > 0.0) moves.push_back({.add = c, .gain = gain});
        return moves;
    }

    // Returns additions whose predicted gain is insufficient, but whose upper bound on the gain is not, best first.
    std::vector<Move> optimistic_additions(const MoveRules& rules) const {
        const auto enough = [&](Index c) { return rules.lambda0 * penalty_.cost[c] + rules.min_gain; };
        const auto move_of = [&](Index c) { return Move{.add = c, .gain = model_.max_add_gain(c) - enough(c)}; };
        TopColumns top(tuning::max_optimistic_trials);
        for (Index c : model_.columns()) {
            const Move move = move_of(c);
            if (move.gain > 0.0 && !(model_.add_gain(c) > enough(c)) && penalty_.allowed[c] && !point_.has(c) &&
                limits_.allow(none, c) && !failed_.excludes(move, point_))
                top.add(move.gain, c);
        }
        std::vector<Index> columns;
        top.append_to(columns);
        std::vector<Move> moves;
        for (Index c : columns) moves.push_back(move_of(c));
        return moves;
    }

    // Returns drops of coefficients that have diverged.
    std::vector<Move> diverged_drops() const {
        std::vector<Move> moves;
        for (Index s = 0; s < point_.size(); ++s)
            if (may_drop(s) && model_.has_diverged(s)) moves.push_back({.drop = s});
        return moves;
    }

    Move cheapest_drop() const {
        Move move;
        for (Index s = 0; s < point_.size(); ++s)
            if (may_drop(s) && (move.drop == none || model_.drop_cost(s) < model_.drop_cost(move.drop))) move.drop = s;
        return move;
    }

  private:
    bool may_swap(Index position) const { return !penalty_.is_always(point_.columns[position]); }
    bool may_drop(Index position) const { return may_swap(position) && limits_.may_drop(point_.columns[position]); }

    void list_drops(const MoveRules& rules, std::vector<Move>& moves) const {
        for (Index s = 0; s < point_.size(); ++s)
            if (may_drop(s))
                moves.push_back(
                    {.drop = s, .gain = rules.lambda0 * penalty_.cost[point_.columns[s]] - model_.drop_cost(s)});
    }

    // For each column, lists its addition and its best swap.
    void list_columns(const MoveRules& rules, std::vector<Move>& moves) const {
        const Index k = point_.size();
        std::vector<float> costs(in_octets(k), std::numeric_limits<float>::infinity()), gains(costs.size());
        for (Index s = 0; s < k; ++s)
            costs[s] = static_cast<float>(
                may_swap(s) ? model_.drop_cost(s) - rules.lambda0 * penalty_.cost[point_.columns[s]] : infinity);
        std::vector<char> taken(objective_.n_columns(), 0);
        for (Index c : point_.columns) taken[c] = 1;
        for (Index c : model_.columns()) {
            if (taken[c] || !penalty_.allowed[c]) continue;
            const double term_penalty = rules.lambda0 * penalty_.cost[c];
            if (rules.add && n_free_ > 0 && limits_.allow(none, c))
                if (const double gain = model_.add_gain(c) - term_penalty; gain > rules.min_gain)
                    moves.push_back({.add = c, .gain = gain});
            if (!rules.swap || k == 0) continue;
            if (!(model_.swap_gains(c, costs.data(), gains.data()) - term_penalty > rules.min_gain)) continue;
            for (Index s = 0; penalty_.limited() && s < k; ++s)
                if (!limits_.allow(point_.columns[s], c)) gains[s] = -std::numeric_limits<float>::infinity();
            const auto best = std::max_element(gains.begin(), gains.begin() + k);
            if (*best - term_penalty > rules.min_gain)
                moves.push_back({.drop = best - gains.begin(), .add = c, .gain = *best - term_penalty});
        }
    }

    // Returns the best moves that are not similar to each other.
    std::vector<Move> select_best(std::vector<Move> moves, double min_gain) const {
        std::erase_if(moves, [&](const Move& m) { return !(m.gain > min_gain) || failed_.excludes(m, point_); });
        const auto shown = std::min<std::size_t>(moves.size(), 20 * tuning::moves_listed);
        std::partial_sort(moves.begin(), moves.begin() + shown, moves.end(), Ranked(moves));
        std::vector<Move> chosen;
        for (std::size_t m = 0; m < shown && chosen.size() < tuning::moves_listed; ++m)
            if (std::none_of(chosen.begin(), chosen.end(), [&](const Move& c) { return similar(c, moves[m]); }))
                chosen.push_back(moves[m]);
        return chosen;
    }

    // Orders moves by decreasing gain. Differences below the accuracy of scans do not count: the earlier column comes
    // first, so that the order does not depend on how sums were rounded.
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

    // Whether two moves exchange the same term for neighbouring thresholds of one feature. With few columns, no moves
    // are similar.
    bool similar(const Move& a, const Move& b) const {
        const Index near = std::min(tuning::similar_distance, objective_.n_columns() / tuning::columns_per_neighbour);
        return a.drop == b.drop && a.add != none && b.add != none && penalty_.group[a.add] == penalty_.group[b.add] &&
               std::abs(a.add - b.add) < near;
    }

    const Objective& objective_;
    const Penalty& penalty_;
    const LocalModel& model_;
    const Point& point_;
    const FailedMoves& failed_;
    Index n_free_;
    Limits limits_;
};

}  // namespace sparsegam
