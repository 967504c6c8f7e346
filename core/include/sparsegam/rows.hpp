// sparsegam/rows.hpp: all that a solver may ask of the rows, in few coarse questions with small answers.
//
// Nothing above this interface touches a row. Every question names its point, so an implementation needs no state,
// though it may remember the last point. A local, a distributed (each worker answers, the answers are added) and a
// device implementation differ only below it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "cells.hpp"
#include "columns.hpp"
#include "linalg.hpp"
#include "loss.hpp"
#include "types.hpp"

namespace sparsegam {

// Sums over rows on a support A = [1, x_1 ... x_k]: A' h A and A' g.
struct Gram {
    Symmetric curv;
    std::vector<double> grad;
};

// Newton's ingredients at a point.
struct Newton {
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
    virtual void take_gram(Gram gram) = 0;
    virtual void take_block(const Block& block) = 0;
};

using TakeBlock = std::function<void(const Block&)>;

// What a scan leaves behind, so that rescans may hold its curvature; each kind of rows has its own.
class ScanToken {
  public:
    virtual ~ScanToken() = default;
};
using Token = std::shared_ptr<const ScanToken>;

// Of some 0/1 columns, in the order asked for: the sums of g, h and the loss over the rows where the column is 1; and
// the same over all rows.
struct Groups {
    std::vector<double> grad, curv, loss;
    double total_grad = 0.0, total_curv = 0.0, total_loss = 0.0;
};

// Who takes in the sums over the cells of a pair of features: a table of gradient and one of curvature, a line for each
// cell of the first feature. Several threads may call it at once, each pair comes once.
using TakePair = std::function<void(Index pair, std::span<const double> grad, std::span<const double> curv)>;

class Rows {
  public:
    virtual ~Rows() = default;

    virtual Loss loss() const = 0;
    virtual const ColumnInfo& columns() const = 0;

    // The loss at each of these points, in one pass.
    virtual std::vector<double> evaluate(std::span<const Point> points) = 0;

    // The loss at a point, and the Gram matrix of some of its columns. Rough is good for a step, not for the last digit.
    virtual Newton newton(const Point& point, std::span<const Index> support, bool rough) = 0;

    // For the columns `among` (none: for all), their sums beside the support of the point.
    virtual Token scan(const Point& point, std::span<const Index> among, ScanVisitor& visitor) = 0;

    // For the columns `among`: `grad` and, where columns are 0/1, `curv` at this point; `cross` are products with the
    // columns that entered, under the curvature of an earlier scan. Returns 1'g.
    virtual double rescan(const ScanToken& token, const Point& point, std::span<const Index> entered,
                          std::span<const Index> among, const TakeBlock& take) = 0;

    virtual Groups groups(const Point& point, std::span<const Index> columns) = 0;

    // For pairs of features, in the cells given for each feature, sums of gradient and curvature over both at once.
    virtual void pairs(const Point&, std::span<const Cells>, std::span<const FeaturePair>, const TakePair&) {
        throw std::invalid_argument("these rows have no features with bins, of which pairs could be summed");
    }

    // Called now and then by those who work long; it throws to end the work.
    virtual void set_poll(std::function<void()>) {}
};

}  // namespace sparsegam
