#include "reports/formats/html/template.hpp"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::reports {
namespace {

using nlohmann::json;

[[noreturn]] void abort_on_page(const std::string& what) {
  std::fprintf(stderr, "assay: bug: page template: %s\n", what.c_str());
  std::abort();
}

bool is_shown(const json& value) {
  return !(value.is_null() || value == false || (value.is_array() && value.empty()) ||
           (value.is_string() && value.get_ref<const std::string&>().empty()));
}

std::string plain_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// A tag {{...}} of the page: its kind, its name, and the position after it.
struct Tag {
  char sigil = ' ';  // '{' raw, '#', '^', '/', or ' ' for an escaped member
  std::string_view name;
  std::size_t end = 0;
};

class Filler {
 public:
  Filler(std::string_view text, const json& members) : text_(text), scopes_{&members} {}

  std::string run() {
    fill_until("", true);
    return std::move(out_);
  }

 private:
  // Parses the tag at `begin`, the position of "{{".
  Tag tag_at(std::size_t begin) const {
    Tag tag;
    std::size_t name = begin + 2;
    if (name < text_.size() && std::string_view("{#^/").find(text_[name]) != std::string_view::npos) {
      tag.sigil = text_[name++];
    }
    const std::string_view close = tag.sigil == '{' ? "}}}" : "}}";
    const std::size_t end = text_.find(close, name);
    if (end == std::string_view::npos) abort_on_page("a tag is not closed");
    tag.name = text_.substr(name, end - name);
    tag.end = end + close.size();
    return tag;
  }

  const json& lookup(std::string_view name) const {
    if (name == ".") return *scopes_.back();
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (!(*scope)->is_object()) continue;
      const auto found = (*scope)->find(std::string(name));
      if (found != (*scope)->end()) return *found;
    }
    abort_on_page(fmt::format("no member is named {}", name));
  }

  // Fills from here to the closing tag of `section`, or to the end of the text if it is empty. Skips the text if `show`
  // is false.
  void fill_until(std::string_view section, bool show) {
    while (true) {
      const std::size_t open = std::min(text_.find("{{", position_), text_.size());
      if (show) out_ += text_.substr(position_, open - position_);
      position_ = open;
      if (open == text_.size()) {
        if (!section.empty()) abort_on_page(fmt::format("the section {} is not closed", section));
        return;
      }
      const Tag tag = tag_at(open);
      position_ = tag.end;
      if (tag.sigil == '/') {
        if (tag.name != section)
          abort_on_page(fmt::format("the closing tag {} does not match the open section {}", tag.name, section));
        return;
      }
      if (tag.sigil == '#' || tag.sigil == '^') fill_section(tag, show);
      else if (show) put(tag);
    }
  }

  void put(const Tag& tag) {
    const std::string value = plain_text(lookup(tag.name));
    out_ += tag.sigil == '{' ? value : escape_html(value);
  }

  void fill_section(const Tag& tag, bool show) {
    const std::size_t begin = position_;
    const json* const value = show ? &lookup(tag.name) : nullptr;
    const bool shown = show && is_shown(*value) == (tag.sigil == '#');
    if (shown && tag.sigil == '#' && value->is_array()) {
      for (const json& element : *value) {
        position_ = begin;
        scopes_.push_back(&element);
        fill_until(tag.name, true);
        scopes_.pop_back();
      }
      return;
    }
    if (shown && value->is_object()) scopes_.push_back(value);
    fill_until(tag.name, shown);
    if (shown && value->is_object()) scopes_.pop_back();
  }

  std::string_view text_;
  std::vector<const json*> scopes_;  // innermost last
  std::size_t position_ = 0;
  std::string out_;
};

}  // namespace

std::string fill(std::string_view text, const json& members) { return Filler(text, members).run(); }

std::string escape_html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      case '\0': escaped += "\xef\xbf\xbd"; break;  // not representable in HTML
      default: escaped += c;
    }
  }
  return escaped;
}

}  // namespace assay::reports
