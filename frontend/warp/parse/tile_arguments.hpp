// The arguments of the functions for tiles.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "frontend/warp/parse/expression_parser.hpp"

namespace assay::frontend {

/// Arguments of a call, by position or keyword.
class TileArguments {
 public:
  explicit TileArguments(SyntaxNode call) : arguments_(arguments_of(call)) {}

  bool has_star_argument() const { return arguments_.has_star_argument; }
  std::size_t positional_count() const { return arguments_.positional_arguments.size(); }
  /// The argument with this position and name, or none.
  SyntaxNode operator()(std::size_t position, std::string_view name) const {
    if (position < arguments_.positional_arguments.size()) return arguments_.positional_arguments[position];
    const auto found = arguments_.keyword_arguments.find(name);
    return found == arguments_.keyword_arguments.end() ? SyntaxNode() : found->second;
  }
  /// A keyword that is not in the list, or empty. Ignores the storage of a tile, which does not change its value.
  std::string_view unknown(std::initializer_list<std::string_view> known) const {
    for (const auto& [name, value] : arguments_.keyword_arguments) {
      const bool harmless = name == "storage" || name == "aligned";
      if (!harmless && std::ranges::find(known, name) == known.end()) return name;
    }
    return {};
  }

 private:
  CallArguments arguments_;
};

}  // namespace assay::frontend
