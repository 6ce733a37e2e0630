// Checks that the examples in the documentation of the language are valid.
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "ir/text.hpp"
#include "ir/verifier.hpp"

namespace assay::ir {
namespace {

std::string page() {
  std::ifstream file(ASSAY_SOURCE_DIR "/docs/design/language.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string example() {
  const std::string text = page();
  const std::string open = "```ir\n";
  const std::size_t begin = text.find(open) + open.size();
  return text.substr(begin, text.find("```", begin) - begin);
}

TEST(LanguagePage, ExampleParsesAsValidProgramAndPrintsUnchanged) {
  const Result<Module> module = parse_text(example(), "docs/design/language.md");
  ASSERT_TRUE(module.ok()) << module.error().text();
  for (const VerifierError& diagnostic : verify(module.value()))
    ADD_FAILURE() << to_text(module.value(), diagnostic);
  EXPECT_EQ(to_text(module.value()), example());
}

}  // namespace
}  // namespace assay::ir
