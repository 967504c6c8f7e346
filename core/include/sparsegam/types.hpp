// sparsegam/types.hpp: the nouns every other header speaks of.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

namespace sparsegam {

using Index = std::int64_t;  // rows and columns: 2^31 rows are not out of reach

inline constexpr Index none = -1;
inline constexpr double infinity = std::numeric_limits<double>::infinity();

// One model: score = intercept + sum of coef[s] * column[s], with the loss (a sum over rows) and the ridge it has.
// The order of its columns means nothing.
struct Point {
    double intercept = 0.0;
    std::vector<Index> columns;
    std::vector<double> coef;
    double loss = infinity;
    double ridge = 0.0;

    Index size() const { return static_cast<Index>(columns.size()); }
    double value() const { return loss + ridge; }  // the objective without its lambda0 part

    // Where a column stands among the columns; none where it does not.
    Index position(Index column) const {
        const auto at = std::find(columns.begin(), columns.end(), column);
        return at == columns.end() ? none : at - columns.begin();
    }
    bool has(Index column) const { return position(column) != none; }

    // The same with one more column, or without its s-th; not evaluated yet.
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

// What a search did, in numbers that do not depend on the machine.
struct Counts {
    // Questions to the rows, a pass over them each.
    Index evaluations = 0;  // losses of one or several points
    Index newtons = 0;      // Newton's ingredients on a support
    Index scans = 0;        // sums that score every add, drop and swap
    Index rescans = 0;      // the same with the curvature of an earlier scan held
    Index groups = 0;       // sums by group, for certificates
    // What they were for.
    Index trials = 0;        // moves verified on the rows
    Index failed = 0;        // of them, those that did not lower the objective
    Index moves = 0;         // of them, those made
    Index newton_steps = 0;  // steps of refits

    Index passes() const { return evaluations + newtons + scans + rescans + groups; }
};

// How long a search may go on. What it has when time is up is its answer. Beyond 30 years there is no limit.
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
