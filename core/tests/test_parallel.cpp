// core/tests/test_parallel.cpp: every task runs exactly once on any thread, and exceptions end the round but not the
// pool.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "sparsegam/parallel.hpp"

using namespace sparsegam;

namespace {

// Checks that each of n tasks runs exactly once.
void check_round(Pool& pool, Index n_tasks, const std::string& where) {
    std::vector<std::atomic<int>> runs(n_tasks);
    pool.run(n_tasks, [&](Index t) { ++runs[t]; });
    for (auto& r : runs) CHECK(r == 1, where + ", " + std::to_string(n_tasks) + " tasks");
}

void test_run_executes_every_task_once() {
    for (Index n_threads : {1, 2, 3, 8}) {
        Pool pool(n_threads);
        const std::string where = std::to_string(n_threads) + " threads";
        CHECK(pool.n_threads() == n_threads, where);
        for (Index n_tasks : {0, 1, 2, 3, 7, 8, 9, 1000}) check_round(pool, n_tasks, where);
        for (int round = 0; round < 300; ++round) check_round(pool, round % 5, where);
    }
}

void test_destruction_of_an_idle_pool() {
    for (Index n_threads : {1, 2, 8}) Pool pool(n_threads);
}

struct Stop : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void wait_briefly() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

template <class Task>
bool stops(Pool& pool, Index n_tasks, const Task& task) {
    try {
        pool.run(n_tasks, task);
    } catch (const Stop& stop) {
        return std::string(stop.what()) == "enough";
    }
    return false;
}

void test_exception_of_the_ticker_ends_run() {
    for (Index n_threads : {1, 2, 4}) {
        Pool pool(n_threads);
        const std::string where = std::to_string(n_threads) + " threads";
        int polls = 0;
        pool.ticker().set([&] {
            if (++polls == 3) throw Stop("enough");
        });
        std::atomic<Index> runs{0};
        const auto task = [&](Index) {
            wait_briefly();
            ++runs;
        };
        CHECK(stops(pool, 100000, task), where);
        CHECK(polls == 3 && runs < 10000, where);
        check_round(pool, 100, where + " after the ticker stopped a round");
        for (int again = 0; again < 20; ++again) {
            polls = 2;
            CHECK(stops(pool, 100000, task), where);
        }
        pool.ticker().set({});
        check_round(pool, 1000, where + " without a ticker");
    }
}

// A task that throws, for example because memory is exhausted, must not terminate the process, whichever thread it runs
// on.
void test_run_rethrows_exceptions_of_tasks() {
    for (Index n_threads : {1, 2, 4}) {
        Pool pool(n_threads);
        const std::string where = std::to_string(n_threads) + " threads";
        for (int again = 0; again < 20; ++again) {
            CHECK(stops(pool, 1000,
                        [](Index t) {
                            wait_briefly();
                            if (t >= 2) throw Stop("enough");
                        }),
                  where);
            check_round(pool, 10, where + " after a task threw");
        }
    }
}

void test_ticker_polls_at_most_every_30_ms() {
    Ticker ticker;
    int polls = 0;
    ticker.tick();
    ticker.set([&] { ++polls; });
    for (int i = 0; i < 10000; ++i) ticker.tick();
    CHECK(polls >= 1 && polls < 100, std::to_string(polls) + " polls");
    const int before = polls;
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    ticker.tick();
    CHECK(polls == before + 1, "a tick after 40 ms");
}

}  // namespace

int main() {
    test_run_executes_every_task_once();
    test_destruction_of_an_idle_pool();
    test_exception_of_the_ticker_ends_run();
    test_run_rethrows_exceptions_of_tasks();
    test_ticker_polls_at_most_every_30_ms();
    return finish("parallel");
}
