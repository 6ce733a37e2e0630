#include "backends/device/batch_source.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace assay::backends {

namespace {

constexpr std::string_view kFilePrefix = "kernel:";
constexpr std::string_view kHelperPrefix = "helper:";

/// The file name that represents a kernel in compiler diagnostics.
std::string file_name(std::size_t position, const EmittedKernel& kernel) {
  return fmt::format("{}{}:{}", kFilePrefix, position, kernel.name);
}

// A local array that raises SIGILL if an index is outside of it. In an array of N structs, -fsanitize=bounds does not
// detect an assignment to the element N, and clang does not detect a copy of it either.
constexpr std::string_view kCheckedArray = R"(#line 1 "checked local array"
template <typename T, int N>
struct CheckedLocalArray {
  T elements[N];
  T& operator[](long long i) { return elements[(unsigned long long)i < N ? i : (__builtin_trap(), 0)]; }
  const T& operator[](long long i) const { return elements[(unsigned long long)i < N ? i : (__builtin_trap(), 0)]; }
};
)";

constexpr std::string_view kDigits = "0123456789";

/// The line "  Vec<real, 3> v[4] = {};" as "  CheckedLocalArray<Vec<real, 3>, 4> v = {};". A line that does not declare
/// a local array remains as it is.
std::string with_checked_array(std::string_view line) {
  const std::size_t bracket = line.rfind('[');
  const std::size_t type = line.find_first_not_of(' ');
  if (bracket == std::string_view::npos) return std::string(line);
  const std::size_t end = line.find_first_not_of(kDigits, bracket + 1);
  const std::size_t name = line.rfind(' ', bracket) + 1;
  const bool declares = end != std::string_view::npos && (line.substr(end) == "];" || line.substr(end) == "] = {};") &&
                        name > type && line.substr(0, bracket).find_first_of("=(") == std::string_view::npos &&
                        !line.substr(type).starts_with("return ");
  if (!declares) return std::string(line);
  return fmt::format("{}CheckedLocalArray<{}, {}> {}{}", line.substr(0, type), line.substr(type, name - 1 - type),
                     line.substr(bracket + 1, end - bracket - 1), line.substr(name, bracket - name),
                     line.substr(end + 1));
}

/// Writes the text of a batch, with one member function per part.
class Composer {
 public:
  Composer(std::span<const EmittedKernel* const> kernels, std::span<const Precision> precisions)
      : kernels_(kernels), precisions_(precisions) {}
  /// For a batch with wrappers.
  Composer(std::span<const EmittedKernel* const> kernels, const BuildFlags& flags)
      : kernels_(kernels),
        precisions_(flags.precisions()),
        with_wrappers_(true),
        checks_indices_(flags.optimization_level == 0) {}

  BatchSource compose() {
    batch_.entry_points_by_kernel.resize(kernels_.size());
    helpers();
    for (std::size_t position = 0; position < kernels_.size(); ++position) {
      for (const Precision precision : compiled_precisions(*kernels_[position], precisions_))
        kernel(position, precision);
    }
    return std::move(batch_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(batch_.text), format, std::forward<Args>(args)...);
    batch_.text += '\n';
  }

  void whole_lines(const std::string& text) {
    batch_.text += text;
    if (!text.ends_with('\n')) {
      batch_.text += '\n';
    }
  }

  /// A helper's text must depend on its name only. If two texts share a name, both are emitted and the compiler rejects
  /// the redefinition.
  void helpers() {
    if (checks_indices_ && std::ranges::any_of(kernels_, [](const auto* one) { return one->has_arrays_of_structs; }))
      batch_.text += kCheckedArray;
    if (kernels_.size() == 1) {
      line("#line 1 \"{}\"", file_name(0, *kernels_[0]));
    }
    std::set<std::pair<std::string_view, std::string_view>> seen;
    for (const EmittedKernel* kernel : kernels_) {
      for (const SourceHelper& helper : kernel->helpers) {
        const bool is_checked = checks_indices_ && !helper.checked_text.empty();
        if (seen.insert({helper.name, helper.text}).second) {
          if (kernels_.size() > 1) {
            line("#line 1 \"{}{}\"", kHelperPrefix, helper.name);
          }
          whole_lines(is_checked ? helper.checked_text : helper.text);
        }
      }
    }
  }

  /// Writes the body of a kernel with CheckedLocalArray as the type of its local arrays.
  void body_with_checked_arrays(std::string_view body) {
    while (!body.empty()) {
      const std::size_t end = std::min(body.find('\n'), body.size());
      whole_lines(with_checked_array(body.substr(0, end)));
      body.remove_prefix(std::min(end + 1, body.size()));
    }
  }

  void kernel(std::size_t position, Precision precision) {
    const EmittedKernel& kernel = *kernels_[position];
    const std::string unique = fmt::format("assay_{}_{}", position, to_text(precision));
    line("#undef ASSAY_REAL");
    if (precision == Precision::kPromoted) {
      line("#define ASSAY_REAL double");
    }
    for (const EntryPoint& entry : kernel.entry_points) {
      line("#define {} {}_{}", entry.symbol, unique, entry.symbol);
    }
    line("namespace {} {{", unique);
    line("#line {} \"{}\"", kernel.first_body_line(), file_name(position, kernel));
    if (checks_indices_ && kernel.has_arrays_of_structs) body_with_checked_arrays(kernel.body);
    else whole_lines(kernel.body);
    if (with_wrappers_) line("#line 1 \"{} (call)\"", file_name(position, kernel));
    for (const EntryPoint& entry : kernel.entry_points) {
      const std::string wrapper = fmt::format("{}_{}", unique, to_text(entry.pass));
      if (with_wrappers_) caller(entry, wrapper);
      batch_.entry_points_by_kernel[position].push_back(
          {.pass = entry.pass,
           .precision = precision,
           .symbol = with_wrappers_ ? wrapper : fmt::format("{}_{}", unique, entry.symbol),
           .parameter_count = entry.parameter_types.size(),
           .required_block_threads = entry.required_block_threads});
    }
    line("}}");
    for (const EntryPoint& entry : kernel.entry_points) {
      line("#undef {}", entry.symbol);
    }
  }

  void caller(const EntryPoint& entry, const std::string& symbol) {
    std::string arguments;
    std::string sizes;
    for (std::size_t i = 0; i < entry.parameter_types.size(); ++i) {
      const std::string& type = entry.parameter_types[i];
      arguments += fmt::format(", *({}*)arguments[{}]", type, i);
      sizes += fmt::format(", sizeof({})", type);
    }
    line("extern \"C\" void {}(void* const* arguments, long long begin, long long end) {{", symbol);
    line("  {}(begin, end{});", entry.symbol, arguments);
    line("}}");
    line("extern \"C\" {{");
    line("extern const unsigned long long {}_sizes[];", symbol);
    line("const unsigned long long {}_sizes[] = {{{}{}}};", symbol, entry.parameter_types.size(), sizes);
    line("}}");
  }

  std::span<const EmittedKernel* const> kernels_;
  std::span<const Precision> precisions_;
  bool with_wrappers_ = false;
  bool checks_indices_ = false;
  BatchSource batch_;
};

/// The kernels whose file name occurs in one line of a log.
std::set<std::size_t> kernels_named_in(std::string_view line) {
  std::set<std::size_t> kernels;
  for (std::size_t at = line.find(kFilePrefix); at != std::string_view::npos; at = line.find(kFilePrefix, at)) {
    at += kFilePrefix.size();
    std::size_t kernel = 0;
    const auto [end, error] = std::from_chars(line.data() + at, line.data() + line.size(), kernel);
    if (error == std::errc{} && end != line.data() + line.size() && *end == ':') {
      kernels.insert(kernel);
    }
  }
  return kernels;
}

bool reports_error(std::string_view line) {
  static constexpr std::array<std::string_view, 3> kMarks{": error: ", ": fatal error: ", ": undefined reference "};
  for (const std::string_view mark : kMarks) {
    if (line.find(mark) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

BatchSource compose_batch(std::span<const EmittedKernel* const> kernels, std::span<const Precision> precisions) {
  return Composer(kernels, precisions).compose();
}

BatchSource compose_batch_with_wrappers(std::span<const EmittedKernel* const> kernels, const BuildFlags& flags) {
  return Composer(kernels, flags).compose();
}

std::optional<BatchFile> batch_file(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);
  if (name.starts_with(kHelperPrefix)) return BatchFile{{}, std::string(name.substr(kHelperPrefix.size()))};
  const std::set<std::size_t> kernels = kernels_named_in(name);
  if (kernels.size() != 1) return std::nullopt;
  return BatchFile{*kernels.begin(), {}};
}

std::set<std::size_t> blamed_kernels(std::string_view log) {
  std::set<std::size_t> with_error;
  std::set<std::size_t> mentioned;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    const std::set<std::size_t> kernels = kernels_named_in(line);
    mentioned.insert(kernels.begin(), kernels.end());
    if (reports_error(line)) {
      with_error.insert(kernels.begin(), kernels.end());
    }
  }
  return with_error.empty() ? mentioned : with_error;
}

std::string readable_log(std::string log, std::string_view kernel_name) {
  const std::string from = fmt::format("{}0:{}", kFilePrefix, kernel_name);
  const std::string to = fmt::format("{}.cpp", kernel_name);
  for (std::size_t at = log.find(from); at != std::string::npos; at = log.find(from, at + to.size())) {
    log.replace(at, from.size(), to);
  }
  return log;
}

}  // namespace assay::backends
