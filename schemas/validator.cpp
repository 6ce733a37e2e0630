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

// The subschema for the value at `path`, found through members and items, starting from the definition named by the
// document's `record` if there is one. Null if none exists.
const json* node_at(const json& root, const json& document, const Path& path) {
  const json* node = &root;
  if (document.is_object() && document.value("record", json()).is_string() && !(path == Path{"record"})) {
    const auto definition = root.at("definitions").find(document.at("record").get<std::string>());
    if (definition != root.at("definitions").end()) node = &*definition;
  }
  for (const std::string& step : path) {
    const bool is_member = node->contains("properties") && node->at("properties").contains(step);
    if (is_member) node = &node->at("properties").at(step);
    else if (node->contains("patternProperties")) node = &*node->at("patternProperties").begin();
    else if (node->contains("items")) node = &node->at("items");
    else if (node->contains("additionalProperties")) node = &node->at("additionalProperties");
    else return nullptr;
    if (!node->is_object()) return nullptr;
    node = &resolved(root, *node);
  }
  return node;
}

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

// The expectation of the violated rule, as text.
std::string expected_by(const json* node, const std::string& description) {
  constexpr std::string_view kMissing = "Missing required property '";
  if (starts_with(description, kMissing)) {
    const std::size_t end = description.find('\'', kMissing.size());
    return fmt::format("the member {}", description.substr(kMissing.size(), end - kMissing.size()));
  }
  if (starts_with(description, "Object contains a property")) {
    const std::size_t begin = description.rfind(": '") + 3;
    return fmt::format("no member {}", description.substr(begin, description.rfind('\'') - begin));
  }
  if (node == nullptr) return description;

  std::string expected = description;
  if (starts_with(description, "Value type") && node->contains("type")) {
    expected = fmt::format("a value of type {}", node->at("type").get<std::string>());
  } else if (node->contains("const")) {
    expected = node->at("const").dump();
  } else if (node->contains("enum")) {
    expected = fmt::format("one of {}", node->at("enum").dump());
  } else if (starts_with(description, "Failed to match regex")) {
    expected = fmt::format("text that matches {}", node->at("pattern").get<std::string>());
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
    SchemaError diagnostic{.pointer = pointer.to_string(),
                           .found = shortened(value),
                           .expected = expected_by(node_at(parsed_schema_->text, document, path), error.description)};
    std::vector<SchemaError>& kept = is_echo(error.description) ? echoes : causes;
    if (kept.empty() || kept.back() != diagnostic) kept.push_back(std::move(diagnostic));
  }
  return causes.empty() ? echoes : causes;
}

}  // namespace assay::schemas
