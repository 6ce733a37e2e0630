// The printer of C-like source, shared by the CPU's C++ and CUDA C++. Start reading here.
//
// It prints a finished module without transforming it. The output is standalone: the helpers that the kernel uses and
// the kernel, without headers. The two targets differ in function qualifiers, the loop over threads and a few helpers
// (Dialect); statements, their order and their lines are the same.
//
//     Result<EmittedKernel> cuda = source::print(module, kernel, &backward, SourceTarget::kCuda);
//     std::puts(cuda->source().c_str());
//
// After the leading range, an entry point takes the extents of all launch dimensions except the first, one `int` each,
// and then the kernel's parameters. A kernel over one dimension therefore takes only its parameters, and the linear
// index of thread (i, j) of a launch (n, m) is i * m + j.
//
// Semantics in both precisions (see EmittedKernel):
// - A literal has its value after rounding to the kernel's type, also with f64 promotion: 0.1f, never 0.1.
// - Signed integers wrap: arithmetic that may overflow is printed as wrap_add(a, b). Plain operators are used only for
//   sums, and products with extents and small constants, of thread indices, loop variables, extents and integer
//   parameters; if these overflowed, they could not index any array. 8- and 16-bit arithmetic is cast back to its type.
// - An access through a nullable array whose data pointer is null reads zero and writes nothing.
#pragma once

#include <string>

#include "backends/device/backend.hpp"
#include "backends/device/emitted_kernel.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::source {

/// Options of the printed text.
struct PrintOptions {
  /// Whether each line of the user's Python is printed as a comment above the statements generated from it.
  bool prints_source_comments = true;
  /// For CUDA: whether to print a main() that allocates the arguments, launches each entry point and prints its
  /// outputs. The text then includes headers and requires nvcc.
  bool prints_host_program = false;
};

/// Prints the source of one kernel. `forward` and `backward` (null: none) are kernels whose bodies refer to `module`;
/// `backward` has the parameters of `forward`, followed by the gradient parameters. Both must satisfy the verifier.
///
/// Fails with the source location for unsupported constructs, such as atomics of 8- and 16-bit integers on CUDA.
Result<backends::EmittedKernel> print(const ir::Module& module, const ir::Function& forward,
                                      const ir::Function* backward, backends::SourceTarget target,
                                      const PrintOptions& options = {});

/// Prints the sources for the CPU and for CUDA in one pass, because only the qualifiers, the loop over threads and the
/// helpers differ.
Result<backends::EmittedKernelPair> print_cpp_and_cuda(const ir::Module& module, const ir::Function& forward,
                                                       const ir::Function* backward);

/// "<kernel>_forward" or "<kernel>_backward", made a legal identifier.
std::string entry_symbol(const ir::Function& forward, backends::Pass pass);

}  // namespace assay::source
