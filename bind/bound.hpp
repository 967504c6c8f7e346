// bind/bound.hpp: core objects together with the Python arrays that they read, which are kept alive.
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
    BoundDesign(nb::sequence codes, const InputArray<sparsegam::Index>& n_bins,
                const InputArray<sparsegam::Index>& n_ordered, const nb::object& ramps);
    const sparsegam::ThresholdDesign& get() const { return *design_; }

  private:
    std::vector<InputArray<std::uint8_t>> narrow_;
    std::vector<InputArray<std::uint16_t>> wide_;
    std::optional<sparsegam::ThresholdDesign> design_;
};

// A matrix of raw columns, dense (float32 or float64, C or Fortran order) or sparse (CSC).
class BoundMatrix {
  public:
    explicit BoundMatrix(Aligned<nb::ro, nb::ndim<2>, nb::device::cpu> dense);
    BoundMatrix(InputArray<double> data, InputArray<std::int32_t> rows, InputArray<sparsegam::Index> start,
                sparsegam::Index n_rows);
    const sparsegam::Matrix& get() const { return *matrix_; }

  private:
    nb::object kept_, kept_rows_, kept_start_;
    std::unique_ptr<sparsegam::Matrix> matrix_;
};

// Columns of a design computed from raw values.
class BoundRawColumns {
  public:
    BoundRawColumns(const nb::object& design, const InputArray<sparsegam::Index>& columns, const nb::sequence& ramps);
    const sparsegam::RawColumns& get() const { return *columns_; }

  private:
    nb::object design_;
    nb::list kept_;
    std::optional<sparsegam::RawColumns> columns_;
};

struct BoundToken {
    sparsegam::Token value;
};

// Labels and weights of the given number of rows; without weights, every row has weight one.
struct Labels {
    Labels(sparsegam::Index n_rows, InputArray<double> y, std::optional<InputArray<double>> weight);
    const double* weights() const { return weight ? weight->data() : nullptr; }
    InputArray<double> y;
    std::optional<InputArray<double>> weight;
};

// The base class of the core must come first, since nanobind uses a pointer to the object as a pointer to its base.
// Objects are constructed without the GIL. Hence the members that keep arrays alive are moved in last, and remain with
// the caller if construction fails.
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
