#include "backends/candidate/host/kernel_names.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace assay::candidate {

std::string plain_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  if (status != 0) return symbol;
  std::string name(text.get());
  // "void reduce<float>(float*)" has a return type because it is a template.
  if (const std::size_t space = name.find(' '); space < name.find_first_of("<(")) name.erase(0, space + 1);
  return name.substr(0, name.find('('));
}

void use_plain_names(ptx::RunResult& result) {
  for (ptx::CheckFinding& finding : result.findings)
    finding.kernel = plain_name(finding.kernel);
  // The message starts with the symbol and a colon.
  const std::size_t end = std::min(result.message.find(':'), result.message.size());
  result.message.replace(0, end, plain_name(result.message.substr(0, end)));
}

}  // namespace assay::candidate
