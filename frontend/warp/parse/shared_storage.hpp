// Rejects kernels in which Warp gives two names the same storage where Python copies a value, if that matters.
//
// Warp binds the names of a multiple assignment `a, b = e1, e2` to the values themselves, without copies. If a value is
// a variable, both names stand for this variable; if it is an array element or a field of a struct, the name is a
// reference that is read again at each use. The same holds for `a = v if C else w` with a constant condition C and a
// variable as the chosen value. A single assignment `a = v` copies.
//
// An assignment to a whole name gives the name new storage, so shared storage matters only if it is overwritten: by an
// assignment to a component or field, by a function that changes its argument, by a store to the array, or at the end
// of each iteration of a loop that Warp does not unroll. There, Warp copies the new value of each variable that the
// iteration has assigned back into the storage that it had before the loop, in the order of the first assignments of
// the names.
#pragma once

#include "frontend/warp/parse/function_context.hpp"

namespace assay::frontend {

/// Rejects the function, after its body was parsed, if a name is read after its shared storage was overwritten, or if
/// Warp rejects the assignment of a name that is a reference.
void reject_overwritten_storage(FunctionContext& context);

/// Rejects the function, after its body was parsed, if a name has values of different types in different blocks: in
/// Warp, a name has one type in the whole function.
void reject_names_of_two_types(FunctionContext& context);

}  // namespace assay::frontend
