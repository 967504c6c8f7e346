// bind/stop.hpp: cancellation of computations without the GIL: by Ctrl-C, at shutdown of the interpreter, or from other
// threads.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

#include "released.hpp"

// A flag with which other threads cancel searches.
struct Stop {
    std::shared_ptr<std::atomic<bool>> is_stopped = std::make_shared<std::atomic<bool>>(false);
};

// Signal handlers run on the main thread of Python only, where PyErr_CheckSignals calls them; on other threads it does
// nothing.
inline std::function<void()> poll_of(const std::optional<Stop>& stop) {
    return [is_stopped = stop ? stop->is_stopped : nullptr] {
        if (running().closing || (is_stopped && *is_stopped)) throw std::runtime_error("the search was stopped");
        nanobind::gil_scoped_acquire held;
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    };
}
