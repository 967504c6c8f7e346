// tests/_helpers/emulated_device.hpp: the part of CUDA that the kernels use, implemented on the host, one block at a time.
//
// Each thread of a block is a fiber, and __syncthreads() switches to the next one. Every kernel therefore runs unchanged,
// including its barriers. Race conditions cannot be found in this way; compute-sanitizer finds them on a CUDA device.
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

struct Index {
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

static Index threadIdx, blockIdx, blockDim, gridDim;
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

static void prepare_fiber(unsigned t) {
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
    for (unsigned t = 0; t < threads; ++t) prepare_fiber(t);
    for (unsigned n_running = threads; n_running > 0;)
        for (unsigned t = 0; t < threads; ++t) {
            if (fibers[t].done) continue;
            current = t;
            threadIdx = {t, 0, 0};
            swapcontext(&scheduler, &fibers[t].context);
            if (fibers[t].done) --n_running;
        }
}

template <class... Args, std::size_t... I>
std::function<void()> call_with(void (*kernel)(Args...), void** arguments, std::index_sequence<I...>) {
    return [=] { kernel(*static_cast<Args*>(arguments[I])...); };
}

using Maker = std::function<std::function<void()>(void**)>;

template <class... Args>
Maker maker(void (*kernel)(Args...)) {
    return [=](void** arguments) { return call_with(kernel, arguments, std::index_sequence_for<Args...>()); };
}

}  // namespace emulator

static inline void __syncthreads() {
    const unsigned self = emulator::current;
    swapcontext(&emulator::fibers[self].context, &emulator::scheduler);
    threadIdx = {self, 0, 0};
}

static std::map<std::string, emulator::Maker>& kernels();

extern "C" int launch(const char* name, const unsigned* grid, unsigned threads, std::size_t shared_bytes,
                      void** arguments) {
    const auto found = kernels().find(name);
    if (found == kernels().end()) return 1;
    std::vector<double> buffer(shared_bytes / sizeof(double) + 2);
    shared = reinterpret_cast<unsigned char*>(buffer.data());
    blockDim = {threads, 1, 1};
    gridDim = {grid[0], grid[1], grid[2]};
    emulator::body = found->second(arguments);
    for (unsigned z = 0; z < grid[2]; ++z)
        for (unsigned y = 0; y < grid[1]; ++y)
            for (unsigned x = 0; x < grid[0]; ++x) {
                blockIdx = {x, y, z};
                emulator::run_block(threads);
            }
    return 0;
}
