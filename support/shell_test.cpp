#include "support/shell.hpp"

#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace assay {
namespace {

/// The word as a shell reads it.
std::string read_by_shell(const std::string& word) {
  const std::string command = "bash -c \"$(cat <<'END_OF_COMMAND'\nprintf '%s' " + word + "\nEND_OF_COMMAND\n)\"";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
  std::string text;
  std::array<char, 256> piece{};
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe.get()))
    text.append(piece.data(), count);
  return text;
}

TEST(QuoteForShell, ShellReadsTheSameText) {
  for (const std::string text :
       {"scale.py", "", "sp ace/four arms' $x.py:four_arms", "$(exit 1) `exit 1` \"\\\"", "a\n touch PWNED #'\\.py",
        "\x1b[31m\x7f 1", "größe-日本.py", "*?[a]{b,c}~ !! & | ; < >"}) {
    const std::string quoted = quote_for_shell(text);
    EXPECT_EQ(read_by_shell(quoted), text) << quoted;
    EXPECT_EQ(quoted.find('\n'), std::string::npos) << quoted;
  }
}

TEST(QuoteForShell, KeepsPlainTextReadable) {
  EXPECT_EQ(quote_for_shell("loop/product/f32"), "'loop/product/f32'");
  EXPECT_EQ(quote_for_shell("it's"), "'it'\\''s'");
  EXPECT_EQ(quote_for_shell("a\nb"), "$'a\\012b'");
}

TEST(TextForShellComment, HasOneLine) {
  EXPECT_EQ(text_for_shell_comment("user/x\ntouch PWNED\r#"), "user/x touch PWNED #");
}

}  // namespace
}  // namespace assay
