#include "frontend/text/reader.hpp"

#include <utility>

#include <fmt/format.h>

#include "ir/text.hpp"
#include "ir/verifier.hpp"

namespace assay::frontend {

Result<ParsedFile> parse_ir_text(std::string_view source, std::string file_name, const ModuleFinder& /*finder*/) {
  Result<ir::Module> module = ir::parse_text(source, file_name);
  if (!module.ok()) return module.error();
  if (const auto errors = ir::verify(*module); !errors.empty()) {
    const ir::VerifierError& first = errors.front();
    return Error{fmt::format("{}: {}", ir::row(first.rule).label, first.message),
                 fmt::format("{}:{}:{}", file_name, first.loc.line, first.loc.column)};
  }
  ParsedFile result{.module = module.take(), .diagnostics = {}, .declarations = {}};
  for (const ir::Function& kernel : result.module.kernels) {
    FunctionDeclaration declaration{
        .name = kernel.name, .is_kernel = true, .is_parsed = true, .uses_thread_index = true};
    declaration.loc = kernel.loc;
    for (int parameter = 0; parameter < kernel.parameter_count; ++parameter)
      declaration.parameter_names.push_back(kernel.var(parameter).name);
    result.declarations.push_back(std::move(declaration));
  }
  return result;
}

}  // namespace assay::frontend
