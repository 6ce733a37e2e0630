// Fills a text with the members of a JSON object: the part of the Mustache language that the reports' pages need.
//
//   {{name}}               the member, with & < > " ' escaped for HTML
//   {{{name}}}             the member as it is: only for text that this program made itself
//   {{#name}} ... {{/name}}  once for each element of a list; once where the member is an object or true
//   {{^name}} ... {{/name}}  once where the member is an empty list, empty text, false or null
//   {{.}}                  the element of a list of texts
//
// A name is looked up in the innermost object that has it. A name that no object has is a bug in the page and aborts:
// a report must not leave something out in silence.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace assay::reports {

std::string fill(std::string_view text, const nlohmann::json& members);

// For HTML text and for quoted attributes.
std::string escape_html(std::string_view text);

}  // namespace assay::reports
