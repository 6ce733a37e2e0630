#include "reports/formats/html/template.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace assay::reports {
namespace {

using nlohmann::json;

TEST(Template, EscapesValuesExceptInTripleBraces) {
  const json members = {{"name", "<b a=\"1\" b='2'>&"}, {"count", 3}};
  EXPECT_EQ(fill("{{name}}|{{{name}}}|{{count}}", members),
            "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;|<b a=\"1\" b='2'>&|3");
}

TEST(Template, SectionRepeatsForEachItemAndFindsNamesOfOuterScope) {
  const json members = {{"unit", "ms"}, {"rows", {{{"t", 1}}, {{"t", 2}}}}, {"words", {"a", "b"}}};
  EXPECT_EQ(fill("{{#rows}}{{t}} {{unit}};{{/rows}} {{#words}}[{{.}}]{{/words}}", members), "1 ms;2 ms; [a][b]");
}

TEST(Template, ShowsInvertedSectionIfValueIsEmpty) {
  for (const json& none : {json(), json(false), json(""), json::array()}) {
    EXPECT_EQ(fill("{{#x}}yes{{/x}}{{^x}}no{{/x}}", {{"x", none}}), "no") << none;
  }
  for (const json& some : {json(true), json("text"), json(0), json::array({1}), json::object()}) {
    EXPECT_EQ(fill("{{#x}}yes{{/x}}{{^x}}no{{/x}}", {{"x", some}}), "yes") << some;
  }
}

TEST(Template, SkipsNestedSectionsOfHiddenSection) {
  EXPECT_EQ(fill("a{{#x}}{{#y}}{{z}}{{/y}}{{/x}}b", {{"x", false}}), "ab");
}

TEST(Template, DoesNotExpandTagsInValues) { EXPECT_EQ(fill("{{x}}", {{"x", "{{y}}"}}), "{{y}}"); }

TEST(TemplateDeath, AbortsOnUnknownName) {
  EXPECT_DEATH(fill("{{absent}}", json::object()), "no member is named absent");
  EXPECT_DEATH(fill("{{#a}}", {{"a", true}}), "the section a is not closed");
}

}  // namespace
}  // namespace assay::reports
