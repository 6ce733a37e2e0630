#include "ir/document/operation_document.hpp"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace assay::ir {
namespace {

TEST(OperationDocument, MatchesTheCommittedFile) {
  std::ifstream file(ASSAY_SOURCE_DIR "/docs/generated/operations.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), operation_document())
      << "regenerate it with: build/release/bin/operations-doc > docs/generated/operations.md";
}

}  // namespace
}  // namespace assay::ir
