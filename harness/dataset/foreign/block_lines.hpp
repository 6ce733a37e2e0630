// The lines of the files of an import: a judged row in a block, and its final form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "harness/dataset/foreign/judgement.hpp"
#include "support/result.hpp"

namespace assay::foreign {

/// A judged row as a block stores it.
struct StoredRow {
  std::uint64_t row_index = 0;                  ///< position of the row in the dataset, from 0
  std::string file;                             ///< path of its file, relative to the dataset
  std::uint64_t line = 0;                       ///< line in the file, from 1
  std::string id;                               ///< identifies the row
  RowOutcome outcome = RowOutcome::kUndecided;  ///< outcome of the row
  std::string cause;                            ///< see JudgedRow::cause
  std::string message;                          ///< one line for people; empty if the row is verified
  nlohmann::ordered_json damage;                ///< where the damage is; null: the row is not damaged
  nlohmann::ordered_json evidence;              ///< one object for each device and pass that was judged
  std::string program_key;                      ///< see JudgedRow::program_key
  std::string code_key;                         ///< see JudgedRow::code_key
  std::string regenerated_code_key;             ///< see JudgedRow::regenerated_code_key
  nlohmann::ordered_json row_json;              ///< all members of the row

  /// Rejects the row for a damage that only the whole dataset shows.
  void reject(RowDamage kind, std::string why);
};

/// A line of a block, without a newline.
std::string block_line(const JudgedRow& row);

/// The inverse. Fails if the line is not one of block_line.
Result<StoredRow> read_block_line(const std::string& text);

/// A line of the final files. A verified row keeps its members and gets the member `assay` with the evidence; any other
/// row becomes the member `row` of an object with the reason.
std::string final_line(const StoredRow& line, std::string_view warp_version);

}  // namespace assay::foreign
