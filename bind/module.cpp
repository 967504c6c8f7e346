// bind/module.cpp: the module sparsegam._core, with one file per subject.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_design(nb::module_& m);
void bind_raw(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_penalty(nb::module_& m);
void bind_search(nb::module_& m);
void bind_interactions(nb::module_& m);

NB_MODULE(_core, m) {
    m.doc() = "The compiled core: searches for sparse models over binned or raw columns.";
    bind_design(m);
    bind_raw(m);
    bind_rows(m);
    bind_penalty(m);
    bind_search(m);
    bind_interactions(m);
}
