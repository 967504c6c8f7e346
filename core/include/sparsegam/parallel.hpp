// sparsegam/parallel.hpp: a thread pool for numbered tasks, and the periodic check for Ctrl-C.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if !defined(_WIN32)
#include <unistd.h>
#endif

#include "types.hpp"

namespace sparsegam {

// Calls `poll` at most every 30 ms. `poll` throws an exception to cancel the work.
class Ticker {
  public:
    void set(std::function<void()> poll) { poll_ = std::move(poll); }

    void tick() {
        if (!poll_) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(30)) return;
        last_ = now;
        poll_();
    }

  private:
    std::function<void()> poll_;
    std::chrono::steady_clock::time_point last_{};
};

// Runs task(0) ... task(n - 1), in any order, on the calling thread and its helpers. Results must not depend on which
// thread runs a task: sums are split by feature or by fixed blocks of rows, never by thread.
class Pool {
  public:
    // Uses fewer threads if the system does not provide the requested number.
    explicit Pool(Index n_threads) : process_(process()) {
        try {
            for (Index t = 1; t < n_threads; ++t) helpers_.emplace_back([this] { help(); });
        } catch (const std::system_error&) {
        }
    }

    ~Pool() {
        // After a fork, the helpers exist in the parent process only and cannot be joined.
        if (forked()) {
            new std::vector<std::thread>(std::move(helpers_));
            return;
        }
        {
            std::lock_guard lock(mutex_);
            closing_ = true;
        }
        wake_.notify_all();
        for (auto& helper : helpers_) helper.join();
    }

    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    Index n_threads() const { return static_cast<Index>(helpers_.size()) + 1; }
    Ticker& ticker() { return ticker_; }

    template <class Task>
    void run(Index n_tasks, const Task& task) {
        if (helpers_.empty() || n_tasks < 2 || forked()) {
            for (Index t = 0; t < n_tasks; ++t) {
                ticker_.tick();
                task(t);
            }
            return;
        }
        const std::function<void(Index)> job = task;
        share(n_tasks, job);
        work([this] { ticker_.tick(); });
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return busy_ == 0; });
        job_ = nullptr;
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

  private:
    static Index process() {
#if defined(_WIN32)
        return 0;
#else
        return static_cast<Index>(getpid());
#endif
    }
    bool forked() const { return process() != process_; }

    void share(Index n_tasks, const std::function<void(Index)>& job) {
        {
            std::lock_guard lock(mutex_);
            job_ = &job;
            n_tasks_ = n_tasks;
            next_ = 0;
            busy_ = static_cast<Index>(helpers_.size());
            ++round_;
        }
        wake_.notify_all();
    }

    // Runs tasks until none is left. An exception on any thread ends the round and is rethrown by `run`.
    template <class Before>
    void work(const Before& before) noexcept {
        try {
            for (Index t = next_++; t < n_tasks_; t = next_++) {
                before();
                (*job_)(t);
            }
        } catch (...) {
            std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
            next_ = n_tasks_;
        }
    }

    void help() {
        Index seen = 0;
        std::unique_lock lock(mutex_);
        while (true) {
            wake_.wait(lock, [&] { return closing_ || round_ != seen; });
            if (closing_) return;
            seen = round_;
            lock.unlock();
            work([] {});
            lock.lock();
            if (--busy_ == 0) done_.notify_one();
        }
    }

    // The process that contains the helpers.
    Index process_;
    std::vector<std::thread> helpers_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::atomic<Index> next_{0};
    const std::function<void(Index)>* job_ = nullptr;
    Index n_tasks_ = 0, busy_ = 0, round_ = 0;
    bool closing_ = false;
    // The first exception of this round.
    std::exception_ptr failure_;
    Ticker ticker_;
};

}  // namespace sparsegam
