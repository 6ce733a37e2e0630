// The assertions for each rejection; the cases are in refuse_*_test.cpp.
#include "frontend/warp/testing/rejection.hpp"

namespace assay::frontend::testing {

TEST_P(RejectionTest, ErrorContainsLocationAndReasonOfRejection) {
  const RejectionCase& rejection = GetParam();
  constexpr std::string_view kOther = "@wp.kernel\ndef other(y: wp.array(dtype=float)):\n    y[wp.tid()] = 1.0\n";
  const std::string source = kernel(rejection.parameters, rejection.body, rejection.above) + std::string(kOther);
  const ParsedFile file = read(source);
  std::string found = messages(file);
  for (std::size_t at = 0; (at = found.find("test.py:", at)) != std::string::npos;)
    found.erase(at, 8);
  EXPECT_EQ(found, std::string(rejection.messages) + "\n") << source;
  ASSERT_EQ(file.module.kernels.size(), 1U) << "the other kernel of the file must still be parsed";
  EXPECT_EQ(file.module.kernels[0].name, "other");
}

}  // namespace assay::frontend::testing
