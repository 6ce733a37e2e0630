// What a call gives for a parameter, as far as the callee's code depends on it. A function whose parameters are
// generic, or that is given parts of arrays, other functions or structs with arrays, is read once for each way of
// calling it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/warp/parse/module_scope.hpp"
#include "frontend/warp/syntax/syntax.hpp"
#include "ir/module.hpp"

namespace assay::frontend {

struct FunctionEntry;

enum class DimensionKind : std::uint8_t {
  kWhole,
  kFixed,  ///< the one index
  kRange,  ///< start, start + step, ...: `extent` of them
};

struct Given {
  enum class Kind : std::uint8_t { kValue, kArray, kPack, kFunction };
  struct Part {
    DimensionKind kind = DimensionKind::kWhole;
    std::int64_t step = 1;
    friend bool operator==(const Part&, const Part&) = default;
  };

  Kind kind = Kind::kValue;
  ir::Type type = {};                          ///< an array as the callee sees it
  ir::Type whole = {};                         ///< kArray: the array that it is a part of
  std::vector<Part> parts = {};                ///< kArray: by dimension of `whole`
  std::vector<Given> fields = {};              ///< kPack
  std::vector<FunctionEntry*> functions = {};  ///< kFunction of the file
  std::string warp_function = {};              ///< kFunction of Warp

  friend bool operator==(const Given&, const Given&) = default;
  /// Whether the type says all.
  bool is_plain() const;
};

/// Whether a struct has an array, or a struct with one, among its fields.
bool holds_arrays(const ir::Module& module, ir::Type type);
/// A parameter of this type given whole.
Given given_whole(const ir::Module& module, ir::Type type);

/// The name that leaves a type open, if the node is one, with or without its module: "Any", "Float"; else empty.
std::string_view generic_name(Node node);
/// Whether the annotation leaves the type to the call: Any, wp.array(dtype=Any), Callable.
bool is_generic(Node annotation);
/// Whether a parameter so annotated takes what is given.
bool admits(const ModuleScope& scope, Node annotation, const Given& given);

}  // namespace assay::frontend
