#include "frontend/warp/parse/reader.hpp"

#include <utility>

#include "frontend/warp/parse/file_parser.hpp"
#include "frontend/warp/syntax/source_text.hpp"
#include "frontend/warp/syntax/syntax.hpp"
#include "ir/source_location.hpp"

namespace assay::frontend {
Result<ParsedFile> parse_python(std::string_view source, std::string file_name, const ModuleFinder& finder) {
  const auto text = check_source(source);
  if (!text.ok()) return in_file(text.error(), file_name);
  const auto tree = SyntaxTree::parse(std::string(*text));
  if (!tree.ok()) return in_file(tree.error(), file_name);
  ParsedFile result;
  result.module.source_name = file_name;
  result.module.source_lines = ir::split_lines(*text);
  result.module.copied_lines = ir::copied_lines(result.module.source_lines);
  WarpFileParser reader(*tree, result, finder);
  if (const auto done = reader.read(); !done.ok()) return in_file(done.error(), file_name);
  return result;
}

}  // namespace assay::frontend
