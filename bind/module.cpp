// bind/module.cpp: the module sparsegam._core: borrows LAPACK from SciPy, then binds one noun a file.
#include <nanobind/nanobind.h>

#include "sparsegam/linalg.hpp"

namespace nb = nanobind;

void bind_design(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_search(nb::module_& m);
void bind_cuts(nb::module_& m);

namespace {

// SciPy publishes its BLAS and LAPACK as capsules for Cython; a capsule's name is the routine's signature.
template <class Routine>
void borrow(Routine& routine, const char* module, const char* name) {
    nb::object capsule = nb::module_::import_(module).attr("__pyx_capi__")[name];
    void* pointer = PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr()));
    if (!pointer) throw nb::python_error();
    routine = reinterpret_cast<Routine>(pointer);
}

void borrow_lapack() {
    auto& routines = sparsegam::lapack();
    borrow(routines.dpotrf, "scipy.linalg.cython_lapack", "dpotrf");
    borrow(routines.dpotri, "scipy.linalg.cython_lapack", "dpotri");
    borrow(routines.dgemm, "scipy.linalg.cython_blas", "dgemm");
    borrow(routines.sgemm, "scipy.linalg.cython_blas", "sgemm");
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled core: bin codes in, sparse additive models out. No policy lives here.";
    borrow_lapack();
    bind_design(m);
    bind_rows(m);
    bind_search(m);
    bind_cuts(m);
}
