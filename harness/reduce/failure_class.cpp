#include "harness/reduce/failure_class.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

namespace assay::reduce {
namespace {

using harness::Outcome;

bool is_identified_by_words(Outcome outcome) {
  return outcome == Outcome::build_failed || outcome == Outcome::crashed || outcome == Outcome::launch_failed ||
         outcome == Outcome::unsupported || outcome == Outcome::internal_error;
}

/// The part of a compiler message after "error:"; any other message unchanged.
std::string_view core_of(std::string_view message) {
  constexpr std::string_view kMark = "error:";
  const std::size_t mark = message.find(kMark);
  return mark == std::string_view::npos ? message : message.substr(mark + kMark.size());
}

/// The words that consist of letters only, outside quotes.
std::string words_of(std::string_view message) {
  std::string words;
  std::string word;
  bool is_plain = true;
  bool quoted = false;
  const auto end_word = [&] {
    if (is_plain && !word.empty()) words += (words.empty() ? "" : " ") + word;
    word.clear();
    is_plain = true;
  };
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'') quoted = !quoted;
    if (quoted || std::isspace(byte) != 0) {
      end_word();
    } else if (std::isalpha(byte) != 0) {
      word += c;
    } else {
      is_plain &= std::ispunct(byte) != 0 && c != '_';
    }
  }
  end_word();
  return words;
}

}  // namespace

FailureClass ending_of(const harness::CaseRecord& record) {
  FailureClass ending{.outcome = record.outcome,
                      .outcome_detail = record.outcome_detail,
                      .mismatched_array = {},
                      .normalized_message = {}};
  if (!record.mismatches.empty()) ending.mismatched_array = record.mismatches.front().array_name;
  if (is_identified_by_words(record.outcome)) ending.normalized_message = words_of(core_of(record.message));
  return ending;
}

bool has_ending(const harness::CaseRecord& record, const FailureClass& ending) {
  FailureClass other = ending_of(record);
  const bool in_array = std::ranges::any_of(record.mismatches, [&](const harness::Mismatch& mismatch) {
    return mismatch.array_name == ending.mismatched_array;
  });
  if (in_array) other.mismatched_array = ending.mismatched_array;
  return other == ending;
}

std::string to_text(const FailureClass& ending) {
  std::string text(harness::to_text(ending.outcome));
  if (!ending.outcome_detail.empty()) text += fmt::format("({})", ending.outcome_detail);
  if (!ending.mismatched_array.empty()) text += fmt::format(" in {}", ending.mismatched_array);
  return text;
}

}  // namespace assay::reduce
