// What must hold of the reader for any input whatever; the fuzzer and its short form among the tests try it.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "backends/source/warp/writer.hpp"
#include "frontend/warp/parse/reader.hpp"
#include "ir/hash.hpp"
#include "ir/verifier.hpp"

namespace assay::frontend::testing {

inline void require(bool condition, const char* what, std::string_view more = "") {
  if (condition) return;
  std::fprintf(stderr, "the reader broke: %s\n%.*s\n", what, static_cast<int>(more.size()), more.data());
  std::abort();
}

/// Reads the bytes as a Python file. Rejections must say where; what is read must be valid, and what the writer makes
/// of it must read back as the same program; aborts otherwise. Number of kernels that could be read.
inline std::size_t exercise_reader(std::string_view bytes) {
  const Result<ParsedFile> read = read_python(bytes, "fuzz.py");
  if (!read.ok()) {
    const std::string text = read.error().text();
    require(text.starts_with("fuzz.py:") && text.size() > 10, "an error says too little", text);
    return 0;
  }
  for (const Diagnostic& diagnostic : read->diagnostics)
    require(diagnostic.text().starts_with("fuzz.py:"), "a diagnostic has no place", diagnostic.text());
  const auto diagnostics = ir::verify(read->module);
  require(diagnostics.empty(), "what was read is not valid", diagnostics.empty() ? "" : diagnostics.front().message);
  for (const Declaration& declaration : read->declarations) {
    if (!declaration.is_kernel || !declaration.was_read) continue;
    require(std::ranges::count(read->module.kernels, declaration.name, &ir::Function::name) == 1,
            "a kernel is said to have been read that is not there", declaration.name);
  }
  // Of a kernel that is refused, functions may be left in the module, which are not written.
  const auto is_error = [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::kError; };
  const Result<std::string> written = source::warp::write_python(read->module);
  if (!written.ok() || std::ranges::any_of(read->diagnostics, is_error)) return read->module.kernels.size();
  const Result<ParsedFile> again = read_python(*written, "again.py");
  require(again.ok(), "what was written does not read back", *written);
  for (const Diagnostic& diagnostic : again->diagnostics)
    require(!is_error(diagnostic), "what was written is refused", diagnostic.text() + "\n" + *written);
  require(ir::hash(again->module) == ir::hash(read->module), "what was written is another program", *written);
  return read->module.kernels.size();
}

}  // namespace assay::frontend::testing
