// bind/released.hpp: work without the GIL, counted, so that the end of Python can wait for it.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <stdexcept>

#include "sparsegam/types.hpp"

// Work that runs now. When Python ends it is told to, and waited for: a thread that came back to a Python that is gone
// would be ended within our code, which ends the process. Nothing begins after that.
struct Running {
    std::atomic<bool> closing{false};
    std::atomic<sparsegam::Index> works{0};
};

inline Running& running() {
    static Running all;
    return all;
}

// Holds what only plain arrays and core objects may be touched under.
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

    Registered registered_;  // until the GIL is back
    nanobind::gil_scoped_release released_;
};
