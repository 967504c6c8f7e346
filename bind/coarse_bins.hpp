// bind/coarse_bins.hpp: conversion of coarse bins and of pairs of features from and to Python.
#pragma once

#include <nanobind/stl/tuple.h>

#include <span>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "sparsegam/rows.hpp"

using PairArray = Aligned<const sparsegam::Index, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

// Converts a tuple (of_bin, n_ordered, n_coarse) or None for each feature.
inline std::vector<sparsegam::CoarseBins> coarse_bins_from(const nb::sequence& given) {
    using Tuple = std::tuple<InputArray<std::uint8_t>, sparsegam::Index, sparsegam::Index>;
    std::vector<sparsegam::CoarseBins> coarse_bins;
    for (nb::handle each : given) {
        auto& made = coarse_bins.emplace_back();
        if (each.is_none()) continue;
        const auto [of_bin, n_ordered, n_coarse] = nb::cast<Tuple>(each);
        made = {copied(of_bin), n_ordered, n_coarse};
    }
    return coarse_bins;
}

inline nb::list as_tuples(std::span<const sparsegam::CoarseBins> coarse_bins) {
    nb::list out;
    for (const sparsegam::CoarseBins& each : coarse_bins) {
        if (each.of_bin.empty())
            out.append(nb::none());
        else
            out.append(nb::make_tuple(as_numpy(std::vector(each.of_bin)), each.n_ordered, each.n_coarse));
    }
    return out;
}

inline std::vector<sparsegam::FeaturePair> pairs_from(const PairArray& given) {
    std::vector<sparsegam::FeaturePair> pairs;
    for (std::size_t i = 0; i < given.shape(0); ++i) pairs.emplace_back(given(i, 0), given(i, 1));
    return pairs;
}

inline nb::object as_array(std::span<const sparsegam::FeaturePair> pairs) {
    std::vector<sparsegam::Index> flat;
    for (const auto& [a, b] : pairs) flat.insert(flat.end(), {a, b});
    return as_numpy(std::move(flat)).attr("reshape")(-1, 2);
}
