#include <string>

#include <gtest/gtest.h>

#include "harness/mutation/analyses.hpp"
#include "ir/text.hpp"

namespace assay::mutation {
namespace {

/// Whether the value with which the first statement of a loop body declares `v` may be used.
bool is_used(const std::string& body) {
  const Result<ir::Module> module = ir::parse_text(
      "kernel k(x: array<f32,1>, n: i32, out: array<i32,1>; i) {\n  for j: i32 in range(0, n, 1) {\n"
      "    let v: i32\n" +
      body + "  }\n}\n");
  if (!module.ok()) {
    ADD_FAILURE() << module.error().text();
    return false;
  }
  const ir::Function& kernel = module->kernels[0];
  const auto& loop = std::get<ir::For>(kernel.body.statements.front().node);
  return may_use_initial_value(kernel, loop.body.statements.front());
}

TEST(InitialValue, IsUsedIfItIsReadBeforeTheVariableIsAssigned) {
  EXPECT_TRUE(is_used("    out[j] = v\n"));
  EXPECT_TRUE(is_used("    v = add(v, 1)\n    out[j] = v\n"));
  EXPECT_TRUE(is_used("    let w: i32 = v\n    out[j] = w\n"));
  EXPECT_TRUE(is_used("    if lt(j, 3) {\n      v = j\n    }\n    out[j] = v\n"));
  EXPECT_FALSE(is_used("    v = j\n    out[j] = v\n"));
  EXPECT_FALSE(is_used("    if lt(j, 3) {\n      v = j\n    } else {\n      v = 2\n    }\n    out[j] = v\n"));
}

TEST(InitialValue, IsUsedIfTheNextIterationReadsACopy) {
  const auto in_loop = [](const std::string& body) {
    const Result<ir::Module> module = ir::parse_text(
        "kernel k(n: i32, out: array<i32,1>; i) {\n  let carried: i32 = 1\n  for j: i32 in range(0, n, 1) {\n"
        "    let v: i32\n" +
        body + "  }\n  out[i] = carried\n}\n");
    const ir::Function& kernel = module->kernels[0];
    return may_use_initial_value(kernel, std::get<ir::For>(kernel.body.statements[1].node).body.statements.front());
  };
  EXPECT_TRUE(in_loop("    if lt(j, carried) {\n      v = j\n    }\n    carried = v\n"));
  EXPECT_FALSE(in_loop("    if lt(j, carried) {\n      v = j\n    } else {\n      v = 2\n    }\n    carried = v\n"));
  EXPECT_FALSE(in_loop("    let copy: i32 = v\n    carried = j\n"));
}

/// A search that ends with a value and a flag, as an early return does.
std::string text_of_search(const std::string& found, const std::string& otherwise, const std::string& after) {
  return "    let returned: bool = false\n    let more: bool = true\n    let at: i32 = 0\n    while more {\n"
         "      let next: i32\n      let next_returned: bool\n      if lt(at, j) {\n" +
         found + "      } else {\n" + otherwise +
         "      }\n      v = next\n      returned = next_returned\n      at = add(at, 1)\n"
         "      more = and(lt(at, 9), not(returned))\n    }\n" +
         after;
}
const std::string kFound = "        next = at\n        next_returned = true\n";
const std::string kNotFound = "        next = v\n        next_returned = returned\n";

TEST(InitialValue, IsNotUsedIfAFlagTellsWhetherTheVariableWasAssigned) {
  EXPECT_FALSE(is_used(text_of_search(kFound, kNotFound, "    if returned {\n      out[j] = v\n    }\n")));
  EXPECT_FALSE(
      is_used(text_of_search(kFound, kNotFound,
                             "    let missing: bool = not(returned)\n    let result: i32\n    if missing {\n"
                             "      result = -1\n    } else {\n      result = v\n    }\n    out[j] = result\n")));
}

TEST(InitialValue, IsUsedIfTheFlagTellsNothing) {
  EXPECT_TRUE(is_used(text_of_search(kFound, kNotFound, "    out[j] = v\n")));
  EXPECT_TRUE(is_used(text_of_search(kFound, kNotFound, "    if not(returned) {\n      out[j] = v\n    }\n")));
  EXPECT_TRUE(is_used(text_of_search("        next = v\n        next_returned = true\n", kNotFound,
                                     "    if returned {\n      out[j] = v\n    }\n")))
      << "the flag is set without a value";
  EXPECT_TRUE(is_used(text_of_search(kNotFound, "        next = v\n        next_returned = true\n",
                                     "    if returned {\n      out[j] = v\n    }\n")))
      << "the flag is set without a value in the other branch";
  EXPECT_TRUE(is_used(text_of_search(kFound, "        next = v\n        next_returned = lt(at, 7)\n",
                                     "    if returned {\n      out[j] = v\n    }\n")))
      << "the flag may be set later without a value";
  EXPECT_TRUE(is_used(
      text_of_search(kFound, kNotFound, "    returned = lt(j, 4)\n    if returned {\n      out[j] = v\n    }\n")));
  EXPECT_TRUE(is_used(text_of_search(kFound, kNotFound,
                                     "    let missing: bool = not(returned)\n    missing = lt(j, 4)\n    if missing {\n"
                                     "      out[j] = 1\n    } else {\n      out[j] = v\n    }\n")));
}

}  // namespace
}  // namespace assay::mutation
