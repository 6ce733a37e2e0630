// What must hold of the text form for any input whatever; the fuzzer and its short form among the tests try it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ir/hash.hpp"
#include "ir/limits.hpp"
#include "ir/text.hpp"
#include "ir/verifier.hpp"

namespace assay::ir::testing {

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "the text form broke: %s\n", what);
  std::abort();
}

/// Reads the text. What can be read must verify without accident and print as text that reads back to the
/// same program; aborts otherwise. True if it could be read and is valid.
inline bool exercise_text(std::string_view text) {
  const Result<Module> module = parse_text(text);
  if (!module.ok()) {
    require(!module.error().message.empty() && !module.error().where.empty(), "an error says too little");
    return false;
  }
  const bool valid = verify(module.value()).empty();
  for (const Naming naming : {Naming::kSource, Naming::kCanonical}) {
    const std::string printed = to_text(module.value(), naming);
    if (printed.size() > kMaxTextBytes) continue;
    const Result<Module> again = parse_text(printed);
    require(again.ok(), "what was printed does not read back");
    require(to_text(again.value(), naming) == printed, "what was read back prints differently");
    require(hash(again.value()) == hash(module.value()), "what was read back is another program");
    require(verify(again.value()).empty() == valid, "what was read back is not as valid");
  }
  return valid;
}

}  // namespace assay::ir::testing
