// sparsegam/column_sparse.hpp: a sparse matrix by columns (CSC); its zeros are never written out.
#pragma once

#include "column_matrix.hpp"

namespace sparsegam {

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
            picked->own_data_.insert(picked->own_data_.end(), data_ + start_[c], data_ + start_[c + 1]);
            picked->own_rows_.insert(picked->own_rows_.end(), rows_ + start_[c], rows_ + start_[c + 1]);
            picked->own_start_.push_back(static_cast<Index>(picked->own_data_.size()));
        }
        picked->data_ = picked->own_data_.data();
        picked->rows_ = picked->own_rows_.data();
        picked->start_ = picked->own_start_.data();
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

    std::vector<double> own_data_;
    std::vector<std::int32_t> own_rows_;
    std::vector<Index> own_start_{0};
    const double* data_ = nullptr;
    const std::int32_t* rows_ = nullptr;
    const Index* start_ = nullptr;
    Index n_rows_, n_columns_ = 0;
};

}  // namespace sparsegam
