#include "support/terminal.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(UseColor, OptionOverridesEnvironmentAndEnvironmentOverridesTerminal) {
  EXPECT_TRUE(use_color(ColorChoice::always, false, "1", "dumb"));
  EXPECT_FALSE(use_color(ColorChoice::never, true, nullptr, "xterm"));
  EXPECT_TRUE(use_color(ColorChoice::automatic, true, nullptr, "xterm"));
  EXPECT_TRUE(use_color(ColorChoice::automatic, true, "", "xterm")) << "an empty NO_COLOR does not count";
  EXPECT_FALSE(use_color(ColorChoice::automatic, true, "1", "xterm"));
  EXPECT_FALSE(use_color(ColorChoice::automatic, false, nullptr, "xterm"));
  EXPECT_FALSE(use_color(ColorChoice::automatic, true, nullptr, "dumb"));
}

TEST(CanRedraw, RequiresTerminalThatIsNotDumb) {
  EXPECT_TRUE(can_redraw(true, "xterm"));
  EXPECT_TRUE(can_redraw(true, nullptr));
  EXPECT_FALSE(can_redraw(true, "dumb"));
  EXPECT_FALSE(can_redraw(false, "xterm"));
}

}  // namespace
}  // namespace assay
