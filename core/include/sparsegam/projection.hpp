// sparsegam/projection.hpp: projects columns on a support, and updates the projections when columns enter or leave the
// support.
//
// With A = [1, X_S], H = A'hA + ridge and M = H^-1, a column c has B_c = A'(h x_c), Q_c = M B_c and V_c = D_c -
// B_c'Q_c, where D_c = x_c'(h x_c) + ridge. With h unchanged, a column that enters or leaves the support changes all of
// these by a rank-one update. This needs no inverse. The rows are read only to compute the products with the entering column.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernel_table.hpp"
#include "linalg.hpp"
#include "rows.hpp"

namespace sparsegam {

// Each column has a slot: its position in the order in which columns were added. The support is scaled such that H has
// a unit diagonal, since a diverged coefficient has a curvature of another order of magnitude.
class Projection {
  public:
    Projection() = default;

    // `capacity` is the number of columns that can enter the support, and `expected` the approximate number of columns
    // that will be added.
    Projection(Symmetric curvature, Index n_columns, Index capacity, Index expected)
        : curvature_(std::move(curvature)),
          stride_(curvature_.size() + capacity),
          slot_(n_columns, std::int32_t{none}) {
        for (Index i = 0; i < size(); ++i)
            scale_.push_back(curvature_(i, i) > 0.0 ? 1.0 / std::sqrt(curvature_(i, i)) : 1.0);
        for (Index j = 0; j < size(); ++j)
            for (Index i = 0; i < size(); ++i) curvature_(i, j) *= scale_[i] * scale_[j];
        inverse_ = curvature_.inverse();
        q_.reserve(expected * stride_ + octet);
        columns_.reserve(expected);
        for (auto* numbers : {&curv_, &diagonal_, &intercept_curv_}) numbers->reserve(expected);
    }

    // Size of the support, including the intercept.
    Index size() const { return curvature_.size(); }
    Index stride() const { return stride_; }
    double scale(Index i) const { return scale_[i]; }
    const Symmetric& curvature() const { return curvature_; }
    const Symmetric& inverse() const { return inverse_; }

    std::span<const Index> columns() const { return columns_; }
    // Slot of a column, or none if it was not added.
    Index slot(Index column) const { return slot_[column]; }

    const float* q(Index slot) const { return q_.data() + slot * stride_; }
    // V.
    double curv(Index slot) const { return curv_[slot]; }
    // D.
    double diagonal(Index slot) const { return diagonal_[slot]; }
    // V for a support that consists of the intercept alone.
    double intercept_curv(Index slot) const { return intercept_curv_[slot]; }

    // Adds columns, given their diagonals D and products B. Entries of B for fixed coefficients are ignored.
    void add(const Block& block, std::span<const double> diagonal, std::span<const double> free) {
        const Index count = static_cast<Index>(block.columns.size());
        q_.resize((n_columns() + count) * stride_ + octet);
        std::vector<double> cross(std::min(count, batch) * size()), solved(cross.size());
        for (Index first = 0; first < count; first += batch) {
            const Index n = std::min(batch, count - first);
            for (Index c = 0; c < n; ++c)
                for (Index i = 0; i < size(); ++i)
                    cross[c * size() + i] = block.cross[(first + c) * block.cross_stride + i] * scale_[i] * free[i];
            multiply(size(), n, size(), inverse_.data(), cross.data(), solved.data());
            for (Index c = 0; c < n; ++c)
                add(block.columns[first + c], diagonal[first + c], &cross[c * size()], &solved[c * size()]);
        }
    }

    // Returns a copy with some of the columns only and another capacity.
    Projection restricted_to(std::span<const Index> columns, Index capacity) const {
        Projection out;
        out.scale_ = scale_;
        out.curvature_ = curvature_;
        out.inverse_ = inverse_;
        out.stride_ = size() + capacity;
        out.slot_.assign(slot_.size(), std::int32_t{none});
        out.q_.resize(columns.size() * out.stride_ + octet);
        for (Index column : columns) {
            const Index from = slot_[column], to = static_cast<Index>(out.columns_.size());
            out.slot_[column] = static_cast<std::int32_t>(to);
            out.columns_.push_back(column);
            std::copy(q(from), q(from) + size(), out.q_.data() + to * out.stride_);
            out.curv_.push_back(curv_[from]);
            out.diagonal_.push_back(diagonal_[from]);
            out.intercept_curv_.push_back(intercept_curv_[from]);
        }
        return out;
    }

    // Removes the i-th column from the support:
    //     Q_c -= M_i Q_ci / M_ii,  V_c += Q_ci^2 / M_ii,  M -= M_i M_i' / M_ii,  all without their i-th entries.
    void leave(Index i) {
        std::vector<double> column_of_inverse(size());
        for (Index j = 0; j < size(); ++j) column_of_inverse[j] = inverse_(j, i);
        kernels().leave({n_columns(), size(), stride_, q_.data(), curv_.data()}, i, column_of_inverse.data(),
                        1.0 / column_of_inverse[i]);
        for (Index c = 0; c < size(); ++c)
            for (Index r = 0; r < size(); ++r)
                inverse_(r, c) -= column_of_inverse[r] * column_of_inverse[c] / column_of_inverse[i];
        inverse_ = inverse_.without(i);
        curvature_ = curvature_.without(i);
        scale_.erase(scale_.begin() + i);
    }

    bool has_capacity() const { return size() < stride_; }

    // Adds the column in a slot to the support. `cross` contains its products with all columns. After projection on the
    // support these are C_c = V_ca = B_ca - B_a'Q_c, and with v = V_a
    //     Q_c -= Q_a C_c / v, and C_c / v is appended,  V_c -= C_c^2 / v,
    //     M += Q_a Q_a' / v, bordered by -Q_a / v and 1 / v.
    void join(Index slot, std::vector<double> cross) {
        const Index k = size();
        const double v = curv_[slot], unit = 1.0 / std::sqrt(diagonal_[slot]);
        std::vector<double> solved(q(slot), q(slot) + k), h_projection = curvature_.times(solved), shared(n_columns());
        const ColumnArgs columns{n_columns(), k, stride_, q_.data(), curv_.data()};
        kernels().dots(columns, h_projection.data(), shared.data());
        for (Index c = 0; c < n_columns(); ++c) cross[c] -= shared[c];
        kernels().join(columns, solved.data(), cross.data(), 1.0 / v, 1.0 / unit);
        Symmetric inverse = inverse_.bordered(), curvature = curvature_.bordered();
        for (Index j = 0; j < k; ++j) {
            for (Index i = 0; i < k; ++i) inverse(i, j) += solved[i] * solved[j] / v;
            inverse(k, j) = inverse(j, k) = -solved[j] / (v * unit);
            curvature(k, j) = curvature(j, k) = h_projection[j] * unit;
        }
        inverse(k, k) = 1.0 / (v * unit * unit);
        curvature(k, k) = 1.0;
        inverse_ = std::move(inverse);
        curvature_ = std::move(curvature);
        scale_.push_back(unit);
    }

    // Returns Q_c'x of every column.
    std::vector<double> dots(const std::vector<double>& x) const {
        std::vector<double> out(n_columns());
        kernels().dots({n_columns(), size(), stride_, const_cast<float*>(q_.data()), nullptr}, x.data(), out.data());
        return out;
    }

  private:
    // Number of columns for which products in float64 are stored at a time.
    static constexpr Index batch = 1024;

    // Adds one column with its products B and its projection Q.
    void add(Index column, double diagonal, const double* cross, const double* projection) {
        std::copy(projection, projection + size(), q_.data() + n_columns() * stride_);
        double adjusted = 0.0;
        for (Index i = 0; i < size(); ++i) adjusted += cross[i] * projection[i];
        slot_[column] = static_cast<std::int32_t>(columns_.size());
        columns_.push_back(column);
        diagonal_.push_back(diagonal);
        intercept_curv_.push_back(std::max(diagonal - cross[0] * cross[0] / curvature_(0, 0), 0.0));
        curv_.push_back(diagonal - adjusted);
    }

    Index n_columns() const { return static_cast<Index>(columns_.size()); }

    std::vector<double> scale_;
    // H and M, scaled.
    Symmetric curvature_, inverse_;
    Index stride_ = 0;
    std::vector<Index> columns_;
    // The slots of all columns, most of which may not have been added.
    std::vector<std::int32_t> slot_;
    // `stride` values per column, in float32 since they are used for predictions, and eight more for the kernel
    // swap_gains.
    std::vector<float> q_;
    std::vector<double> curv_, diagonal_, intercept_curv_;
};

}  // namespace sparsegam
