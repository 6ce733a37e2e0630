#include "frontend/warp/syntax/line_structure.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "frontend/warp/testing/parse.hpp"

namespace assay::frontend::testing {
namespace {

/// The error of the text; empty if there is none.
std::string structure_error(std::string_view text) {
  const auto checked = check_line_structure(text);
  return checked.ok() ? "" : checked.error().text();
}

TEST(LineStructure, AcceptsWhatPythonAccepts) {
  for (const std::string_view text : {
           "if a:\n  b\n  if c:\n        d\n  e\nf\n",                     // blocks of different indentation
           "if a:\n\tb\n\tif c:\n\t\td\n",                                 // tabs only
           "if a:\n        b\n\n   # comment\n\n        c",                // blank lines and comments
           "if a: b\nelse: c\n",                                           // blocks in their header's line
           "x = (1,\n2,\n      3)\ny = [\n]\n",                            // lines inside brackets
           "x = 1 + \\\n        2\ny = 3\n",                               // continued lines
           "    \\\n# c\n",                                                // a blank line
           "if a:\n    \\\n  b\n    c\n",                                  // a backslash in the indentation
           "if a:\r\n\tb\r\n\r\nc\r\n",                                    // line ends of Windows
           "if a:\r  b\rc\r",                                              // line ends of old Macs
           "\fx = 1\n  \fy = 2\n",                                         // form feeds restart the indentation
           "x = '([{' \"\\\"(\" '''\n  (\n''' r'\\''\n",                   // brackets and quotes in strings
           "x = {'a': b[1:2], 'c': lambda: 0}\ny: int = 1\n",              // colons that open no block
           "x = f'{a[\"b\"]:>{w}}' + f\"{{\"\n",                           // f-strings
           "x = f\"{a(\")\", f'{b:{c[\"(\"]}}')}\"\ny = f\"{a(\n1)}\"\n",  // f-strings as of Python 3.12
       }) {
    EXPECT_EQ(structure_error(text), "") << text;
  }
}

TEST(LineStructure, RejectsInconsistentTabs) {
  constexpr std::string_view kTabs = "inconsistent use of tabs and spaces in the indentation";
  EXPECT_EQ(structure_error("if a:\n    b\n\tc\n"), "3:2: " + std::string(kTabs));
  EXPECT_EQ(structure_error("if a:\n        b\n\tc\n"), "3:2: " + std::string(kTabs));
  EXPECT_EQ(structure_error("if a:\n  if b:\n\tc\n"), "3:2: " + std::string(kTabs));
}

TEST(LineStructure, RejectsIndentationOfNoBlock) {
  constexpr std::string_view kNoBlock = "the indentation does not match any enclosing block";
  EXPECT_EQ(structure_error("if a:\n    b\n  c\n"), "3:3: " + std::string(kNoBlock));
  EXPECT_EQ(structure_error("if a:\n    if b:\n        c\n      d\n"), "4:7: " + std::string(kNoBlock));
  EXPECT_EQ(structure_error("a\n  b\n"), "2:3: unexpected indentation");
  EXPECT_EQ(structure_error("  a\n"), "1:3: unexpected indentation");
  EXPECT_EQ(structure_error("if a: b\n    c\n"), "2:5: unexpected indentation");
  EXPECT_EQ(structure_error("\n\nif a:\n# c\nb\n"), "5:1: expected an indented block after line 3");
  EXPECT_EQ(structure_error("if a:\n    if b:  # c\n"), "2:9: expected an indented block after this line");
}

TEST(LineStructure, RejectsUnmatchedBrackets) {
  EXPECT_EQ(structure_error("f(\n@g\ndef h():\n    pass\n"), "1:2: '(' is never closed");
  EXPECT_EQ(structure_error("a = [\n(1,\n"), "2:1: '(' is never closed");
  EXPECT_EQ(structure_error("a\n  # )\n}\n"), "3:1: '}' closes no bracket");
  EXPECT_EQ(structure_error("a = (\n[1)]\n"), "2:3: ')' does not close the '[' in line 2");
  EXPECT_EQ(structure_error("a = f'{b}'\nc = (\n"), "2:5: '(' is never closed");
}

TEST(LineStructure, RejectsUnclosedStringsAndMisplacedBackslashes) {
  EXPECT_EQ(structure_error("a = 'b\n'\n"), "1:5: the string is never closed");
  EXPECT_EQ(structure_error("a = b'c\n"), "1:5: the string is never closed");
  EXPECT_EQ(structure_error("a = \"\"\"b\nc\n\"\"\n"), "1:5: the string is never closed");
  EXPECT_EQ(structure_error("a = f\"{b\nc\n"), "1:5: the string is never closed");
  EXPECT_EQ(structure_error("a = \\ \n1\n"), "1:5: a backslash must be the last character of its line");
}

TEST(LineStructure, NestedStringsDoNotExhaustTheStack) {
  for (const std::string_view open : {"f\"{", "f'''{a:{", "f\"{f'{"}) {
    std::string text = "x = ";
    for (int i = 0; i < 100'000; ++i)
      text += open;
    EXPECT_NE(structure_error(text), "") << open;
  }
}

TEST(LineStructure, FileWithSuchAnErrorIsRejected) {
  const auto message = [](std::string_view body, std::string_view above = "") {
    const auto result = parse_python(kernel("x: wp.array(dtype=float)", body, above), "test.py");
    return result.ok() ? "accepted" : result.error().text();
  };
  // tree-sitter attaches x[1] to another block, ends the call before the kernel, and knows Python 2.
  EXPECT_EQ(message("if x[0] > 0.0:\n    x[0] = 1.0\n  x[1] = 2.0\n"),
            "test.py:6:7: the indentation does not match any enclosing block");
  EXPECT_EQ(message("x[0] = 1.0\n", "foo(\n"), "test.py:2:4: '(' is never closed");
  EXPECT_EQ(message("x[0] = 1.0\n", "print \"hi\"\n"),
            "test.py:2:1: print is a function in Python 3: write print(...)");
  EXPECT_EQ(message("x[0] = 1.0\n", "exec 'a'\n"), "test.py:2:1: exec is a function in Python 3: write exec(...)");
  EXPECT_EQ(message("x[0] = 1.0\n", "print -1\nprint >> a, b\nprint(a, b)\nprint [0]\n"), "accepted");
}

}  // namespace
}  // namespace assay::frontend::testing
