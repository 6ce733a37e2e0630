#include "schemas/validator.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace assay::schemas {
namespace {

using nlohmann::json;
using Path = std::vector<std::string>;

constexpr std::size_t kFoundLength = 80;

// valijson writes locations as "<root>", "[member]", "[0]".
Path path_of(const std::vector<std::string>& context) {
  Path path;
  for (const std::string& step : context) {
    if (step.size() >= 2 && step.front() == '[') path.push_back(step.substr(1, step.size() - 2));
  }
  return path;
}

std::string pointer_of(const Path& path) {
  std::string pointer;
  for (const std::string& step : path) {
    pointer += '/';
    for (const char c : step) {
      if (c == '~') pointer += "~0";
      else if (c == '/') pointer += "~1";
      else pointer += c;
    }
  }
  return pointer;
}

std::string shortened(const json& value) {
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kFoundLength) text = text.substr(0, kFoundLength) + "...";
  return text;
}

const json& resolved(const json& root, const json& node) {
  const auto reference = node.find("$ref");
  if (reference == node.end()) return node;
  return root.at(json::json_pointer(reference->get<std::string>().substr(1)));
}

// The subschemas of a value that a schema combines with its own rules.
std::vector<const json*> alternatives_of(const json& root, const json& node) {
  std::vector<const json*> alternatives;
  for (const char* const keyword : {"anyOf", "oneOf", "allOf"}) {
    if (!node.contains(keyword)) continue;
    for (const json& alternative : node.at(keyword))
      alternatives.push_back(&resolved(root, alternative));
  }
  for (const char* const keyword : {"then", "else"})
    if (node.contains(keyword)) alternatives.push_back(&resolved(root, node.at(keyword)));
  return alternatives;
}

// The subschema of one member or item of a value. Null if none exists.
const json* child_of(const json& root, const json& node, const std::string& step) {
  const json* child = nullptr;
  if (node.contains("properties") && node.at("properties").contains(step)) child = &node.at("properties").at(step);
  else if (node.contains("patternProperties")) child = &*node.at("patternProperties").begin();
  else if (node.contains("items")) child = &node.at("items");
  else if (node.contains("additionalProperties")) child = &node.at("additionalProperties");
  if (child != nullptr && child->is_object()) return &resolved(root, *child);
  for (const json* const alternative : alternatives_of(root, node))
    if (const json* const found = child_of(root, *alternative, step)) return found;
  return nullptr;
}

// The subschema for the value at `path`, found through members and items, starting from the definition named by the
// document's `record` if there is one. Null if none exists.
const json* node_at(const json& root, const json& document, const Path& path) {
  const json* node = &root;
  if (document.is_object() && document.value("record", json()).is_string() && !(path == Path{"record"})) {
    const auto definition = root.at("definitions").find(document.at("record").get<std::string>());
    if (definition != root.at("definitions").end()) node = &*definition;
  }
  for (const std::string& step : path) {
    node = child_of(root, *node, step);
    if (node == nullptr) return nullptr;
  }
  return node;
}

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

// A limit on a value: the beginning of valijson's description, the keyword, and the expectation.
struct Limit {
  std::string_view description_start;
  const char* keyword;
  std::string_view expected_before;  // before the limit
  std::string_view expected_after;   // after the limit
};
constexpr Limit kLimits[] = {
    {"Expected number greater than or equal to ", "minimum", "a number of at least ", ""},
    {"Expected number greater than ", "exclusiveMinimum", "a number greater than ", ""},
    {"Expected number less than or equal to ", "maximum", "a number of at most ", ""},
    {"Expected number less than ", "exclusiveMaximum", "a number less than ", ""},
    {"String should be no fewer than ", "minLength", "text with at least ", " characters"},
    {"String should be no more than ", "maxLength", "text with at most ", " characters"},
    {"Array should contain no fewer than ", "minItems", "an array with at least ", " elements"},
    {"Array should contain no more than ", "maxItems", "an array with at most ", " elements"},
    {"Object should have no fewer than ", "minProperties", "an object with at least ", " members"},
    {"Object should have no more than ", "maxProperties", "an object with at most ", " members"},
};

// The subschema, or the first of its alternatives, that has the keyword. Null if none has it.
const json* with_keyword(const json& root, const json& node, const char* keyword) {
  if (node.contains(keyword)) return &node;
  for (const json* const alternative : alternatives_of(root, node))
    if (const json* const found = with_keyword(root, *alternative, keyword)) return found;
  return nullptr;
}

// The types that a subschema or its alternatives permit.
std::vector<std::string> types_of(const json& root, const json& node) {
  std::vector<std::string> types;
  if (const auto type = node.find("type"); type != node.end()) {
    if (type->is_string()) types.push_back(type->get<std::string>());
    else types = type->get<std::vector<std::string>>();
  }
  for (const json* const alternative : alternatives_of(root, node)) {
    for (std::string& type : types_of(root, *alternative))
      if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(std::move(type));
  }
  return types;
}

bool has_type(const json& value, const std::string& type) {
  return type == value.type_name() || (type == "integer" && value.is_number_integer());
}

bool is_type_error(const std::string& description) { return starts_with(description, "Value type"); }

// Whether the subschema permits the type of the value that valijson rejects for its type. This happens if the value
// violates another rule of one alternative: it then also does not match the others.
bool permits_type(const json& root, const json* node, const json& value) {
  if (node == nullptr || !(node->contains("anyOf") || node->contains("oneOf"))) return false;
  const std::vector<std::string> types = types_of(root, *node);
  return std::any_of(types.begin(), types.end(), [&](const std::string& type) { return has_type(value, type); });
}

// The expectation of the violated rule, as text.
std::string expected_by(const json& root, const json* node, const std::string& description) {
  constexpr std::string_view kMissing = "Missing required property '";
  if (starts_with(description, kMissing)) {
    const std::size_t end = description.find('\'', kMissing.size());
    return fmt::format("the member {}", description.substr(kMissing.size(), end - kMissing.size()));
  }
  if (starts_with(description, "Object contains a property")) {
    const std::size_t begin = description.rfind(": '") + 3;
    return fmt::format("no member {}", description.substr(begin, description.rfind('\'') - begin));
  }
  if (node == nullptr) return is_type_error(description) ? "a value of another type" : description;

  std::string expected = description;
  const auto limit = std::find_if(std::begin(kLimits), std::end(kLimits),
                                  [&](const Limit& one) { return starts_with(description, one.description_start); });
  if (is_type_error(description)) {
    const std::vector<std::string> types = types_of(root, *node);
    expected = types.empty() ? "a value of another type" : fmt::format("a value of type {}", fmt::join(types, " or "));
  } else if (limit != std::end(kLimits)) {
    if (const json* const limited = with_keyword(root, *node, limit->keyword)) {
      expected =
          fmt::format("{}{}{}", limit->expected_before, limited->at(limit->keyword).dump(), limit->expected_after);
    }
  } else if (node->contains("const")) {
    expected = node->at("const").dump();
  } else if (node->contains("enum")) {
    expected = fmt::format("one of {}", node->at("enum").dump());
  } else if (starts_with(description, "Failed to match regex")) {
    if (const json* const limited = with_keyword(root, *node, "pattern"))
      expected = fmt::format("text that matches {}", limited->at("pattern").get<std::string>());
  }
  if (node->contains("description")) expected += fmt::format(" ({})", node->at("description").get<std::string>());
  return expected;
}

// valijson repeats each error for every enclosing value: "failed to validate against ...", "failed to validate item
// ...". Only the first cause is useful.
bool is_echo(const std::string& description) { return starts_with(description, "Failed to validate"); }

// Keywords added in drafts 2019-09 and 2020-12.
constexpr std::string_view kLater[] = {
    "$anchor",          "$defs",       "$dynamicAnchor", "$dynamicRef",      "$recursiveAnchor",
    "$recursiveRef",    "$vocabulary", "minContains",    "maxContains",      "dependentRequired",
    "dependentSchemas", "prefixItems", "deprecated",     "unevaluatedItems", "unevaluatedProperties"};

// The pointer to the first of them, or nothing. Member names and examples are not keywords.
std::string later_keyword(const json& schema, const std::string& path) {
  if (schema.is_array()) {
    for (std::size_t i = 0; i < schema.size(); ++i) {
      if (std::string found = later_keyword(schema[i], fmt::format("{}/{}", path, i)); !found.empty()) return found;
    }
  }
  if (!schema.is_object()) return "";
  for (const auto& [key, value] : schema.items()) {
    const std::string at = path + "/" + key;
    if (std::find(std::begin(kLater), std::end(kLater), key) != std::end(kLater)) return at;
    if (key == "examples" || key == "enum" || key == "const" || key == "default") continue;
    const bool names = key == "properties" || key == "patternProperties" || key == "definitions";
    if (!names) {
      if (std::string found = later_keyword(value, at); !found.empty()) return found;
      continue;
    }
    if (!value.is_object()) continue;
    for (const auto& [name, part] : value.items()) {
      if (std::string found = later_keyword(part, at + "/" + name); !found.empty()) return found;
    }
  }
  return "";
}

}  // namespace

std::string SchemaError::text() const {
  return fmt::format("{}: found {}, expected {}", pointer.empty() ? "document" : pointer, found, expected);
}

struct Validator::Parsed {
  json text;
  valijson::Schema schema;
  valijson::Validator validator;  // caches compiled regular expressions
};

Validator::Validator(std::unique_ptr<Parsed> parsed) : parsed_schema_(std::move(parsed)) {}

Result<Validator> Validator::parse(std::string_view schema_text) {
  auto parsed = std::make_unique<Parsed>();
  try {
    parsed->text = json::parse(schema_text);
    if (const std::string place = later_keyword(parsed->text, ""); !place.empty()) {
      return Error{fmt::format("{} is a keyword of a later JSON Schema draft; only draft-07 is supported", place)};
    }
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(parsed->text), parsed->schema);
  } catch (const std::exception& error) {
    return Error{fmt::format("cannot be parsed as a JSON Schema: {}", error.what())};
  }
  return Validator(std::move(parsed));
}

Validator::Validator(std::string_view schema_text) {
  Result<Validator> parsed = parse(schema_text);
  if (!parsed.ok()) {
    std::fprintf(stderr, "assay: bug: a built-in schema is invalid: %s\n", parsed.error().message.c_str());
    std::abort();
  }
  *this = parsed.take();
}

Validator::Validator(Validator&&) noexcept = default;
Validator& Validator::operator=(Validator&&) noexcept = default;
Validator::~Validator() = default;

std::vector<SchemaError> Validator::diagnostics(const json& document) const {
  const valijson::adapters::NlohmannJsonAdapter adapter(document);
  // Without a result object, validation stops at the first violation: most documents have none.
  if (parsed_schema_->validator.validate(parsed_schema_->schema, adapter, nullptr)) return {};
  valijson::ValidationResults results;
  parsed_schema_->validator.validate(parsed_schema_->schema, adapter, &results);

  std::vector<SchemaError> causes;
  std::vector<SchemaError> echoes;
  for (const valijson::ValidationResults::Error& error : results) {
    const Path path = path_of(error.context);
    const json::json_pointer pointer(pointer_of(path));
    const json value = document.contains(pointer) ? document.at(pointer) : json();
    const json* const node = node_at(parsed_schema_->text, document, path);
    SchemaError diagnostic{.pointer = pointer.to_string(),
                           .found = shortened(value),
                           .expected = expected_by(parsed_schema_->text, node, error.description)};
    const bool is_other_alternative =
        is_type_error(error.description) && permits_type(parsed_schema_->text, node, value);
    std::vector<SchemaError>& kept = is_echo(error.description) || is_other_alternative ? echoes : causes;
    if (kept.empty() || kept.back() != diagnostic) kept.push_back(std::move(diagnostic));
  }
  return causes.empty() ? echoes : causes;
}

}  // namespace assay::schemas
