// Which members of a foreign row hold the Python source and the generated code. Start reading here: the mapping, then
// foreign_rows.hpp, regeneration.hpp, belonging.hpp, judgement.hpp and import.hpp.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/result.hpp"

namespace assay::foreign {

/// The members of a row that hold one field; their texts are joined. Each is the name of a member of the row or a JSON
/// pointer. Empty: the rows do not have the field.
using FieldPath = std::vector<std::string>;

/// The content of a mapping file (schemas/foreign_map.schema.json).
struct FieldMapping {
  FieldPath python;                                               ///< the Python source
  FieldPath cpp_source;                                           ///< the C++ that Warp generated
  FieldPath cuda_source;                                          ///< the CUDA C++ that Warp generated
  FieldPath kernel;                                               ///< name of the kernel
  FieldPath warp_version;                                         ///< version of Warp that generated the code
  FieldPath id;                                                   ///< identifies the row
  nlohmann::json warp_module_options = nlohmann::json::object();  ///< module options of Warp, by name
  bool has_backward = true;  ///< whether the code of the rows contains the backward pass
  std::string source_text;   ///< content of the file; part of the plan, so that a run is resumed with the same mapping
};

/// Parses a mapping. Fails with the JSON pointer of the first error.
Result<FieldMapping> parse_mapping(std::string_view text, const std::string& name);

/// Reads a mapping file.
Result<FieldMapping> read_mapping(const std::filesystem::path& path);

}  // namespace assay::foreign
