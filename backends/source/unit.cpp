#include "backends/source/unit.hpp"

#include <algorithm>

#include "ir/source_location.hpp"
#include "support/concat.hpp"

namespace assay::source {

using backends::SourceTarget;
using ir::Scalar;
using ir::Shape;

std::string_view spelling(Scalar scalar) {
  switch (scalar) {
    case Scalar::kBool: return "bool";
    case Scalar::kI8: return "signed char";
    case Scalar::kI16: return "short";
    case Scalar::kI32: return "int";
    case Scalar::kI64: return "long long";
    case Scalar::kU8: return "unsigned char";
    case Scalar::kU16: return "unsigned short";
    case Scalar::kU32: return "unsigned";
    case Scalar::kU64: return "unsigned long long";
    case Scalar::kF32: return "real";
    case Scalar::kF64: return "double";
    case Scalar::kF16: return "half";
    case Scalar::kBF16: return "bfloat";
  }
  return "";
}

namespace {

/// Names that structs and functions of a kernel must not use.
const NameTable& global_names() {
  static const NameTable kNames = [] {
    NameTable names{"real",          "half",      "bfloat",      "fill_sample",  "show_value",   "require",
                    "block_threads", "tile_lane", "tile_leader", "tile_barrier", "tile_scratch", "tile_share"};
    for (const SourceTarget either : {SourceTarget::kCpp, SourceTarget::kCuda}) {
      for (const HelperWithDependencies& text : helpers_of(either))
        names.insert(text.helper.name);
    }
    return names;
  }();
  return kNames;
}

/// A line of Python as comment text, without characters that would extend or break the comment.
std::string comment_text(std::string_view line) {
  std::string text(line.substr(std::min(line.find_first_not_of(" \t"), line.size())));
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  const std::size_t end = text.find_last_not_of(" \\");
  text.erase(end == std::string::npos ? 0 : end + 1);
  return text;
}

}  // namespace

SourceUnit::SourceUnit(const ir::Module& module, std::vector<std::string> symbols)
    : module_(module),
      entry_point_names_(std::move(symbols)),
      global_names_(global_names()),
      comments_by_line_(module.source_lines.size()) {
  for (const std::string& symbol : entry_point_names_)
    global_names_.reserve(symbol);
  name_structs();
  name_functions();
}

void SourceUnit::name_structs() {
  for (const ir::StructDef& definition : module_.structs) {
    struct_names_.push_back(global_names_.declare(definition.name));
    NameScopes fields;
    for (const char* name : {"real", "half", "bfloat"})
      fields.reserve(name);
    std::vector<std::string>& names = field_names_.emplace_back();
    for (const ir::Field& field : definition.fields)
      names.push_back(fields.declare(field.name));
  }
}

void SourceUnit::name_functions() {
  for (const ir::Function& function : module_.functions) {
    const bool clashes = is_library_name(legal_identifier(function.name));
    function_names_.push_back(global_names_.declare(clashes ? function.name + "_function" : function.name));
  }
}

std::string SourceUnit::type(ir::Type type) {
  if (type.is_array()) {
    helpers_.use("Array");
    return concat("Array<", this->type(type.element()), ", ", std::to_string(type.rank), ">");
  }
  const std::string_view scalar = spelling(type.scalar);
  if (type.tile_rank() > 0) {
    helpers_.use("Tile");
    const std::string columns = type.tile_rank() == 1 ? "" : ", " + std::to_string(type.tile[1]);
    return concat("Tile<", scalar, ", ", std::to_string(type.tile[0]), columns, ">");
  }
  if (type.shape != Shape::kStruct && is_half(type.scalar)) helpers_.use("Float16");
  switch (type.shape) {
    case Shape::kVoid: return "void";
    case Shape::kScalar: return std::string(scalar);
    case Shape::kVector: helpers_.use("Vec"); return concat("Vec<", scalar, ", ", std::to_string(type.rows), ">");
    case Shape::kMatrix:
      helpers_.use("Mat");
      return concat("Mat<", scalar, ", ", std::to_string(type.rows), ", ", std::to_string(type.cols), ">");
    case Shape::kQuaternion: helpers_.use("Quat"); return concat("Quat<", scalar, ">");
    case Shape::kTransform: helpers_.use("Transform"); return concat("Transform<", scalar, ">");
    case Shape::kStruct: return struct_name(type.struct_id);
  }
  return "";
}

const std::string& SourceUnit::comment(int line) {
  const std::size_t index = static_cast<std::size_t>(line) - 1;
  std::string& text = comments_by_line_[index];
  if (text.empty()) {
    const ir::SourceLocation place = ir::source_location(module_, {.line = line, .column = 1});
    const std::string file = place.file != module_.source_name ? concat(comment_text(place.file), ":") : "";
    text = concat("// ", file, std::to_string(place.loc.line), ": ", comment_text(module_.source_lines[index]));
  }
  return text;
}

const std::string& SourceUnit::setter_name(int struct_id, int field) {
  const auto [entry, added] = setter_names_.try_emplace({struct_id, field});
  if (added) entry->second = global_names_.declare("with_" + field_name(struct_id, field));
  return entry->second;
}

const std::string& SourceUnit::use_setter(int struct_id, int field) {
  used_setters_.insert({struct_id, field});
  return setter_name(struct_id, field);
}

}  // namespace assay::source
