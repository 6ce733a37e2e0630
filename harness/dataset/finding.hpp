// Diagnostics of a validation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace assay::dataset {

/// An error or a warning about one file or row.
struct RowError {
  bool is_warning = false;   ///< whether the dataset is valid nevertheless, for example if some code was not compared
  std::string file;          ///< path of the file, relative to the dataset
  std::uint64_t line = 0;    ///< line number in the file, from 1; 0: the whole file
  std::string row_id;        ///< id of the row; empty if the row has none
  std::string json_pointer;  ///< JSON pointer into the line; empty: the line as a whole
  std::string found_text;    ///< the offending value, as messages show it
  std::string expected;      ///< what is valid instead
  friend bool operator==(const RowError&, const RowError&) = default;
};

/// The diagnostic as one line: "error: data/train-00000-of-00001.jsonl.gz:12: row 3f9a...: /id: found "x", expected
/// ...".
std::string to_text(const RowError& diagnostic);
nlohmann::ordered_json to_json(const RowError& diagnostic);
/// A SARIF 2.1.0 log of all diagnostics.
nlohmann::ordered_json sarif_json(const std::vector<RowError>& diagnostics, std::string_view version);

/// A value as messages show it: quoted, and truncated if long.
std::string quoted_excerpt(std::string_view text);

/// Two texts that differ, as messages show them: quoted, and if they are long, only the part around the first
/// difference.
std::pair<std::string, std::string> excerpts_of_difference(std::string_view found, std::string_view expected);

/// The first line in which two texts differ, as "line 12: real x = 1.0f;", from each; of a long line, only the part
/// around the difference. The texts must differ.
std::pair<std::string, std::string> first_difference(std::string_view found, std::string_view expected);

}  // namespace assay::dataset
