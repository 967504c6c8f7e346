// sparsegam/column_dense.hpp: a dense matrix of floats or doubles, by rows or by columns, as NumPy holds it.
#pragma once

#include "column_matrix.hpp"

namespace sparsegam {

template <class Real>
class DenseMatrix final : public Matrix {
  public:
    DenseMatrix(const Real* data, Index n_rows, Index n_columns, bool by_rows)
        : data_(data), n_rows_(n_rows), n_columns_(n_columns), by_rows_(by_rows) {}

    // The same with values of its own.
    DenseMatrix(std::vector<Real> values, Index n_rows, Index n_columns, bool by_rows)
        : owned_(std::move(values)), data_(owned_.data()), n_rows_(n_rows), n_columns_(n_columns), by_rows_(by_rows) {}

    Index n_rows() const override { return n_rows_; }
    Index n_columns() const override { return n_columns_; }

    void gather(Index column, double* out) const override {
        const Real* from = by_rows_ ? data_ + column : data_ + column * n_rows_;
        const Index step = by_rows_ ? n_columns_ : 1;
        for (Index i = 0; i < n_rows_; ++i) out[i] = static_cast<double>(from[i * step]);
    }

    std::unique_ptr<Matrix> pick(std::span<const Index> columns) const override {
        std::vector<Real> values(columns.size() * n_rows_);
        const Index step = by_rows_ ? n_columns_ : 1;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const Real* from = by_rows_ ? data_ + columns[c] : data_ + columns[c] * n_rows_;
            for (Index i = 0; i < n_rows_; ++i) values[c * n_rows_ + i] = from[i * step];
        }
        return std::make_unique<DenseMatrix>(std::move(values), n_rows_, static_cast<Index>(columns.size()), false);
    }

    std::unique_ptr<Matrix> in_floats() const override {
        if constexpr (sizeof(Real) == sizeof(float)) return nullptr;
        std::vector<float> values(n_rows_ * n_columns_);  // by columns, whatever this one is: products like that
        const Index across = by_rows_ ? 1 : n_rows_, along = by_rows_ ? n_columns_ : 1;
        for (Index first = 0; first < n_columns_; first += 16)  // some columns at a time, so that rows are read once
            for (Index i = 0; i < n_rows_; ++i)
                for (Index c = first; c < std::min(first + 16, n_columns_); ++c)
                    values[c * n_rows_ + i] = static_cast<float>(data_[c * across + i * along]);
        return std::make_unique<DenseMatrix<float>>(std::move(values), n_rows_, n_columns_, false);
    }

    std::size_t bytes(Index n_columns) const override { return sizeof(Real) * n_columns * n_rows_; }

    // One matrix product in the precision of the data; channels come and go as doubles.
    void products(Index first, Index count, const double* channels, Index m, double* out) const override {
        if constexpr (sizeof(Real) == sizeof(double)) {
            multiply(first, count, channels, m, out);
        } else {
            const std::vector<Real> narrow(channels, channels + n_rows_ * m);
            std::vector<Real> sums(count * m);
            multiply(first, count, narrow.data(), m, sums.data());
            std::copy(sums.begin(), sums.end(), out);
        }
    }

    void sums(Index first, Index count, const double* weight, double* out) const override {
        std::fill(out, out + count, 0.0);
        for (Index i = 0; by_rows_ && i < n_rows_; ++i)  // all columns of a row are at hand
            for (Index c = 0; c < count; ++c)
                out[c] += weight[i] * static_cast<double>(data_[i * n_columns_ + first + c]);
        for (Index c = 0; !by_rows_ && c < count; ++c) {
            const Real* column = data_ + (first + c) * n_rows_;
            double sum = 0.0;
#pragma omp simd reduction(+ : sum)
            for (Index i = 0; i < n_rows_; ++i) sum += weight[i] * static_cast<double>(column[i]);
            out[c] = sum;
        }
    }

    void squares(Index first, Index count, const double* weight, double* out) const override {
        if (by_rows_) {
            std::fill(out, out + count, 0.0);
            for (Index i = 0; i < n_rows_; ++i)
                matrix_kernels().dense<Real>().add_squares(count, weight[i], data_ + i * n_columns_ + first, out);
            return;
        }
        for (Index c = 0; c < count; ++c)
            out[c] = matrix_kernels().dense<Real>().sum_squares(n_rows_, weight, data_ + (first + c) * n_rows_);
    }

  private:
    // out (m x count) = channels (m x n) X (n x count), all column-major; X by rows is X' by columns.
    void multiply(Index first, Index count, const Real* channels, Index m, Real* out) const {
        std::fill(out, out + m * count, Real(0));
        const Real* from = by_rows_ ? data_ + first : data_ + first * n_rows_;
        matrix_kernels().dense<Real>().add_product({m, count, n_rows_, channels, Index{1}, m, from,
                                                    by_rows_ ? n_columns_ : 1, by_rows_ ? Index{1} : n_rows_, out});
    }

    std::vector<Real> owned_;
    const Real* data_;
    Index n_rows_, n_columns_;
    bool by_rows_;
};

}  // namespace sparsegam
