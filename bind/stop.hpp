// bind/stop.hpp: how work without the GIL hears of Ctrl-C, of the end of Python, and of other threads that end it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

#include "released.hpp"

// Ends searches from another thread.
struct Stop {
    std::shared_ptr<std::atomic<bool>> asked = std::make_shared<std::atomic<bool>>(false);
};

// Signal handlers run only where Python asks for them, on its main thread; elsewhere they do nothing.
inline std::function<void()> poll_of(const std::optional<Stop>& stop) {
    return [asked = stop ? stop->asked : nullptr] {
        if (running().closing || (asked && *asked)) throw std::runtime_error("the search was stopped");
        nanobind::gil_scoped_acquire held;
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    };
}
