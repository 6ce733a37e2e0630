#include "ir/program_key.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "ir/text.hpp"

namespace assay::ir {
namespace {

std::uint64_t key_of(const std::string& text) {
  const Result<Module> module = parse_text(text);
  EXPECT_TRUE(module.ok()) << module.error().text();
  return program_key(module->kernels[0]);
}

TEST(ProgramKey, DoesNotDependOnNames) {
  EXPECT_EQ(key_of("kernel scale(x: array<f32,1>, a: f32; i) {\n  x[i] = mul(x[i], a)\n}\n"),
            key_of("kernel r1_42(out: array<f32,1>, gain: f32; k) {\n  out[k] = mul(out[k], gain)\n}\n"));
}

TEST(ProgramKey, DependsOnOperationsLiteralsAndStatements) {
  std::set<std::uint64_t> keys;
  for (const char* const body : {"x[i] = mul(x[i], 2.0)", "x[i] = mul(x[i], 3.0)", "x[i] = add(x[i], 2.0)",
                                 "x[i] = 2.0", "let t: f32 = 2.0\n  x[i] = t"}) {
    keys.insert(key_of(std::string("kernel k(x: array<f32,1>; i) {\n  ") + body + "\n}\n"));
  }
  EXPECT_EQ(keys.size(), 5U);
}

}  // namespace
}  // namespace assay::ir
