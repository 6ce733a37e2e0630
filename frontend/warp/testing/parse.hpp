// Helpers for the tests of the parser.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "frontend/warp/parse/reader.hpp"
#include "ir/text.hpp"
#include "ir/verifier.hpp"

namespace assay::frontend::testing {

/// Parses a text. The test fails if it is rejected or if the module is invalid.
inline ParsedFile read(std::string_view source, std::string name = "test.py", const ModuleFinder& finder = {}) {
  auto result = parse_python(source, std::move(name), finder);
  if (!result.ok()) {
    ADD_FAILURE() << result.error().text();
    return {};
  }
  for (const ir::VerifierError& diagnostic : ir::verify(result->module))
    ADD_FAILURE() << to_text(result->module, diagnostic);
  return result.take();
}

/// One line per diagnostic.
inline std::string messages(const ParsedFile& file) {
  std::string text;
  for (const Diagnostic& diagnostic : file.diagnostics)
    text += diagnostic.text() + "\n";
  return text;
}

/// A file with one kernel `k` with the given parameters and body, whose lines are indented by four spaces. `def k` is
/// in line 3 and the first statement in line 4, unless `above` is inserted before them.
inline std::string kernel(std::string_view parameters, std::string_view body, std::string_view above = "") {
  std::string text =
      "import warp as wp\n" + std::string(above) + "@wp.kernel\ndef k(" + std::string(parameters) + "):\n";
  std::istringstream lines{std::string(body)};
  for (std::string line; std::getline(lines, line);)
    text += "    " + line + "\n";
  return text;
}

/// The statements of the only kernel in the text form, without the indentation of its body.
inline std::string body_text(const ParsedFile& file) {
  if (file.module.kernels.size() != 1) return "no kernel\n" + messages(file);
  const std::string whole = to_text(file.module);
  const std::size_t start = whole.find("kernel k(");
  const std::size_t open = whole.find("{\n", start);
  std::istringstream lines(whole.substr(open + 2));
  std::string text;
  for (std::string line; std::getline(lines, line) && line != "}";)
    text += line.substr(2) + "\n";
  return text;
}

inline std::string file_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace assay::frontend::testing
