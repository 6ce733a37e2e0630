#include "harness/suite/emission.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "harness/suite/select/select.hpp"

namespace assay::harness {

Result<LoadedKernel> load_kernel(const std::string& selector, bool backward) {
  Result<Selection> selection = select({selector}, {.random_kernels_per_family = 0});
  if (!selection.ok()) return selection.error();
  std::vector<std::string> names;
  for (const SelectedKernel& one : selection->kernels)
    names.push_back(one.source.selector);
  if (names.size() > 1) {
    constexpr std::size_t kMostNamed = 8;
    const std::size_t count = names.size();
    names.resize(std::min(count, kMostNamed));
    return Error{fmt::format("matches {} kernels; choose one of {}{}", count, fmt::join(names, ", "),
                             count > kMostNamed ? ", ..." : ""),
                 selector};
  }
  LoadedKernel subject{.source = std::move(selection->kernels.front().source), .adjoint = std::nullopt};
  if (subject.source.parse_error) return *subject.source.parse_error;
  if (backward) {
    Result<transforms::AdjointModule> adjoint = transforms::make_adjoint(*subject.source.module, subject.kernel());
    if (!adjoint.ok()) return adjoint.error();
    subject.adjoint = adjoint.take();
  }
  return subject;
}

Result<backends::EmittedKernel> emit_source(const LoadedKernel& subject, backends::SourceTarget target,
                                            const source::PrintOptions& options) {
  const ir::Module& module = subject.adjoint ? subject.adjoint->module : *subject.source.module;
  const ir::Function* backward = subject.adjoint ? &subject.adjoint->module.kernels.front() : nullptr;
  return source::print(module, subject.kernel(), backward, target, options);
}

Printer printer() {
  return [](const ir::Module& module, const ir::Function& forward, const ir::Function* backward,
            backends::SourceTarget target) { return source::print(module, forward, backward, target); };
}

PairPrinter pair_printer() { return source::print_cpp_and_cuda; }

}  // namespace assay::harness
