#include "harness/dataset/json_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace assay::dataset {
namespace {

using Json = nlohmann::ordered_json;

std::string literal_of(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonText, EscapesSpecialCharactersAtEveryPosition) {
  for (int byte = 0; byte < 0x80; ++byte) {
    for (std::size_t length = 1; length < 40; ++length) {
      for (std::size_t at = 0; at < length; ++at) {
        std::string text(length, 'a');
        text[at] = static_cast<char>(byte);
        ASSERT_EQ(literal_of(text), Json(text).dump()) << "byte " << byte << " at " << at << " of " << length;
      }
    }
  }
  EXPECT_EQ(literal_of(""), "\"\"");
  // Longer than a piece, and with only the longest escapes.
  EXPECT_EQ(literal_of(std::string(5000, '\x01')), Json(std::string(5000, '\x01')).dump());
  EXPECT_EQ(literal_of("\n\n\n\n\n\n\n\n\n\"\\"), R"("\n\n\n\n\n\n\n\n\n\"\\")");
  EXPECT_EQ(literal_of("caf\u00e9 \u2026 \U0001f600 caf\u00e9\n"), "\"caf\u00e9 \u2026 \U0001f600 caf\u00e9\\n\"");
}

TEST(JsonText, MatchesOutputOfJsonLibrary) {
  std::string text;
  JsonObjectWriter object(text);
  object.add("text", "a\tb");
  object.add("flag", true);
  object.add("count", std::int64_t{-9'007'199'254'740'993});
  object.add("rho", std::optional(0.1));
  object.add("one", std::optional(1.0));
  object.add("none", std::optional<double>());
  object.add("texts", std::vector<std::string>{"a", "\"b\""});
  object.add("sizes", std::vector<std::int64_t>{1, 1024});
  object.add("empty", std::vector<std::string>{});
  object.add_null("null");
  JsonObjectWriter inner(object.begin("inner"));
  inner.add("rank", 2);
  inner.close();
  object.close();
  const Json same = {{"text", "a\tb"},
                     {"flag", true},
                     {"count", -9'007'199'254'740'993},
                     {"rho", 0.1},
                     {"one", 1.0},
                     {"none", nullptr},
                     {"texts", {"a", "\"b\""}},
                     {"sizes", {1, 1024}},
                     {"empty", Json::array()},
                     {"null", nullptr},
                     {"inner", {{"rank", 2}}}};
  EXPECT_EQ(text, same.dump());
}

}  // namespace
}  // namespace assay::dataset
