#include <gtest/gtest.h>

#include "ir/builder.hpp"
#include "ir/testing/parsed.hpp"
#include "ir/testing/programs.hpp"
#include "ir/text.hpp"

namespace assay::ir {
namespace {

using testing::parsed;

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ModuleHash, IgnoresNames) {
  const Module module = parsed(testing::kEverything);
  Module renamed = module;
  for (StructDef& definition : renamed.structs) {
    definition.name += "X";
    for (Field& field : definition.fields)
      field.name += "Y";
  }
  for (auto* functions : {&renamed.functions, &renamed.kernels}) {
    for (Function& function : *functions) {
      function.name = "same";
      function.annotations.clear();
      for (Variable& variable : function.variables)
        variable.name = "z";
    }
  }
  renamed.source_name = "elsewhere.py";
  EXPECT_EQ(hash(renamed), hash(module));
  EXPECT_EQ(hash(module).size(), 64U);
}

TEST(ModuleHash, IgnoresNumberingOfVariablesAndExpressions) {
  const auto make = [](bool other_order) {
    Module module;
    Function kernel{.name = "k", .is_kernel = true};
    Builder b(module, kernel);
    const VarId x = b.parameter("x", kF32.array_of(1));
    const VarId i = b.thread_index("i");
    const VarId late = other_order ? b.declare("late", kF32) : kNone;
    const ExprId spare = other_order ? b.f32(9) : kNone;
    (void)spare;
    const VarId first = b.let("first", b.load(x, {b.var(i)}));
    const VarId second = other_order ? late : b.declare("late", kF32);
    b.append({.node = Let{second, b.var(first)}});
    b.store(x, {b.var(i)}, b.var(second));
    module.kernels.push_back(kernel);
    return module;
  };
  EXPECT_EQ(hash(make(false)), hash(make(true)));
}

TEST(ModuleHash, ChangesIfAnyDetailOfProgramChanges) {
  const std::string text(testing::kEverything);
  const std::string reference = hash(parsed(text));
  const std::pair<std::string_view, std::string_view> kChanges[] = {
      {"0.1\n", "0.10000001\n"},
      {"mul(x, x)", "add(x, x)"},
      {"nullable grad", "grad"},
      {"let zero: vec<f32,3>", "let zero: vec<f32,4>"},
      {"break", "continue"},
      {"-0.0:f16", "0.0:f16"},
      {"nan(0xfff8000000000001)", "nan(0xfff8000000000002)"},
      {"local<f32,64>", "local<f32,65>"},
      {"and(bad, true)", "and(true, bad)"},
      {"-1:i64", "1:i64"},
      {"atomic_cas(counts[b], 0:u32, 1:u32)", "atomic_cas(counts[b], 1:u32, 0:u32)"},
      {"extract(moved.velocity, 1)", "extract(moved.velocity, 2)"},
  };
  for (const auto& [from, to] : kChanges)
    EXPECT_NE(hash(parsed(replaced(text, from, to))), reference) << from;
}

}  // namespace
}  // namespace assay::ir
