// sparsegam/linalg.hpp: small dense matrices: products, symmetric matrices and their inverse.
//
// Matrices are small (terms x terms) or thin (columns x terms) and column-major. We use our own kernels because a BLAS
// has its own threads, whose number can only be set for the whole process and affects the rounding of sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernel_table.hpp"
#include "types.hpp"

namespace sparsegam {

// C (m x n) = A (m x k) B (k x n), or A' B if A is (k x m); all matrices are contiguous.
template <class Real>
void multiply(Index m, Index n, Index k, const Real* a, const Real* b, Real* c, bool transpose_a = false) {
    std::fill(c, c + m * n, Real(0));
    kernels().dense<Real>().add_product({m, n, k, a, transpose_a ? k : 1, transpose_a ? 1 : m, b, Index{1}, k, c});
}

// A symmetric matrix with full storage.
class Symmetric {
  public:
    explicit Symmetric(Index size = 0) : size_(size), data_(static_cast<std::size_t>(size * size), 0.0) {}

    Index size() const { return size_; }
    double* data() { return data_.data(); }
    const double* data() const { return data_.data(); }
    double& operator()(Index i, Index j) { return data_[i + j * size_]; }
    double operator()(Index i, Index j) const { return data_[i + j * size_]; }

    // Returns a copy without the i-th row and column.
    Symmetric without(Index i) const {
        Symmetric out(size_ - 1);
        for (Index c = 0; c < size_ - 1; ++c)
            for (Index r = 0; r < size_ - 1; ++r) out(r, c) = (*this)(r + (r >= i), c + (c >= i));
        return out;
    }

    // Returns a copy with one more row and column of zeros.
    Symmetric bordered() const {
        Symmetric out(size_ + 1);
        for (Index c = 0; c < size_; ++c)
            for (Index r = 0; r < size_; ++r) out(r, c) = (*this)(r, c);
        return out;
    }

    std::vector<double> times(const std::vector<double>& x) const {
        std::vector<double> out(size_, 0.0);
        for (Index j = 0; j < size_; ++j)
            for (Index i = 0; i < size_; ++i) out[i] += (*this)(i, j) * x[j];
        return out;
    }

    // Returns the inverse if the matrix is positive definite, and else the inverse after adding a multiple of its
    // diagonal. Pure groups and equal columns have zero curvature, and a damped step is better than none.
    Symmetric inverse() const {
        Symmetric scaled = *this;
        std::vector<double> scale(size_);
        for (Index i = 0; i < size_; ++i) scale[i] = (*this)(i, i) > 0.0 ? 1.0 / std::sqrt((*this)(i, i)) : 1.0;
        for (double floor = 1e-10; size_ > 0 && floor < 1e20; floor *= 100.0) {
            for (Index j = 0; j < size_; ++j)
                for (Index i = 0; i < size_; ++i)
                    scaled(i, j) = (*this)(i, j) * scale[i] * scale[j] + (i == j ? floor : 0.0);
            if (scaled.invert_in_place()) break;
        }
        for (Index j = 0; j < size_; ++j)
            for (Index i = 0; i < size_; ++i) scaled(i, j) *= scale[i] * scale[j];
        return scaled;
    }

  private:
    bool invert_in_place() {
        std::vector<double> work(data_.size());
        return kernels().invert(size_, data(), work.data());
    }

    Index size_;
    std::vector<double> data_;
};

}  // namespace sparsegam
