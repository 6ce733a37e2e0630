#include "harness/dataset/foreign/mapping.hpp"

#include <algorithm>

#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"
#include "support/files.hpp"

namespace assay::foreign {
namespace {

using nlohmann::json;

FieldPath path_of(const json& fields, const char* name) {
  const auto found = fields.find(name);
  if (found == fields.end()) return {};
  return found->is_string() ? FieldPath{found->get<std::string>()} : found->get<FieldPath>();
}

}  // namespace

Result<FieldMapping> parse_mapping(std::string_view text, const std::string& name) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) return Error{"mapping is not valid JSON", name};
  const auto errors = schemas::Validator(schemas::kForeignMapSchemaText).diagnostics(document);
  if (!errors.empty()) return Error{errors.front().text(), name};
  const json& fields = document.at("fields");
  FieldMapping mapping{.python = path_of(fields, "python"),
                       .cpp_source = path_of(fields, "cpp"),
                       .cuda_source = path_of(fields, "cuda"),
                       .kernel = path_of(fields, "kernel"),
                       .warp_version = path_of(fields, "warp_version"),
                       .id = path_of(fields, "id"),
                       .warp_module_options = document.value("options", json::object()),
                       .has_backward = true,
                       .source_text = document.dump()};
  if (document.contains("passes")) mapping.has_backward = document.at("passes").size() == 2;
  for (const FieldPath* paths : {&mapping.python, &mapping.cpp_source, &mapping.cuda_source, &mapping.kernel,
                                 &mapping.warp_version, &mapping.id}) {
    for (const std::string& path : *paths) {
      if (!path.starts_with('/')) continue;
      try {
        (void)json::json_pointer(path);
      } catch (const json::exception&) {
        return Error{"invalid JSON pointer '" + path + "'", name};
      }
    }
  }
  return mapping;
}

Result<FieldMapping> read_mapping(const std::filesystem::path& path) {
  const Result<std::string> text = read_file_text(path);
  if (!text.ok()) return text.error();
  return parse_mapping(*text, path.string());
}

}  // namespace assay::foreign
