// Tests that parse_python parses the output of write_python to the same module, for 10,000 random kernels per family.
#include <algorithm>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "backends/source/warp/writer.hpp"
#include "frontend/warp/parse/reader.hpp"
#include "generators/generator.hpp"
#include "ir/text.hpp"
#include "ir/visit.hpp"

namespace assay::source::warp {
namespace {

constexpr std::uint64_t kKernels = 10'000;

class PythonRoundTrip : public ::testing::TestWithParam<generators::Family> {};

TEST_P(PythonRoundTrip, PreservesModuleHash) {
  const std::uint64_t count = kKernels / generators::families().size() + 1;
  int failures = 0;
  for (std::uint64_t seed = 0; seed < count && failures < 3; ++seed) {
    const generators::GeneratedKernel made = generators::generate(GetParam(), seed);
    const std::string python = write_python(made.module).value();
    const auto read = frontend::parse_python(python, made.name);
    ASSERT_TRUE(read.ok()) << read.error().text() << "\n" << python;
    const bool whole = read->diagnostics.empty() && read->module.kernels.size() == 1;
    if (whole && ir::hash(read->module) == ir::hash(made.module)) continue;
    ++failures;
    ADD_FAILURE() << made.name << "\n" << python << "\n--- written from\n" << ir::to_text(made.module);
    for (const frontend::Diagnostic& diagnostic : read->diagnostics)
      ADD_FAILURE() << diagnostic.text();
    if (whole) ADD_FAILURE() << "--- read back as\n" << ir::to_text(read->module);
  }
}

/// The parts of a module that the canonical text omits: names, locations, the source and the conditions.
std::string named_text(const ir::Module& module) {
  std::string text = module.source_name + "\n" + ir::to_text(module);
  for (const std::string& line : module.source_lines)
    text += line + "\n";
  const auto places = [&](const std::vector<ir::Function>& functions) {
    for (const ir::Function& function : functions) {
      text += std::to_string(function.loc.line);
      ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
        text += " " + std::to_string(statement.loc.line) + ":" + std::to_string(statement.loc.column);
      });
    }
  };
  places(module.functions);
  places(module.kernels);
  return text;
}

TEST_P(PythonRoundTrip, ModuleReturnedByWriterMatchesParsedPython) {
  constexpr std::uint64_t kEach = 60;
  for (std::uint64_t seed = 0; seed < kEach; ++seed) {
    const generators::GeneratedKernel made = generators::generate(GetParam(), seed);
    const auto written = write_module(made.module, made.name + ".py").value();
    const bool custom = std::ranges::any_of(made.module.functions, [](const ir::Function& function) {
      return function.gradient_function_index != ir::kNone;
    });
    ASSERT_EQ(written.has_value(), !custom) << made.name;
    if (custom) continue;
    EXPECT_EQ(written->python_source, write_kernel(made.module, 0).value());
    const auto read = frontend::parse_python(written->python_source, made.name + ".py");
    ASSERT_TRUE(read.ok()) << read.error().text();
    ASSERT_EQ(named_text(written->module), named_text(read->module)) << made.name;
  }
}

/// In Warp, wp.float64(k) changes the type of the variable of an unrolled loop, which `len` alone does not reveal.
TEST(PythonRoundTrip, VariableOfUnrolledLoopIsConvertedAsACopy) {
  const auto first = frontend::parse_python(
      "import warp as wp\n\nvec5d = wp.types.vector(length=5, dtype=wp.float64)\n\n\n@wp.kernel\n"
      "def moment(y: wp.array(dtype=vec5d), out: wp.array(dtype=wp.float64)):\n"
      "    i = wp.tid()\n    z = wp.float64(0.0)\n    for k in range(len(y[i])):\n"
      "        z += y[i][k] * wp.float64(k)\n    out[i] = z\n",
      "moment.py");
  ASSERT_TRUE(first.ok()) << first.error().text();
  const std::string python = write_python(first->module).value();
  EXPECT_NE(python.find("wp.float64(int(k))"), std::string::npos) << python;
  const auto second = frontend::parse_python(python, "moment.py");
  ASSERT_TRUE(second.ok()) << second.error().text();
  EXPECT_TRUE(second->diagnostics.empty()) << second->diagnostics.front().text() << "\n" << python;
}

std::string family_name(const ::testing::TestParamInfo<generators::Family>& info) {
  return std::string(row(info.param).name);
}

std::vector<generators::Family> all_families() {
  std::vector<generators::Family> families;
  for (const generators::KernelFamilyDefinition& family : generators::families())
    families.push_back(family.family);
  return families;
}

INSTANTIATE_TEST_SUITE_P(Families, PythonRoundTrip, ::testing::ValuesIn(all_families()), family_name);

}  // namespace
}  // namespace assay::source::warp
