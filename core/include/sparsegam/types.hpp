// sparsegam/types.hpp: basic types of the core: indices, models (Point), counters and deadlines.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

namespace sparsegam {

// 64-bit, since more than 2^31 rows are possible.
using Index = std::int64_t;

inline constexpr Index none = -1;
inline constexpr double infinity = std::numeric_limits<double>::infinity();

// A model: score = intercept + sum of coef[s] * column[s], with its loss (a sum over rows) and its ridge penalty. The
// order of the columns has no meaning.
struct Point {
    double intercept = 0.0;
    std::vector<Index> columns;
    std::vector<double> coef;
    double loss = infinity;
    double ridge = 0.0;

    Index size() const { return static_cast<Index>(columns.size()); }
    // The objective without its lambda0 part.
    double value() const { return loss + ridge; }

    // The position of a column in `columns`, or none if it is not there.
    Index position(Index column) const {
        const auto at = std::find(columns.begin(), columns.end(), column);
        return at == columns.end() ? none : at - columns.begin();
    }
    bool has(Index column) const { return position(column) != none; }

    // Copies with one more column, or without the s-th column. They are not evaluated yet.
    Point with(Index column, double coefficient) const {
        Point out = *this;
        out.columns.push_back(column);
        out.coef.push_back(coefficient);
        out.loss = infinity;
        return out;
    }
    Point without(Index s) const {
        Point out = *this;
        out.columns.erase(out.columns.begin() + s);
        out.coef.erase(out.coef.begin() + s);
        out.loss = infinity;
        return out;
    }
};

inline bool same_support(const Point& a, const Point& b) {
    return std::is_permutation(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end());
}

// Counters of a search. They do not depend on the speed of the machine.
struct Counts {
    // Calls of the methods of Rows, each of which is one pass over the rows. `evaluations` counts losses of one or
    // several points, `newtons` gradients and Hessians on a support, `scans` the sums from which all additions, drops
    // and swaps are scored, `rescans` such sums with the curvature of an earlier scan, and `groups` sums by group for
    // certificates.
    Index evaluations = 0;
    Index newtons = 0;
    Index scans = 0;
    Index rescans = 0;
    Index groups = 0;
    // Purposes of these passes: `trials` counts the moves verified on the rows, `failed` those of them that did not
    // lower the objective, `moves` those that were made, and `newton_steps` the steps of refits.
    Index trials = 0;
    Index failed = 0;
    Index moves = 0;
    Index newton_steps = 0;

    Index passes() const { return evaluations + newtons + scans + rescans + groups; }
};

// Time limit of a search, which returns the best models found so far when it has passed. More than 30 years mean no
// limit.
class Deadline {
  public:
    explicit Deadline(double seconds = infinity)
        : limited_(seconds < 1e9),
          end_(std::chrono::steady_clock::now() + std::chrono::microseconds(limited_ ? Index(seconds * 1e6) : 0)) {}

    bool passed() const { return limited_ && std::chrono::steady_clock::now() >= end_; }

  private:
    bool limited_;
    std::chrono::steady_clock::time_point end_;
};

}  // namespace sparsegam
