#include "harness/attacks/injection.hpp"

#include <regex>

#include <fmt/format.h>

namespace assay::attacks {

TextEdit at_thread_start(backends::Pass pass, const std::string& statements) {
  return {fmt::format(R"((_{}\([^{{]*\{{[^{{]*\+\+thread\) \{{\n))", backends::to_text(pass)),
          "$1    " + statements + "\n"};
}

TextEdit before_body(const std::string& lines) { return {R"(^)", lines + "\n"}; }

TextEdit after_real(const std::string& lines) { return {R"((using real = \w+;\n))", "$1" + lines + "\n"}; }

Result<void> inject_code(backends::EmittedKernel& kernel, const TextEdit& edit) {
  const std::regex pattern(edit.pattern);
  if (!std::regex_search(kernel.body, pattern)) {
    return Error{fmt::format("cannot inject code into {}: no match for {} in its text:\n{}", kernel.name, edit.pattern,
                             kernel.body)};
  }
  kernel.body = std::regex_replace(kernel.body, pattern, edit.replacement, std::regex_constants::format_first_only);
  return {};
}

}  // namespace assay::attacks
