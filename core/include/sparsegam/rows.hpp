// sparsegam/rows.hpp: all that a solver may ask of the rows, in few coarse questions with small answers.
//
// Nothing above this interface touches a row. Every question names its point, so an implementation needs no state,
// though it may remember the last point. A local, a distributed (each worker answers, the answers are added) and a
// device implementation differ only below it.
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
    step,   // x <= t: 0 or 1, and nested within the steps of larger t
    level,  // x == level, x is missing: 0 or 1
    ramp,   // min(x - t, 0)
    raw,    // a number
};

// Columns of one feature whose pairs need no pass of their own: its steps [first, last), with x_a x_b = x_a for a < b, and
// its ramps, whose products follow from their knots.
struct NestedColumns {
    Index first, last;
    Index first_ramp = 0, last_ramp = 0;
};

struct ColumnInfo {
    std::vector<ColumnKind> kind;
    std::vector<double> mean;             // weighted
    std::vector<double> centred_sq_norm;  // sigma^2: squared weighted norm of the centred column
    std::vector<NestedColumns> nested;
    std::vector<double> knot;  // t of steps and ramps, in the unit of the ramps; empty where there are no ramps
    double total_weight = 0.0;
    Index shortlist = 0;  // a scan of at most so many columns costs less than one of all; 0: none does

    Index size() const { return static_cast<Index>(kind.size()); }
    bool zero_one(Index column) const { return zero_one(kind[column]); }
    bool all_zero_one() const {
        return std::all_of(kind.begin(), kind.end(), [](ColumnKind k) { return zero_one(k); });
    }

    static bool zero_one(ColumnKind kind) { return kind == ColumnKind::step || kind == ColumnKind::level; }

    // How far a unit of coefficient moves a typical score.
    double score_scale(Index column) const {
        return zero_one(column) ? 1.0 : std::sqrt(centred_sq_norm[column] / total_weight);
    }
};

// Of each bin its cell. The first n_ordered cells are ordered, as the bins in them are; the others stand alone.
struct CoarseBins {
    static constexpr Index most = 256;  // a byte each

    std::vector<std::uint8_t> of_bin;  // empty where a feature is not asked about
    Index n_ordered = 0, n_coarse = 0;

    // A part is a condition on a feature: `cell <= i` and then `cell > i` among the ordered cells, for every i but the
    // last, and then `cell == i` for each that stands alone. They are numbered in this order.
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

// A pair is two features that have cells.
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

// Sums over rows on a support A = [1, x_1 ... x_k]: A' h A and A' g.
struct Gram {
    Symmetric curv;
    std::vector<double> grad;
};

// Newton's ingredients at a point.
struct NewtonSums {
    double loss;
    Gram gram;
};

// Numbers one per column, `stride` apart.
struct Strided {
    const double* data = nullptr;
    Index stride = 1;
    double operator[](Index i) const { return data[i * stride]; }
};

// Some columns of a scan: for the i-th of them its sums grad = x' g, curv = x' (h x) and cross = A' (h x). Where there are
// ramps, the moment of one is 1' (h x), and that of a step the same of the places of its rows.
struct Block {
    std::span<const Index> columns;
    Strided grad, curv;
    const double* cross;
    Index cross_stride;
    Strided moment = {};
};

// Who takes in a scan: first the Gram matrix of the support, then the columns, block by block.
class ScanVisitor {
  public:
    virtual ~ScanVisitor() = default;
    virtual void visit_gram(Gram gram) = 0;
    virtual void visit_block(const Block& block) = 0;
};

using BlockCallback = std::function<void(const Block&)>;

// What a scan leaves behind, so that rescans may hold its curvature; each kind of rows has its own.
class ScanToken {
  public:
    virtual ~ScanToken() = default;
};
using Token = std::shared_ptr<const ScanToken>;

// Of some 0/1 columns, in the order asked for: the sums of g, h and the loss over the rows where the column is 1; and
// the same over all rows.
struct GroupSums {
    std::vector<double> grad, curv, loss;
    double total_grad = 0.0, total_curv = 0.0, total_loss = 0.0;
};

// Who takes in the sums over the cells of a pair of features: a table of gradient and one of curvature, a line for each
// cell of the first feature. Several threads may call it at once, each pair comes once.
using PairCallback = std::function<void(Index pair, std::span<const double> grad, std::span<const double> curv)>;

class Rows {
  public:
    virtual ~Rows() = default;

    virtual Loss loss() const = 0;
    virtual const ColumnInfo& columns() const = 0;

    // The loss at each of these points, in one pass.
    virtual std::vector<double> evaluate(std::span<const Point> points) = 0;

    // The loss at a point, and the Gram matrix of some of its columns. Rough is good for a step, not for the last digit.
    virtual NewtonSums newton(const Point& point, std::span<const Index> support, bool low_precision) = 0;

    // For the columns `among` (none: for all), their sums beside the support of the point.
    virtual Token scan(const Point& point, std::span<const Index> selected, ScanVisitor& visitor) = 0;

    // For the columns `among`: `grad` and, where columns are 0/1, `curv` at this point; `cross` are products with the
    // columns that entered, under the curvature of an earlier scan. Returns 1'g.
    virtual double rescan(const ScanToken& token, const Point& point, std::span<const Index> entered,
                          std::span<const Index> selected, const BlockCallback& take) = 0;

    virtual GroupSums groups(const Point& point, std::span<const Index> columns) = 0;

    // For pairs of features, in the cells given for each feature, sums of gradient and curvature over both at once.
    virtual void pairs(const Point&, std::span<const CoarseBins>, std::span<const FeaturePair>, const PairCallback&) {
        throw std::invalid_argument("pair sums require binned features");
    }

    // Called now and then by those who work long; it throws to end the work.
    virtual void set_poll(std::function<void()>) {}
};

// The loss along one column: its value and two derivatives. A model with an intercept moves along the centred column,
// which leaves the intercept's optimum nearly alone; one without it along the column as it is.
enum class Along { centred, bare };

struct LineSums {
    double value, slope, curv;
};

// The same at the start of the line, for every column.
struct Slopes {
    double value, total_grad;
    std::vector<double> slope, curv;

    LineSums at(Index column) const { return {value, slope[column], curv[column]}; }
};

class LineRows : public Rows {
  public:
    // The loss at `to`, which is `from` but for the intercept and the coefficient of one 0/1 column. Where the loss is
    // multiplicative, products with four constants, whose rounding errors stay until the next `evaluate`.
    virtual double shift(const Point& from, const Point& to, Index column) = 0;
    virtual Slopes slopes(const Point& point, Along along) = 0;
    virtual LineSums line(const Point& point, Index column, double step, Along along) = 0;
    virtual double largest(Index column, Along along) const = 0;  // of |x|, or of |x - mean|
};

}  // namespace sparsegam
