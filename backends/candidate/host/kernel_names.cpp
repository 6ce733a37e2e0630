#include "backends/candidate/host/kernel_names.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <cxxabi.h>

namespace assay::candidate {

std::string plain_name(const std::string& symbol) {
  // Names that are not mangled may be the encoding of a type: "x" is long long.
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  if (status != 0) return symbol;
  std::string name(text.get());
  // nvcc puts the names of an anonymous namespace into a namespace of the file.
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (std::size_t at = name.find(kAnonymous); at != std::string::npos; at = name.find(kAnonymous))
    name.erase(at, kAnonymous.size());
  if (name.starts_with("_INTERNAL_")) name.erase(0, name.find("::") + 2);
  // "softmax(float*)::partial" is a variable of a function.
  constexpr std::string_view kOfFunction = ")::";
  if (const std::size_t at = name.rfind(kOfFunction); at != std::string::npos) name.erase(0, at + kOfFunction.size());
  // "void reduce<float>(float*)" has a return type because it is a template.
  if (const std::size_t space = name.find(' '); space < name.find_first_of("<(")) name.erase(0, space + 1);
  return name.substr(0, name.find('('));
}

void use_plain_names(ptx::RunResult& result) {
  for (ptx::CheckFinding& finding : result.findings) {
    finding.kernel = plain_name(finding.kernel);
    finding.allocation_name = plain_name(finding.allocation_name);
  }
  // The message starts with the symbol and a colon.
  const std::size_t end = std::min(result.message.find(':'), result.message.size());
  result.message.replace(0, end, plain_name(result.message.substr(0, end)));
}

}  // namespace assay::candidate
