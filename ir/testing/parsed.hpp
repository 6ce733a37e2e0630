// Parses IR text in tests.
#pragma once

#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "ir/text.hpp"

namespace assay::ir::testing {

/// The module that `text` defines; an empty one, and a failure of the test, if `text` is invalid.
inline Module parsed(std::string_view text) {
  Result<Module> module = parse_text(text, "a.ir");
  EXPECT_TRUE(module.ok()) << module.error().text() << "\n" << text;
  return module.ok() ? std::move(module).value() : Module{};
}

}  // namespace assay::ir::testing
