// bind/released.hpp: computations without the GIL, counted so that the interpreter can wait for them when it shuts
// down.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <stdexcept>

#include "sparsegam/types.hpp"

// Computations without the GIL. At shutdown they are cancelled and waited for: a thread that tries to acquire the GIL
// afterwards would be terminated within C++ code, which aborts the process. No new computation starts after that.
struct Running {
    std::atomic<bool> closing{false};
    std::atomic<sparsegam::Index> works{0};
};

inline Running& running() {
    static Running all;
    return all;
}

// While this object exists, only plain arrays and core objects may be used.
class Released {
    class Registered {
      public:
        Registered() {
            if (running().closing) throw std::runtime_error("the Python interpreter is shutting down");
            ++running().works;
        }
        ~Registered() { --running().works; }
        Registered(const Registered&) = delete;
        Registered& operator=(const Registered&) = delete;
    };

    // Destroyed after the GIL has been acquired again.
    Registered registered_;
    nanobind::gil_scoped_release released_;
};
