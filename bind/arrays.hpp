// bind/arrays.hpp: types of arrays passed from Python, and conversion of vectors to NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sparsegam/types.hpp"

namespace nb = nanobind;

// An input array whose data are aligned for their type. Unaligned views of bytes, which occur when messages from other
// processes are unpacked, are copied.
template <class... Facts>
struct Aligned : nb::ndarray<Facts...> {
    using Plain = nb::ndarray<Facts...>;
    using Plain::Plain;
    Aligned(const Plain& array) : Plain(array) {}

    bool is_aligned() const {
        const std::uintptr_t bytes = this->dtype().bits / 8;
        return bytes == 0 || reinterpret_cast<std::uintptr_t>(this->data()) % bytes == 0;
    }
};

template <class... Facts>
struct nb::detail::type_caster<Aligned<Facts...>> {
    using Plain = nb::ndarray<Facts...>;
    NB_TYPE_CASTER(Aligned<Facts...>, nb::detail::make_caster<Plain>::Name)

    bool from_python(nb::handle source, auto flags, nb::detail::cleanup_list* cleanup) noexcept {
        if (!take(source, flags, cleanup)) return false;
        if (value.is_aligned()) return true;
        try {
            return take(nb::module_::import_("numpy").attr("array")(source), flags, cleanup);
        } catch (...) {
            return false;
        }
    }

    static nb::handle from_cpp(const Plain& array, nb::rv_policy policy, nb::detail::cleanup_list* cleanup) noexcept {
        return nb::detail::make_caster<Plain>::from_cpp(array, policy, cleanup);
    }

  private:
    bool take(nb::handle source, auto flags, nb::detail::cleanup_list* cleanup) noexcept {
        nb::detail::make_caster<Plain> plain;
        if (!plain.from_python(source, flags, cleanup)) return false;
        value = plain.value;
        return true;
    }
};

template <class T>
using InputArray = Aligned<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> view(const InputArray<T>& array) {
    return {array.data(), array.shape(0)};
}

template <class T>
std::vector<T> copied(const InputArray<T>& array) {
    return {array.data(), array.data() + array.shape(0)};
}

// Passes the memory of a vector to NumPy without a copy.
template <class T>
nb::object as_numpy(std::vector<T> values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner));
}
