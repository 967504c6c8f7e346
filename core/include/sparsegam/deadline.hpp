// sparsegam/deadline.hpp: the time that a search has.
#pragma once

#include <chrono>

#include "types.hpp"

namespace sparsegam {

// How long a search may go on. What it has when time is up is its answer. Beyond 30 years there is no limit.
class Deadline {
  public:
    explicit Deadline(double seconds = infinity)
        : limited_(seconds < 1e9),
          end_(std::chrono::steady_clock::now() + std::chrono::microseconds(limited_ ? Index(seconds * 1e6) : 0)) {}

    bool passed() const { return limited_ && std::chrono::steady_clock::now() >= end_; }

  private:
    bool limited_;
    std::chrono::steady_clock::time_point end_;
};

}  // namespace sparsegam
