// core/tests/check.hpp: checks that report failures and continue. `finish` returns the exit status of main.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>

inline int failures = 0;

inline void report_failure(const char* file, int line, const std::string& what) {
    if (++failures <= 20) std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
}

// Whether `got` is within `tolerance` of `expected`. Equal infinities are near each other, NaN is near nothing.
inline bool is_near(double got, double expected, double tolerance) {
    return got == expected || std::abs(got - expected) <= tolerance;
}

inline std::string difference(const char* what, double got, double expected) {
    char text[200];
    std::snprintf(text, sizeof text, "%s is %.17g, expected %.17g", what, got, expected);
    return text;
}

// `where` describes the case. It is evaluated only if the check fails.
#define CHECK(condition, where)                                                                         \
    do {                                                                                                \
        if (!(condition)) report_failure(__FILE__, __LINE__, std::string(#condition " in ") + (where)); \
    } while (false)

#define CHECK_NEAR(got, expected, tolerance, where)                                                   \
    do {                                                                                              \
        const double got_ = (got), expected_ = (expected);                                            \
        if (!is_near(got_, expected_, (tolerance)))                                                   \
            report_failure(__FILE__, __LINE__, difference(#got, got_, expected_) + " in " + (where)); \
    } while (false)

inline int finish(const char* name) {
    if (failures == 0)
        std::printf("%s: all checks passed\n", name);
    else
        std::printf("%s: %d checks failed\n", name, failures);
    return failures == 0 ? 0 : 1;
}
