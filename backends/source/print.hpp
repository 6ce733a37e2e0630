// The printer of C-like source, shared by the CPU's C++ and CUDA C++. Start reading here.
//
// It takes a finished module and only spells: nothing is rewritten. What it makes is standalone: the helpers that the
// kernel uses, then the kernel, and no header. The two targets differ in the qualifiers of functions, in the loop over
// threads and in a few helpers (Dialect); statements, their order and their lines are the same.
//
//     Result<EmittedKernel> cuda = source::print(module, kernel, &backward, SourceTarget::kCuda);
//     std::puts(cuda->source().c_str());
//
// An entry point takes, behind the leading range, the extents of all launch dimensions but the first, one `int` each,
// and then the kernel's parameters. So a kernel over one dimension takes its parameters only, and the linear number of
// thread (i, j) of a launch (n, m) is i * m + j.
//
// Meaning that the text keeps in both lanes (see EmittedKernel):
// - A literal has its value after rounding to the kernel's type, also in the lift: 0.1f, never 0.1.
// - Signed integers wrap: what may overflow is spelt wrap_add(a, b). Only sums, and products with extents and small
//   constants, of thread indices, loop variables, extents and integer parameters are spelt plainly; where these
//   overflow, no array could be indexed by them. 8- and 16-bit arithmetic is cast back to its type.
// - An access through a nullable array whose data pointer is null reads zero and writes nothing.
#pragma once

#include <string>

#include "backends/device/backend.hpp"
#include "backends/device/emitted_kernel.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::source {

struct Options {
  /// Print a line of the user's Python above the statements made from it.
  bool source_comments = true;
  /// CUDA: add a main() that allocates the arguments, launches each entry point and prints what it wrote. The text then
  /// includes headers and is for nvcc only.
  bool with_host = false;
};

/// The source of one kernel. `forward` and `backward` (null: none) are kernels whose bodies refer to `module`; the
/// latter has forward's parameters, followed by those of the gradients. Both must satisfy the verifier.
///
/// Fails, naming the place, on what a target cannot express yet: atomics of 8- and 16-bit integers
/// on CUDA.
Result<backends::EmittedKernel> print(const ir::Module& module, const ir::Function& forward,
                                      const ir::Function* backward, backends::SourceTarget target,
                                      const Options& options = {});

/// The sources for both targets: what print gives for each, in one walk over the kernel, as all but the qualifiers, the
/// loop over threads and the helpers are the same.
Result<backends::EmittedPair> print_pair(const ir::Module& module, const ir::Function& forward,
                                         const ir::Function* backward);

/// "<kernel>_forward" or "<kernel>_backward", made a legal identifier.
std::string entry_symbol(const ir::Function& forward, backends::Pass pass);

}  // namespace assay::source
