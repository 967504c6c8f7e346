// bind/bound.hpp: core objects with the Python arrays that they read kept alive beside them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "arrays.hpp"
#include "sparsegam/rows_matrix.hpp"
#include "sparsegam/rows_threshold.hpp"

class BoundDesign {
  public:
    BoundDesign(nb::sequence codes, const Vector<sparsegam::Index>& n_bins, const Vector<sparsegam::Index>& n_ordered);
    const sparsegam::ThresholdDesign& get() const { return *design_; }

  private:
    nb::list kept_;
    std::optional<sparsegam::ThresholdDesign> design_;
};

// A matrix of raw columns, dense (float32 or float64, by rows or by columns) or sparse (CSC).
class BoundMatrix {
  public:
    explicit BoundMatrix(nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu> dense);
    BoundMatrix(Vector<double> data, Vector<std::int32_t> rows, Vector<sparsegam::Index> start,
                sparsegam::Index n_rows);
    const sparsegam::Matrix& get() const { return *matrix_; }

  private:
    nb::object kept_, kept_rows_, kept_start_;
    std::unique_ptr<sparsegam::Matrix> matrix_;
};

class BoundRows {
  public:
    BoundRows(nb::object design, Vector<double> y, Vector<double> weight, const std::string& loss,
              sparsegam::Index n_threads, std::size_t max_bytes);
    sparsegam::LocalRows& get() { return *rows_; }

  private:
    nb::object design_;
    Vector<double> y_, weight_;
    std::unique_ptr<sparsegam::LocalRows> rows_;
};
