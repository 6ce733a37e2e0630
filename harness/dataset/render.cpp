#include "harness/dataset/render.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "backends/source/warp/writer.hpp"
#include "harness/suite/select/kernel_file.hpp"
#include "ir/analysis.hpp"
#include "ir/text.hpp"
#include "ir/verifier.hpp"
#include "ir/visit.hpp"
#include "support/hash.hpp"

namespace assay::dataset {
namespace {

using backends::EmittedKernel;
using backends::Pass;

std::string_view intent_of(const ir::ParameterUse& use, ir::Type type) {
  if (!use.changed()) return use.read || type.is_value() ? "in" : "unused";
  return use.read || use.is_atomically_updated ? "inout" : "out";
}

std::vector<KernelParameter> signature_of(const ir::Module& module, const ir::Function& kernel,
                                          const ir::ParameterUses& uses) {
  std::vector<KernelParameter> signature;
  for (std::size_t p = 0; p < uses.size(); ++p) {
    const ir::Variable& variable = kernel.variables[p];
    signature.push_back({.name = variable.name,
                         .type = ir::to_text(module, variable.type),
                         .rank = variable.type.rank,
                         .intent = std::string(intent_of(uses[p], variable.type)),
                         .is_differentiable = ir::is_differentiable(module, variable.type)});
  }
  return signature;
}

/// Checks the kernel's own statements first; only array arguments of functions need the whole analysis.
bool has_float_atomics(const ir::Module& module, const ir::Function& kernel) {
  bool own = false;
  ir::for_each_statement(kernel.body, [&](const ir::Stmt& statement) {
    const auto* const atomic = std::get_if<ir::Atomic>(&statement.node);
    const ir::Expr* const array = atomic == nullptr ? nullptr : &kernel.expr(atomic->array);
    own |= array != nullptr && array->kind == ir::ExprKind::kVariable && kernel.is_parameter(array->variable) &&
           ir::is_differentiable(module, kernel.var(array->variable).type);
  });
  if (own || module.functions.empty()) return own;
  const ir::ParameterUses uses = ir::parameter_use(module, kernel);
  for (std::size_t p = 0; p < uses.size(); ++p) {
    if (uses[p].is_atomically_updated && ir::is_differentiable(module, kernel.variables[p].type)) return true;
  }
  return false;
}

/// Start of the line with the first occurrence of the entry point's symbol.
std::size_t start_of(const backends::EntryPoint& entry, std::string_view body) {
  const std::string symbol = entry.symbol + "(";
  const auto found =
      std::search(body.begin(), body.end(), std::boyer_moore_horspool_searcher(symbol.begin(), symbol.end()));
  return body.rfind('\n', static_cast<std::size_t>(found - body.begin())) + 1;
}

}  // namespace

EntryTexts entry_texts(const EmittedKernel& kernel) {
  EntryTexts texts;
  std::string_view body = kernel.body;
  for (auto entry = kernel.entry_points.rbegin(); entry != kernel.entry_points.rend(); ++entry) {
    const std::size_t start = start_of(*entry, body);
    std::string_view text = body.substr(start);
    while (text.ends_with("\n\n"))
      text.remove_suffix(1);
    (entry->pass == Pass::kForward ? texts.forward : texts.backward) = text;
    body = body.substr(0, start);
  }
  return texts;
}

Result<RenderedKernel> render(harness::KernelSource source, const harness::PairPrinter& printer) {
  if (source.parse_error) return *source.parse_error;
  const ir::Module& module = *source.module;
  const ir::Function& kernel = module.kernels[source.kernel_index];
  if (const auto diagnostics = ir::verify(module); !diagnostics.empty()) {
    return Error{diagnostics.front().message, fmt::format("line {}", diagnostics.front().loc.line)};
  }
  const Result<transforms::AdjointModule> adjoint = transforms::make_adjoint(module, kernel);
  if (!adjoint.ok()) return adjoint.error();
  const bool differentiable = !adjoint->gradient_parameters.empty();
  const ir::Module& printed = differentiable ? adjoint->module : module;
  const ir::Function* backward = differentiable ? &adjoint->module.kernels[0] : nullptr;
  const Result<backends::EmittedKernelPair> sources = printer(printed, kernel, backward);
  if (!sources.ok()) return sources.error();
  const auto& [cpp, cuda] = *sources;
  EntryTexts cpp_texts = entry_texts(cpp);
  EntryTexts cuda_texts = entry_texts(cuda);
  const ir::ParameterUses uses = ir::parameter_use(module, kernel);

  RenderedKernel rendered;
  rendered.canonical_ir = ir::to_text(module, ir::NamingScheme::kCanonical);
  rendered.row = {.id = sha256_hex(rendered.canonical_ir),
                  .family = source.family,
                  .kernel_name = kernel.name,
                  .python_source = source.python,
                  .cpu_forward = std::move(cpp_texts.forward),
                  .cpu_backward = std::move(cpp_texts.backward),
                  .cuda_forward = std::move(cuda_texts.forward),
                  .cuda_backward = std::move(cuda_texts.backward),
                  .cpu_source = cpp.source(),
                  .cuda_source = cuda.source(),
                  .signature = signature_of(module, kernel, uses),
                  .launch = {.rank = kernel.launch_rank, .preconditions = kernel.annotations},
                  .description = describe(module, kernel),
                  .difficulty = measure_difficulty(module, kernel)};
  rendered.has_gradients = differentiable;
  rendered.has_order_dependent_forward_pass = has_float_atomics(module, kernel);
  rendered.has_order_dependent_backward_pass = backward != nullptr && has_float_atomics(adjoint->module, *backward);
  rendered.source = std::move(source);
  return rendered;
}

std::string file_of(std::string_view name, std::string_view kernel_name) {
  const std::size_t slash = name.find('/');
  const bool is_named =
      slash != std::string_view::npos && name.substr(0, slash) != kUserFamily && name.substr(slash + 1) != kernel_name;
  return fmt::format("{}.py", is_named ? kernel_name : name);
}

Result<harness::KernelSource> read_kernel(const std::string& python, std::string_view name, const std::string& file) {
  Result<harness::KernelSet> read = harness::read_text(python, file);
  if (!read.ok()) return read.error();
  if (read->kernels.size() != 1) {
    return Error{fmt::format("source must define exactly one kernel, got {}", read->kernels.size()), file};
  }
  harness::KernelSource source = std::move(read->kernels.front());
  if (source.parse_error) return *source.parse_error;
  const std::size_t slash = name.find('/');
  source.family = name.substr(0, slash);
  if (slash != std::string_view::npos) source.kernel = name.substr(slash + 1);
  source.selector = name;
  source.file.clear();
  return source;
}

Result<RenderedKernel> renamed_kernel(const DatasetRow& row, std::string_view kernel_name,
                                      const harness::PairPrinter& printer) {
  const std::string& name = row.metadata.name;
  const Result<harness::KernelSource> before = read_kernel(row.python_source, name, file_of(name, row.kernel_name));
  if (!before.ok()) return before.error();
  ir::Module module = *before->module;
  module.kernels[before->kernel_index].name = kernel_name;
  const Result<std::string> python = source::warp::write_kernel(module, before->kernel_index);
  if (!python.ok()) return python.error();
  Result<harness::KernelSource> after = read_kernel(*python, name, file_of(name, kernel_name));
  if (!after.ok()) return after.error();
  return render(after.take(), printer);
}

Result<harness::KernelSource> isolated_kernel(const harness::KernelSource& source) {
  if (source.parse_error) return *source.parse_error;
  const Result<std::string> python = source::warp::write_kernel(*source.module, source.kernel_index);
  if (!python.ok()) return python.error();
  const std::string name = fmt::format("{}/{}", source.family, source.kernel);
  Result<harness::KernelSource> read = read_kernel(*python, name, name + ".py");
  if (!read.ok()) return read;
  const Result<std::string> again = source::warp::write_kernel(*read->module, read->kernel_index);
  if (!again.ok() || *again != *python) {
    return Error{"internal error: the kernel changes when it is written as Python and parsed again", source.selector};
  }
  return read;
}

}  // namespace assay::dataset
