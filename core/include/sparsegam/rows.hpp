// sparsegam/rows.hpp: all that a solver may ask of the rows, in few coarse questions with small answers.
//
// Nothing above this interface touches a row. A local, a distributed (each worker answers, the answers are
// added) and a device implementation differ only below it. `evaluate` sets the point that the other questions
// are about.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "linalg.hpp"
#include "loss.hpp"
#include "types.hpp"

namespace sparsegam {

// Newton's ingredients on a support A = [1, x_1 ... x_k]: A' h A and A' g.
struct Gram {
    Symmetric curv;
    std::vector<double> grad;
};

// Numbers one per column, `stride` apart.
struct Strided {
    const double* data = nullptr;
    Index stride = 1;
    double operator[](Index i) const { return data[i * stride]; }
};

// Some columns of a scan: for the i-th of them its sums grad = x' g, curv = x' (h x) and cross = A' (h x).
struct Block {
    std::span<const Index> columns;
    Strided grad, curv;
    const double* cross;
    Index cross_stride;
};

// Who takes in a scan: first the Gram matrix of the support, then the columns, block by block.
class ScanVisitor {
  public:
    virtual ~ScanVisitor() = default;
    virtual void take_gram(Gram gram) = 0;
    virtual void take_block(const Block& block) = 0;
};

using TakeBlock = std::function<void(const Block&)>;

// Per column, the sums of g, h and the loss over the rows where a 0/1 column is 1, and over all rows.
struct Groups {
    Strided grad, curv, loss;
    double total_grad = 0.0, total_curv = 0.0, total_loss = 0.0;
};

// Columns [first, last) with x_a x_b = x_a for a < b: the thresholds of a feature. Their pairs need no pass
// of their own.
struct Nested {
    Index first, last;
};

// The loss along one column, centred, from the point last evaluated: its value and two derivatives.
struct LineSums {
    double value, slope, curv;
};

// The same at the start of the line, for every column.
struct Slopes {
    double value, total_grad;
    std::vector<double> slope, curv;

    LineSums at(Index column) const { return {value, slope[column], curv[column]}; }
};

class Rows {
  public:
    virtual ~Rows() = default;

    // --- what the columns are like

    virtual Loss loss() const = 0;
    virtual Index n_columns() const = 0;
    virtual bool zero_one() const = 0;                   // is every column 0 or 1
    virtual std::span<const double> mean() const = 0;    // weighted, per column
    virtual std::span<const double> spread() const = 0;  // sigma_c^2: squared weighted norm of the centred column
    virtual double reach(Index column) const = 0;        // how far a unit of coefficient moves a typical score
    virtual double largest(Index column) const = 0;      // of |x - mean|
    virtual std::span<const Nested> nested() const = 0;

    // --- sums over rows; all but the first are about the point last evaluated

    virtual double evaluate(const Point& point) = 0;  // the loss there
    // One coefficient changes: the scores where a 0/1 column is 1 move by `on`, the others by `off`. The loss
    // there, which is now the point last evaluated. For the exponential loss products with four constants, whose
    // rounding errors stay until the next `evaluate`.
    virtual double shift(Index column, double on, double off) = 0;
    // Rough is good for a step, not for the last digit.
    virtual Gram gram(std::span<const Index> support, bool rough) = 0;
    virtual void scan(std::span<const Index> support, ScanVisitor& visitor) = 0;
    // Of the same columns, with the curvature of the last scan held: `grad` and, where columns are 0/1, `curv` at the point
    // last evaluated; `cross` are products with the columns that entered, under the held curvature. Returns 1'g.
    virtual double rescan(std::span<const Index> entered, const TakeBlock& take) = 0;
    virtual const Groups& groups(std::span<const Index> columns) = 0;  // at least of these columns
    virtual Slopes slopes() = 0;
    virtual LineSums line(Index column, double step) = 0;

    // --- scans of a shortlist, where they save work

    virtual bool can_focus() const = 0;
    // Scans look only at these columns from now on; none: at all. True if they will.
    virtual bool focus(std::span<const Index> columns) = 0;
};

}  // namespace sparsegam
