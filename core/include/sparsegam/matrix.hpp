// sparsegam/matrix.hpp: matrices of raw numeric columns, dense or sparse, with the products that MatrixRows needs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernel_table.hpp"
#include "types.hpp"

namespace sparsegam {

// A matrix, not owned. `channels` are m values per row, stored row by row.
class Matrix {
  public:
    virtual ~Matrix() = default;

    virtual Index n_rows() const = 0;
    virtual Index n_columns() const = 0;

    // Writes all values of one column.
    virtual void gather(Index column, double* out) const = 0;
    // Returns a copy of some columns.
    virtual std::unique_ptr<Matrix> pick(std::span<const Index> columns) const = 0;
    // Returns a float32 copy if that makes products faster.
    virtual std::unique_ptr<Matrix> in_floats() const { return nullptr; }
    // Returns the approximate memory of the given number of columns.
    virtual std::size_t bytes(Index n_columns) const = 0;
    // out[c * m + j] = sum over rows of x_c * channel j, for columns [first, first + count).
    virtual void products(Index first, Index count, const double* channels, Index m, double* out) const = 0;
    // out[c] = sum over rows of weight * x_c, in float64 for any type of matrix, since variances are differences of
    // such sums.
    virtual void sums(Index first, Index count, const double* weight, double* out) const = 0;
    // out[c] = sum over rows of weight * x_c^2.
    virtual void squares(Index first, Index count, const double* weight, double* out) const = 0;
};

template <class Real>
class DenseMatrix final : public Matrix {
  public:
    DenseMatrix(const Real* data, Index n_rows, Index n_columns, bool by_rows)
        : data_(data), n_rows_(n_rows), n_columns_(n_columns), by_rows_(by_rows) {}

    // A matrix that owns its values.
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
        // Stored by columns, for which products are faster.
        std::vector<float> values(n_rows_ * n_columns_);
        const Index across = by_rows_ ? 1 : n_rows_, along = by_rows_ ? n_columns_ : 1;
        // Processes some columns at a time, so that every row is read once.
        for (Index first = 0; first < n_columns_; first += 16)
            for (Index i = 0; i < n_rows_; ++i)
                for (Index c = first; c < std::min(first + 16, n_columns_); ++c)
                    values[c * n_rows_ + i] = static_cast<float>(data_[c * across + i * along]);
        return std::make_unique<DenseMatrix<float>>(std::move(values), n_rows_, n_columns_, false);
    }

    std::size_t bytes(Index n_columns) const override { return sizeof(Real) * n_columns * n_rows_; }

    // One matrix product in the precision of the data; channels and results are float64.
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
        // If the matrix is stored by rows, processes all columns of a row together.
        for (Index i = 0; by_rows_ && i < n_rows_; ++i)
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
    // out (m x count) = channels (m x n) X (n x count), all column-major. X stored by rows is X' stored by columns.
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

class SparseMatrix final : public Matrix {
  public:
    SparseMatrix(const double* data, const std::int32_t* rows, const Index* start, Index n_rows, Index n_columns)
        : data_(data), rows_(rows), start_(start), n_rows_(n_rows), n_columns_(n_columns) {}

    Index n_rows() const override { return n_rows_; }
    Index n_columns() const override { return n_columns_; }

    void gather(Index column, double* out) const override {
        std::fill(out, out + n_rows_, 0.0);
        for (Index i = start_[column]; i < start_[column + 1]; ++i) out[rows_[i]] += data_[i];
    }

    std::unique_ptr<Matrix> pick(std::span<const Index> columns) const override {
        auto picked = std::unique_ptr<SparseMatrix>(new SparseMatrix(n_rows_));
        for (Index c : columns) {
            picked->owned_data_.insert(picked->owned_data_.end(), data_ + start_[c], data_ + start_[c + 1]);
            picked->owned_rows_.insert(picked->owned_rows_.end(), rows_ + start_[c], rows_ + start_[c + 1]);
            picked->owned_start_.push_back(static_cast<Index>(picked->owned_data_.size()));
        }
        picked->data_ = picked->owned_data_.data();
        picked->rows_ = picked->owned_rows_.data();
        picked->start_ = picked->owned_start_.data();
        picked->n_columns_ = static_cast<Index>(columns.size());
        return picked;
    }

    std::size_t bytes(Index n_columns) const override {
        return (sizeof(double) + sizeof(std::int32_t)) * start_[n_columns_] / std::max(n_columns_, Index{1}) *
               n_columns;
    }

    void products(Index first, Index count, const double* channels, Index m, double* out) const override {
        std::fill(out, out + count * m, 0.0);
        for (Index c = 0; c < count; ++c) {
            const Index begin = start_[first + c], end = start_[first + c + 1];
            matrix_kernels().sparse_products(end - begin, rows_ + begin, data_ + begin, m, channels, out + c * m);
        }
    }

    void sums(Index first, Index count, const double* weight, double* out) const override {
        for (Index c = 0; c < count; ++c) {
            out[c] = 0.0;
            for (Index i = start_[first + c]; i < start_[first + c + 1]; ++i) out[c] += weight[rows_[i]] * data_[i];
        }
    }

    void squares(Index first, Index count, const double* weight, double* out) const override {
        for (Index c = 0; c < count; ++c) {
            out[c] = 0.0;
            for (Index i = start_[first + c]; i < start_[first + c + 1]; ++i)
                out[c] += weight[rows_[i]] * data_[i] * data_[i];
        }
    }

  private:
    explicit SparseMatrix(Index n_rows) : n_rows_(n_rows) {}

    std::vector<double> owned_data_;
    std::vector<std::int32_t> owned_rows_;
    std::vector<Index> owned_start_{0};
    const double* data_ = nullptr;
    const std::int32_t* rows_ = nullptr;
    const Index* start_ = nullptr;
    Index n_rows_, n_columns_ = 0;
};

}  // namespace sparsegam
