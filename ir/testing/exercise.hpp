// Properties of the text form that hold for any input; checked by the fuzzer and by a short test.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ir/limits.hpp"
#include "ir/text.hpp"
#include "ir/verifier.hpp"

namespace assay::ir::testing {

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "text form violated: %s\n", what);
  std::abort();
}

/// Parses the text. A parsed program must be verified without a crash and must print as text that parses to the same
/// program; aborts otherwise. True if the text parses and is valid.
inline bool exercise_text(std::string_view text) {
  const Result<Module> module = parse_text(text);
  if (!module.ok()) {
    require(!module.error().message.empty() && !module.error().where.empty(), "an error has no message or location");
    return false;
  }
  const bool valid = verify(module.value()).empty();
  for (const NamingScheme naming : {NamingScheme::kSource, NamingScheme::kCanonical}) {
    const std::string printed = to_text(module.value(), naming);
    if (printed.size() > kMaxIrTextBytes) continue;
    const Result<Module> again = parse_text(printed);
    require(again.ok(), "printed text does not parse");
    require(to_text(again.value(), naming) == printed, "reparsed program prints differently");
    require(hash(again.value()) == hash(module.value()), "reparsed program has a different hash");
    require(verify(again.value()).empty() == valid, "reparsed program differs in validity");
  }
  return valid;
}

}  // namespace assay::ir::testing
