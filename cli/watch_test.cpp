// assay run --watch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing/command_runner.hpp"

namespace assay::cli {
namespace {

using ::testing::AllOf;
using testing::CommandResult;
using ::testing::HasSubstr;
using testing::Workshop;

constexpr std::string_view kHelper = "import warp as wp\n@wp.func\ndef f(x: float):\n    return 2.0 * x\n";
constexpr std::string_view kKernels = R"(import warp as wp
from helper import f
@wp.kernel
def scale(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = f(x[i])
)";

// Runs `assay run SELECTOR --watch` in the background; `await N` waits until it watches for the Nth time.
constexpr std::string_view kStart = R"sh(
: >log
"$program" run $selector --watch --quick >>log 2>&1 &
trap "kill $!" EXIT
await() {
  n=0
  while [ "$(grep -c 'save to judge again' log)" -lt "$1" ]; do
    n=$((n + 1)); [ $n -lt 600 ] || { cat log; exit 99; }
    sleep 0.1
  done
}
await 1
)sh";
constexpr std::string_view kEnd = "cat log\n";

class WatchTest : public ::testing::Test {
 protected:
  WatchTest() {
    workshop_.write("helper.py", kHelper);
    workshop_.write("k.py", kKernels);
  }
  /// What the program prints while the commands change the files.
  std::string watched(const std::string& selector, const std::string& commands) const {
    const CommandResult ran =
        workshop_.run("selector='" + selector + "'" + std::string(kStart) + commands + std::string(kEnd));
    EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    return ran.out;
  }

  Workshop workshop_{ASSAY_PROGRAM};
};

TEST_F(WatchTest, RunsAgainWhenSelectedOrImportedFileIsSaved) {
  const std::string text =
      watched("k.py:scale", "sed -i 's/2.0/3.0/' helper.py\nawait 2\necho '# end' >>k.py\nawait 3\n");
  EXPECT_THAT(text, AllOf(HasSubstr("watching 2 files; save to judge again, Ctrl+C to end\n"),
                          HasSubstr("helper.py changed\n"), HasSubstr("k.py changed\n")));
  EXPECT_THAT(workshop_.read("out/records.jsonl"), HasSubstr("k.scale"));
}

TEST_F(WatchTest, ReportsBrokenFileAndGoesOn) {
  const std::string text = watched("k.py", "cp k.py whole\necho 'def (:' >k.py\nawait 2\nmv whole k.py\nawait 3\n");
  EXPECT_THAT(text, AllOf(HasSubstr("k.py:1:"), HasSubstr("k.py changed\n")));
  EXPECT_THAT(text.substr(text.rfind("k.py changed")), HasSubstr("1/1"));
}

TEST_F(WatchTest, RequiresSelectorThatNamesFile) {
  const CommandResult ran = workshop_.run("assay run loop --watch");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--watch requires a SELECTOR that names a file, got loop; expected FILE.py"));
}

}  // namespace
}  // namespace assay::cli
