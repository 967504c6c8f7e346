// tests/emulated_card.hpp: just enough of CUDA to run the kernels on this machine, one block at a time.
//
// Each thread of a block is a fiber; __syncthreads() hands over to the next one. So every kernel runs as it is written,
// barriers included, where there is no card; what it cannot show are races, for which there is compute-sanitizer.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)

struct Three {
    unsigned x, y, z;
};
struct uchar4 {
    unsigned char x, y, z, w;
};
struct ushort4 {
    unsigned short x, y, z, w;
};
struct uint4 {
    unsigned x, y, z, w;
};
struct float4 {
    float x, y, z, w;
};

static Three threadIdx, blockIdx, blockDim, gridDim;
static unsigned char* shared;

static inline int __ffs(unsigned bits) { return __builtin_ffs(static_cast<int>(bits)); }
static inline int __float2int_rn(float value) { return static_cast<int>(std::nearbyintf(value)); }

template <class Number>
Number atomicAdd(Number* at, Number value) {
    const Number before = *at;
    *at += value;
    return before;
}

using std::fabs;
using std::fmax;
using std::frexp;

namespace emulator {

constexpr std::size_t stack_bytes = 1 << 16;

struct Fiber {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(stack_bytes);
    bool done = false;
};

static std::vector<Fiber> fibers;
static ucontext_t scheduler;
static std::function<void()> body;
static unsigned current;

static void run_fiber() {
    body();
    fibers[current].done = true;
    swapcontext(&fibers[current].context, &scheduler);
}

static void start(unsigned t) {
    Fiber& fiber = fibers[t];
    fiber.done = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = &scheduler;
    makecontext(&fiber.context, run_fiber, 0);
}

static void run_block(unsigned threads) {
    if (fibers.size() < threads) fibers.resize(threads);
    for (unsigned t = 0; t < threads; ++t) start(t);
    for (unsigned left = threads; left > 0;)
        for (unsigned t = 0; t < threads; ++t) {
            if (fibers[t].done) continue;
            current = t;
            threadIdx = {t, 0, 0};
            swapcontext(&scheduler, &fibers[t].context);
            if (fibers[t].done) --left;
        }
}

template <class... Args, std::size_t... I>
std::function<void()> bound(void (*kernel)(Args...), void** given, std::index_sequence<I...>) {
    return [=] { kernel(*static_cast<Args*>(given[I])...); };
}

using Maker = std::function<std::function<void()>(void**)>;

template <class... Args>
Maker maker(void (*kernel)(Args...)) {
    return [=](void** given) { return bound(kernel, given, std::index_sequence_for<Args...>()); };
}

}  // namespace emulator

static inline void __syncthreads() {
    const unsigned mine = emulator::current;
    swapcontext(&emulator::fibers[mine].context, &emulator::scheduler);
    threadIdx = {mine, 0, 0};
}

static std::map<std::string, emulator::Maker>& kernels();

extern "C" int launch(const char* name, const unsigned* grid, unsigned threads, std::size_t shared_bytes,
                      void** given) {
    const auto found = kernels().find(name);
    if (found == kernels().end()) return 1;
    std::vector<double> room(shared_bytes / sizeof(double) + 2);
    shared = reinterpret_cast<unsigned char*>(room.data());
    blockDim = {threads, 1, 1};
    gridDim = {grid[0], grid[1], grid[2]};
    emulator::body = found->second(given);
    for (unsigned z = 0; z < grid[2]; ++z)
        for (unsigned y = 0; y < grid[1]; ++y)
            for (unsigned x = 0; x < grid[0]; ++x) {
                blockIdx = {x, y, z};
                emulator::run_block(threads);
            }
    return 0;
}
