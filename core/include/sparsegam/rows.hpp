// sparsegam/rows.hpp: the interface Rows, through which a search accesses the training data, and the types it uses.
//
// Nothing above this interface touches a single row. It has few methods, each of which returns small results for one
// pass over all rows. Every call passes the point, so that an implementation needs no state, although it may cache
// results for the last point. Local, distributed (partial sums of the workers are added) and GPU implementations differ
// only below this interface.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "linalg.hpp"
#include "loss.hpp"
#include "types.hpp"

namespace sparsegam {

enum class ColumnKind : std::uint8_t {
    // x <= t: 0 or 1. Steps of one feature are nested.
    step,
    // x == level, or x is missing: 0 or 1.
    level,
    // min(x - t, 0).
    ramp,
    // A numeric column.
    raw,
};

// The columns of one feature for which products of two columns need no pass over the rows: its steps [first, last), for
// which x_a x_b = x_a if a < b, and its ramps, whose products follow from their knots.
struct NestedColumns {
    Index first, last;
    Index first_ramp = 0, last_ramp = 0;
};

struct ColumnInfo {
    std::vector<ColumnKind> kind;
    // Weighted mean of each column.
    std::vector<double> mean;
    // sigma^2: squared weighted norm of each column minus its mean.
    std::vector<double> centred_sq_norm;
    std::vector<NestedColumns> nested;
    // Thresholds t of steps and ramps, in the unit of the ramps. Empty if there are no ramps.
    std::vector<double> knot;
    double total_weight = 0.0;
    // Number of columns up to which a scan of selected columns is faster than a scan of all columns; 0 if it never is.
    Index shortlist = 0;

    Index size() const { return static_cast<Index>(kind.size()); }
    bool zero_one(Index column) const { return zero_one(kind[column]); }
    bool all_zero_one() const {
        return std::all_of(kind.begin(), kind.end(), [](ColumnKind k) { return zero_one(k); });
    }

    static bool zero_one(ColumnKind kind) { return kind == ColumnKind::step || kind == ColumnKind::level; }

    // Typical change of the score per unit of the coefficient.
    double score_scale(Index column) const {
        return zero_one(column) ? 1.0 : std::sqrt(centred_sq_norm[column] / total_weight);
    }
};

// Coarse bins of a feature, for interactions. The first n_ordered are ordered as the bins that they join; each of the
// others is an unordered level.
struct CoarseBins {
    // The largest number of coarse bins, whose indices are stored in bytes.
    static constexpr Index most = 256;

    // The coarse bin of each bin. Empty for features that are in no pair.
    std::vector<std::uint8_t> of_bin;
    Index n_ordered = 0, n_coarse = 0;

    // The conditions that coarse bins define are numbered in this order: `coarse <= i` for every ordered bin i except
    // the last, then `coarse > i` for the same bins (among the ordered ones), then `coarse == i` for every unordered
    // bin.
    Index n_thresholds() const { return std::max(n_ordered - 1, Index{0}); }
    Index n_conditions() const { return 2 * n_thresholds() + n_coarse - n_ordered; }
};

using FeaturePair = std::pair<Index, Index>;

inline void check_coarse_bins(std::span<const CoarseBins> coarse_bins) {
    for (std::size_t f = 0; f < coarse_bins.size(); ++f) {
        const CoarseBins& in = coarse_bins[f];
        const auto outside = [&](std::uint8_t cell) { return cell >= in.n_coarse; };
        if (in.n_ordered < 0 || in.n_ordered > in.n_coarse || in.n_coarse > CoarseBins::most ||
            std::any_of(in.of_bin.begin(), in.of_bin.end(), outside))
            throw std::invalid_argument("invalid coarse bins of feature " + std::to_string(f) +
                                        ": they must be below n_coarse, with 0 <= n_ordered <= n_coarse <= 256");
    }
}

// A pair consists of two different features that have coarse bins.
inline void check_pairs(std::span<const CoarseBins> coarse_bins, std::span<const FeaturePair> pairs) {
    check_coarse_bins(coarse_bins);
    const auto has_cells = [&](Index f) {
        return f >= 0 && f < static_cast<Index>(coarse_bins.size()) && !coarse_bins[f].of_bin.empty();
    };
    for (const auto& [a, b] : pairs)
        if (a == b || !has_cells(a) || !has_cells(b))
            throw std::invalid_argument("features " + std::to_string(a) + " and " + std::to_string(b) +
                                        " do not form a pair: two different features with coarse bins are required");
}

// Sums over rows for a support A = [1, x_1 ... x_k]: the Hessian A' h A and the gradient A' g.
struct Gram {
    Symmetric curv;
    std::vector<double> grad;
};

// The loss at a point, with gradient and Hessian on a support.
struct NewtonSums {
    double loss;
    Gram gram;
};

// One value per column, `stride` apart in memory.
struct Strided {
    const double* data = nullptr;
    Index stride = 1;
    double operator[](Index i) const { return data[i * stride]; }
};

// Results of a scan for some columns. The i-th column x has the sums grad = x' g, curv = x' (h x) and cross = A' (h x).
// If there are ramps, the moment of a ramp is 1' (h x), and the moment of a step is the curvature-weighted sum of the
// bin centres of its rows.
struct Block {
    std::span<const Index> columns;
    Strided grad, curv;
    const double* cross;
    Index cross_stride;
    Strided moment = {};
};

// Receives the results of a scan: first the Gram matrix of the support, then the columns, block by block.
class ScanVisitor {
  public:
    virtual ~ScanVisitor() = default;
    virtual void visit_gram(Gram gram) = 0;
    virtual void visit_block(const Block& block) = 0;
};

using BlockCallback = std::function<void(const Block&)>;

// Returned by a scan for later rescans, which reuse its curvature. Each implementation of Rows has its own type.
class ScanToken {
  public:
    virtual ~ScanToken() = default;
};
using Token = std::shared_ptr<const ScanToken>;

// For each of some 0/1 columns, the sums of g, h and the loss over the rows where the column is 1; and the same sums
// over all rows.
struct GroupSums {
    std::vector<double> grad, curv, loss;
    double total_grad = 0.0, total_curv = 0.0, total_loss = 0.0;
};

// Receives the sums over the two-dimensional bins of one pair of features: a table of gradients and one of curvatures,
// with one row per coarse bin of the first feature. It is called once per pair, possibly from several threads at the
// same time.
using PairCallback = std::function<void(Index pair, std::span<const double> grad, std::span<const double> curv)>;

class Rows {
  public:
    virtual ~Rows() = default;

    virtual Loss loss() const = 0;
    virtual const ColumnInfo& columns() const = 0;

    // Returns the loss at each point, in one pass.
    virtual std::vector<double> evaluate(std::span<const Point> points) = 0;

    // Returns the loss at a point, and gradient and Hessian on some of its columns. Low precision (float32) is
    // sufficient for a Newton step, but not for convergence to machine precision.
    virtual NewtonSums newton(const Point& point, std::span<const Index> support, bool low_precision) = 0;

    // Computes the sums of the selected columns (all if empty) and their products with the support of the point.
    virtual Token scan(const Point& point, std::span<const Index> selected, ScanVisitor& visitor) = 0;

    // For the selected columns (all if empty): `grad` and, for 0/1 columns, `curv` at this point; `cross` contains the
    // products with the columns that entered, under the curvature of an earlier scan. Returns 1'g. Throws
    // std::invalid_argument if the token does not come from these rows.
    virtual double rescan(const ScanToken& token, const Point& point, std::span<const Index> entered,
                          std::span<const Index> selected, const BlockCallback& take) = 0;

    virtual GroupSums groups(const Point& point, std::span<const Index> columns) = 0;

    // Sums gradient and curvature over the two-dimensional coarse bins of pairs of features.
    virtual void pairs(const Point&, std::span<const CoarseBins>, std::span<const FeaturePair>, const PairCallback&) {
        throw std::invalid_argument("pair sums require binned features");
    }

    // Sets a function that long computations call repeatedly. It throws an exception to cancel them.
    virtual void set_poll(std::function<void()>) {}
};

// The loss along one column, with its two derivatives. A model with an intercept moves along the centred column, so
// that the optimal intercept hardly changes; a model without intercept moves along the column itself.
enum class Along { centred, bare };

struct LineSums {
    double value, slope, curv;
};

// Loss, slopes and curvatures at step zero along every column.
struct Slopes {
    double value, total_grad;
    std::vector<double> slope, curv;

    LineSums at(Index column) const { return {value, slope[column], curv[column]}; }
};

class LineRows : public Rows {
  public:
    // Returns the loss at `to`, which differs from `from` only in the intercept and the coefficient of one 0/1 column.
    // For a multiplicative loss, the losses of the rows are multiplied by one of four constants; rounding errors
    // accumulate until the next call of `evaluate`.
    virtual double shift(const Point& from, const Point& to, Index column) = 0;
    virtual Slopes slopes(const Point& point, Along along) = 0;
    virtual LineSums line(const Point& point, Index column, double step, Along along) = 0;
    // The largest |x| or |x - mean| of a column.
    virtual double largest(Index column, Along along) const = 0;
};

}  // namespace sparsegam
