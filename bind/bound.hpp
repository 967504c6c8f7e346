// bind/bound.hpp: core objects with the Python arrays that they read kept alive beside them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "arrays.hpp"
#include "sparsegam/rows_local.hpp"

class BoundDesign {
  public:
    BoundDesign(nb::sequence codes, const Vector<sparsegam::Index>& n_bins,
                const Vector<sparsegam::Index>& n_ordered);
    const sparsegam::ThresholdDesign& get() const { return *design_; }

  private:
    nb::list kept_;
    std::optional<sparsegam::ThresholdDesign> design_;
};

class BoundRows {
  public:
    BoundRows(nb::object design, Vector<double> y, Vector<double> weight, const std::string& loss,
              sparsegam::Index n_threads);
    sparsegam::ThresholdRows& get() { return *rows_; }

  private:
    nb::object design_;
    Vector<double> y_, weight_;
    std::unique_ptr<sparsegam::ThresholdRows> rows_;
};
