// Invariants of the parser for arbitrary input, checked by the fuzzer and by its short form among the tests.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "backends/source/warp/writer.hpp"
#include "frontend/warp/parse/reader.hpp"
#include "ir/text.hpp"
#include "ir/verifier.hpp"

namespace assay::frontend::testing {

inline void require(bool condition, const char* what, std::string_view more = "") {
  if (condition) return;
  std::fprintf(stderr, "parser invariant violated: %s\n%.*s\n", what, static_cast<int>(more.size()), more.data());
  std::abort();
}

/// Parses the bytes as a Python file. Diagnostics must have a location, the module must be valid, and the writer's
/// output must parse to the same program; aborts otherwise. Returns the number of parsed kernels.
inline std::size_t check_parser_invariants(std::string_view bytes) {
  const Result<ParsedFile> read = parse_python(bytes, "fuzz.py");
  if (!read.ok()) {
    const std::string text = read.error().text();
    require(text.starts_with("fuzz.py:") && text.size() > 10, "the error has no message", text);
    return 0;
  }
  for (const Diagnostic& diagnostic : read->diagnostics)
    require(diagnostic.text().starts_with("fuzz.py:"), "a diagnostic has no location", diagnostic.text());
  const auto diagnostics = ir::verify(read->module);
  require(diagnostics.empty(), "the parsed module is invalid", diagnostics.empty() ? "" : diagnostics.front().message);
  for (const FunctionDeclaration& declaration : read->declarations) {
    if (!declaration.is_kernel || !declaration.is_parsed) continue;
    require(std::ranges::count(read->module.kernels, declaration.name, &ir::Function::name) == 1,
            "a kernel is declared as parsed but missing from the module", declaration.name);
  }
  // The module may retain functions of rejected kernels, which are not written.
  const auto is_error = [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::kError; };
  const Result<std::string> written = source::warp::write_python(read->module);
  if (!written.ok() || std::ranges::any_of(read->diagnostics, is_error)) return read->module.kernels.size();
  const Result<ParsedFile> again = parse_python(*written, "again.py");
  require(again.ok(), "the written source cannot be parsed", *written);
  for (const Diagnostic& diagnostic : again->diagnostics)
    require(!is_error(diagnostic), "the written source is rejected", diagnostic.text() + "\n" + *written);
  require(ir::hash(again->module) == ir::hash(read->module), "the written source is a different program", *written);
  return read->module.kernels.size();
}

}  // namespace assay::frontend::testing
