#include "harness/dataset/naming.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/source/print.hpp"
#include "generators/generator.hpp"
#include "harness/dataset/finish.hpp"
#include "harness/dataset/render.hpp"
#include "harness/suite/select/random_kernels.hpp"
#include "ir/text.hpp"

namespace assay::dataset {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ir::Module module_of(const std::string& text) {
  Result<ir::Module> module = ir::parse_text(text);
  EXPECT_TRUE(module.ok()) << module.error().text();
  return module.ok() ? module.take() : ir::Module{};
}

std::vector<std::string> variables_after_naming(const std::string& text) {
  ir::Module module = module_of(text);
  const std::string before = ir::to_text(module, ir::NamingScheme::kCanonical);
  name_variables(module);
  EXPECT_EQ(ir::to_text(module, ir::NamingScheme::kCanonical), before);
  std::vector<std::string> names;
  for (const ir::Variable& variable : module.kernels[0].variables)
    names.push_back(variable.name);
  return names;
}

TEST(Naming, KernelNamesDescribeFunctionsAndDataFlow) {
  const std::vector<std::string> names = kernel_names(
      module_of("kernel r2_42(force: array<f32,1>, x: array<f32,1>, energy: array<f32,1>; i) {\n"
                "  let t: f32 = sin(clamp(x[i], 0.0, 1.0))\n  atomic_add(energy[0], mul(t, force[i]))\n}\n"));
  EXPECT_THAT(names, Contains("sin_and_accumulate"));
  EXPECT_THAT(names, Contains("sin_and_clamp_and_accumulate"));
  EXPECT_THAT(names, Contains("accumulate_energy_of_force"));
  EXPECT_THAT(names, Contains("accumulate_energy_of_force_with_sin"));
  // x does not influence the output named first, and `other` influences nothing.
  EXPECT_THAT(kernel_names(module_of("kernel k(x: array<f32,1>, other: array<f32,1>, energy: array<f32,1>; i) {\n"
                                     "  energy[i] = x[i]\n  other[i] = 2.0\n}\n")),
              Each(Not(HasSubstr("of_other"))));
}

TEST(Naming, KernelNamesLeaveOutWhatSaysLittle) {
  const std::vector<std::string> names =
      kernel_names(module_of("kernel k(x: array<f32,1>, energy: array<f32,1>, count: array<i32,1>; i) {\n"
                             "  let unused: f32 = tanh(x[i])\n  count[i] = 1\n"
                             "  energy[i] = mul(sin(x[i]), max(exp(x[i]), 0.5))\n}\n"));
  EXPECT_THAT(names, Contains("energy_of_x_with_sin_and_exp"));
  EXPECT_THAT(names, Each(Not(HasSubstr("tanh")))) << "its result influences no output";
  EXPECT_THAT(names, Each(Not(HasSubstr("max"))));
  EXPECT_THAT(names, Each(Not(HasSubstr("mul"))));
  EXPECT_THAT(names, Contains("energy_from_x"));
  EXPECT_THAT(names, Contains("compute_energy_of_x"));
}

TEST(Naming, NamesOfAnOutputMentionOnlyItsOwnFunctions) {
  const std::vector<std::string> names =
      kernel_names(module_of("kernel k(x: array<f32,1>, energy: array<f32,1>, out: array<f32,1>; i) {\n"
                             "  energy[i] = sin(x[i])\n  out[i] = cos(x[i])\n}\n"));
  EXPECT_THAT(names, Contains("energy_of_x_with_sin"));
  for (const std::string& name : names)
    EXPECT_FALSE(name.starts_with("energy_") && name.find("cos") != std::string::npos) << name;
}

TEST(Naming, OnlyAnOutputThatIsNotStoredIsAccumulated) {
  const auto names_with = [](const std::string& last) {
    return kernel_names(
        module_of("kernel k(x: array<f32,1>, energy: array<f32,1>; i) {\n"
                  "  atomic_add(energy[i], x[i])\n" +
                  last + "}\n"));
  };
  EXPECT_THAT(names_with(""), Contains("accumulate_energy_of_x"));
  EXPECT_THAT(names_with("  energy[i] = 2.0\n"), Each(Not(HasSubstr("accumulate"))));
}

TEST(Naming, FeaturesOfAKernelAreOneList) {
  const std::vector<std::string> names =
      kernel_names(module_of("kernel k(x: array<f32,1>, energy: array<f32,1>; i) {\n  for j: i32 in range(0, 3, 1) {\n"
                             "    energy[i] = mul(sin(x[i]), exp(x[i]))\n  }\n}\n"));
  EXPECT_THAT(names, Contains("energy_with_sin_exp_and_loop"));
}

TEST(Naming, AnOutputThatIsAlwaysOverwrittenIsNotChangedInPlace) {
  const auto names_with = [](const std::string& last) {
    return kernel_names(
        module_of("kernel k(x: array<f32,1>, energy: array<f32,1>, other: array<f32,1>; i) {\n"
                  "  other[i] = energy[i]\n  energy[i] = " +
                  last + "\n}\n"));
  };
  EXPECT_THAT(names_with("mul(energy[i], x[i])"), Contains(HasSubstr("in_place")));
  EXPECT_THAT(names_with("x[i]"), Each(Not(HasSubstr("in_place"))));
}

TEST(Naming, NewKernelNamesDoNotDependOnOriginalName) {
  const auto names_under = [](const std::string& name) {
    return kernel_names(module_of("kernel " + name + "(x: array<f32,1>; i) {\n  x[i] = sin(x[i])\n}\n"));
  };
  EXPECT_EQ(names_under("r2_1"), names_under("sin_in_place"));
}

TEST(Naming, KernelNameDiffersFromOtherNamesOfTheModule) {
  EXPECT_THAT(kernel_names(module_of("kernel k(sin_in_place: array<f32,1>; i) {\n"
                                     "  sin_in_place[i] = sin(sin_in_place[i])\n}\n")),
              Each(Not(std::string("sin_in_place"))));
}

TEST(Naming, NumberedVariablesGetNamesForTheirRoles) {
  EXPECT_THAT(variables_after_naming("kernel k(x: array<f32,1>, y: array<f32,1>; i) {\n  let t: f32 = sin(x[i])\n"
                                     "  let t2: f32 = mul(x[i], y[i])\n  let t3: f32 = mul(x[i], 2.0)\n"
                                     "  y[i] = add(t, add(t2, t3))\n}\n"),
              ElementsAre("x", "y", "i", "sin_x", "x_times_y", "scaled_x"));
}

TEST(Naming, ReassignedVariablesKeepTheirNames) {
  EXPECT_THAT(variables_after_naming("kernel k(x: array<f32,1>; i) {\n  let s: f32 = sin(x[i])\n"
                                     "  s = add(s, 1.0)\n  x[i] = s\n}\n"),
              ElementsAre("x", "i", "s"));
}

TEST(Naming, RenamedParameterIsRenamedInItsPrecondition) {
  ir::Module module = module_of("# domain: 0 <= n2 <= 12\nkernel k(x: array<f32,1>, n2: i32; i) {\n  x[n2] = 1.0\n}\n");
  name_variables(module);
  const std::string& name = module.kernels[0].variables[1].name;
  EXPECT_NE(name, "n2");
  EXPECT_THAT(module.kernels[0].annotations, ElementsAre("domain: 0 <= " + name + " <= 12"));
}

/// What a dataset does with a kernel: names it, and gives it another name at the end.
TEST(Naming, RenamedRowEqualsRowGeneratedWithNewName) {
  for (const generators::KernelFamilyDefinition& family : generators::families()) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const std::string name = generators::generate(family.family, seed).name;
      const auto produced = [&](const std::string& kernel_name) {
        const auto rename = [&](ir::Module& module) {
          name_variables(module);
          module.kernels[0].name = kernel_name;
        };
        Result<harness::KernelSource> source = harness::random_kernel(name, rename);
        EXPECT_TRUE(source.ok()) << source.error().text();
        Result<RenderedKernel> rendered = render(source.take(), source::print_cpp_and_cuda);
        EXPECT_TRUE(rendered.ok()) << rendered.error().text();
        DatasetRow row = rendered->row;
        row.metadata.name = name;
        return row;
      };
      const DatasetRow first = produced("one_name");
      Result<RenderedKernel> renamed =
          renamed_kernel(first, "another_much_longer_name_of_it", source::print_cpp_and_cuda);
      ASSERT_TRUE(renamed.ok()) << renamed.error().text();
      renamed->row.metadata.name = name;
      EXPECT_EQ(to_line(renamed->row), to_line(produced("another_much_longer_name_of_it"))) << name;
      EXPECT_THAT(first.cuda_source, HasSubstr("(one_name.py:")) << name;
    }
  }
}

TEST(Naming, EachRowGetsItsFirstUnusedName) {
  const std::string_view both[] = {"a_b", "a_c"};
  const std::string_view one[] = {"a_b"};
  const AcceptedRow user{.kernel_name = "step"};
  const AcceptedRow two{.kernel_name = "a_b", .names = both};
  const AcceptedRow single{.kernel_name = "a_b", .names = one};
  EXPECT_THAT(assign_names(std::vector{two, user, single, two, single, user}),
              ElementsAre("a_b", "step", "a_b_2", "a_c", "a_b_3", "step"));
}

/// Names are what people write: few need a number to be unique.
TEST(Naming, ManyRandomKernelsHaveDistinctNamesWithoutNumbers) {
  std::set<std::string> taken;
  int numbered = 0;
  constexpr std::uint64_t kSeeds = 40;
  for (const generators::KernelFamilyDefinition& family : generators::families()) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      ir::Module module = generators::generate(family.family, seed).module;
      name_variables(module);
      const std::vector<std::string> names = kernel_names(module);
      const auto is_free = [&](const std::string& name) { return taken.insert(name).second; };
      numbered += std::ranges::any_of(names, is_free) ? 0 : 1;
    }
  }
  EXPECT_LT(numbered, static_cast<int>(generators::families().size() * kSeeds / 20));
}

}  // namespace
}  // namespace assay::dataset
