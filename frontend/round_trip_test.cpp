// What write_python writes, read_python reads back to the same module: 10,000 random kernels of every family.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "frontend/reader.hpp"
#include "frontend/writer.hpp"
#include "generators/generator.hpp"
#include "ir/hash.hpp"
#include "ir/text.hpp"

namespace assay::frontend {
namespace {

constexpr std::uint64_t kKernels = 10'000;

class RoundTrip : public ::testing::TestWithParam<generators::Family> {};

TEST_P(RoundTrip, GivesTheSameHash) {
  const std::uint64_t count = kKernels / generators::families().size() + 1;
  int failures = 0;
  for (std::uint64_t seed = 0; seed < count && failures < 3; ++seed) {
    const generators::Generated made = generators::generate(GetParam(), seed);
    const std::string python = write_python(made.module).value();
    const auto read = read_python(python, made.name);
    ASSERT_TRUE(read.ok()) << read.error().text() << "\n" << python;
    const bool whole = read->diagnostics.empty() && read->module.kernels.size() == 1;
    if (whole && ir::hash(read->module) == ir::hash(made.module)) continue;
    ++failures;
    ADD_FAILURE() << made.name << "\n" << python << "\n--- written from\n" << ir::to_text(made.module);
    for (const Diagnostic& diagnostic : read->diagnostics)
      ADD_FAILURE() << diagnostic.text();
    if (whole) ADD_FAILURE() << "--- read back as\n" << ir::to_text(read->module);
  }
}

std::string family_name(const ::testing::TestParamInfo<generators::Family>& info) {
  return std::string(row(info.param).name);
}

std::vector<generators::Family> all_families() {
  std::vector<generators::Family> families;
  for (const generators::FamilyRow& family : generators::families())
    families.push_back(family.family);
  return families;
}

INSTANTIATE_TEST_SUITE_P(Families, RoundTrip, ::testing::ValuesIn(all_families()), family_name);

}  // namespace
}  // namespace assay::frontend
