// bind/bound.hpp: core objects with the Python arrays that they read kept alive beside them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "sparsegam/rows_matrix.hpp"
#include "sparsegam/rows_raw.hpp"
#include "sparsegam/rows_threshold.hpp"

class BoundDesign {
  public:
    BoundDesign(nb::sequence codes, const Vector<sparsegam::Index>& n_bins, const Vector<sparsegam::Index>& n_ordered,
                const nb::object& ramps);
    const sparsegam::ThresholdDesign& get() const { return *design_; }

  private:
    std::vector<Vector<std::uint8_t>> narrow_;
    std::vector<Vector<std::uint16_t>> wide_;
    std::optional<sparsegam::ThresholdDesign> design_;
};

// A matrix of raw columns, dense (float32 or float64, by rows or by columns) or sparse (CSC).
class BoundMatrix {
  public:
    explicit BoundMatrix(Aligned<nb::ro, nb::ndim<2>, nb::device::cpu> dense);
    BoundMatrix(Vector<double> data, Vector<std::int32_t> rows, Vector<sparsegam::Index> start,
                sparsegam::Index n_rows);
    const sparsegam::Matrix& get() const { return *matrix_; }

  private:
    nb::object kept_, kept_rows_, kept_start_;
    std::unique_ptr<sparsegam::Matrix> matrix_;
};

// Columns of a design by the rows' own values.
class BoundRawColumns {
  public:
    BoundRawColumns(const nb::object& design, const Vector<sparsegam::Index>& columns, const nb::sequence& ramps);
    const sparsegam::RawColumns& get() const { return *columns_; }

  private:
    nb::object design_;
    nb::list kept_;
    std::optional<sparsegam::RawColumns> columns_;
};

struct BoundToken {
    sparsegam::Token held;
};

// Labels and weights of a design with so many rows; without weights, all rows weigh one.
struct Labels {
    Labels(sparsegam::Index n_rows, Vector<double> y, std::optional<Vector<double>> weight);
    const double* weights() const { return weight ? weight->data() : nullptr; }
    Vector<double> y;
    std::optional<Vector<double>> weight;
};

// The core's rows must come first: nanobind takes a pointer to the whole for one to its base. They are made without the
// GIL, so what keeps the arrays alive is moved in at the end, and stays with the caller where that fails.
class BoundThresholdRows final : public sparsegam::ThresholdRows {
  public:
    BoundThresholdRows(const sparsegam::ThresholdDesign& design, nb::object&& owner, Labels&& labels,
                       sparsegam::Loss loss, sparsegam::Index n_threads);

  private:
    nb::object owner_;
    Labels labels_;
};

class BoundMatrixRows final : public sparsegam::MatrixRows {
  public:
    BoundMatrixRows(const sparsegam::Matrix& matrix, nb::object&& owner, Labels&& labels, sparsegam::Loss loss,
                    sparsegam::Index n_threads, std::size_t max_bytes);

  private:
    nb::object owner_;
    Labels labels_;
};

class BoundRawRows final : public sparsegam::RawRows {
  public:
    BoundRawRows(const sparsegam::RawColumns& raw, const sparsegam::ColumnInfo& binned_info, nb::object&& owner,
                 Labels&& labels, sparsegam::Loss loss, sparsegam::Index n_threads);

  private:
    nb::object owner_;
    Labels labels_;
};
