#include "backends/ptx/artifacts.hpp"
#include "backends/ptx/checks/data_flow.hpp"
#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

using namespace backends;

Result<bool> is_barrier_1_redundant(const BuiltKernel& kernel, Precision precision) {
  bool asked = false;
  for (const auto& artifact : kernel.artifacts) {
    if (artifact->kind != Artifact::Kind::kPtx || artifact->precision != precision) continue;
    const Result<Module> module = parse(artifact->content, kernel.name + ".ptx");
    if (!module) return module.error();
    for (const BuiltEntryPoint& entry : kernel.entry_points) {
      if (entry.precision != precision) continue;
      const Function* const function = module->find_entry(entry.symbol);
      if (function == nullptr || !are_barriers_redundant(*module, *function, 1)) return false;
      asked = true;
    }
  }
  return asked;
}

}  // namespace assay::ptx
