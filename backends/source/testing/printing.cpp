#include "backends/source/testing/printing.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include <dlfcn.h>
#include <fmt/format.h>

#include "ir/text.hpp"

namespace assay::source::testing {
namespace {

using backends::EmittedKernel;
using backends::SourceTarget;

/// A directory that is removed with its owner.
class Directory {
 public:
  Directory() : path_((std::filesystem::temp_directory_path() / "assay-source-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot create a temporary directory");
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name, const std::string& content = "") const {
    const std::string path = path_ + "/" + name;
    if (!content.empty()) std::ofstream(path) << content;
    return path;
  }

 private:
  std::string path_;
};

std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run: " + command);
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), size);
  const int status = ::pclose(pipe);
  if (status != 0 && output.empty()) output = fmt::format("exit status {}", status);
  return output;
}

std::string compiler() {
  const char* chosen = std::getenv("CXX");
  return fmt::format("{} -std=c++17", chosen != nullptr && *chosen != '\0' ? chosen : "c++");
}

}  // namespace

ir::Module parse(std::string_view text) {
  auto module = ir::parse_text(text);
  if (!module.ok()) throw std::runtime_error(module.error().text());
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);)
    module->source_lines.push_back(line);
  return std::move(module).value();
}

EmittedKernel print_first(const ir::Module& module, SourceTarget target, const PrintOptions& options) {
  auto kernel = print(module, module.kernels.at(0), nullptr, target, options);
  if (!kernel.ok()) throw std::runtime_error(kernel.error().text());
  return std::move(kernel).value();
}

std::vector<EmittedKernel> print_all(const ir::Module& module, SourceTarget target) {
  std::vector<EmittedKernel> kernels;
  for (const ir::Function& kernel : module.kernels) {
    auto emitted = print(module, kernel, nullptr, target);
    if (!emitted.ok()) throw std::runtime_error(emitted.error().text());
    kernels.push_back(std::move(emitted).value());
  }
  return kernels;
}

std::string printed(std::string_view text, SourceTarget target) {
  const std::string body = print_first(parse(text), target, {.prints_source_comments = false}).body;
  constexpr std::string_view kAliasEnd = "using real = ASSAY_REAL;\n";
  const std::size_t alias = body.find(kAliasEnd);
  return body.substr(alias == std::string::npos ? 0 : alias + kAliasEnd.size());
}

std::string joined(std::span<const EmittedKernel> kernels, bool checks_indices) {
  std::set<std::string> present;
  std::string text;
  for (const EmittedKernel& kernel : kernels) {
    for (const backends::SourceHelper& helper : kernel.helpers) {
      const bool is_checked = checks_indices && !helper.checked_text.empty();
      if (present.insert(helper.name).second) text += is_checked ? helper.checked_text : helper.text;
    }
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    text += fmt::format("namespace kernel_{} {{\n{}}}\n", i, kernels[i].body);
  }
  return text;
}

std::string command_output(const std::string& command, const std::string& source) {
  const Directory directory;
  return output_of(fmt::format("{} {}", command, directory.file("kernel.cpp", source)));
}

std::string compiler_output(const std::string& source, const std::string& arguments) {
  return command_output(fmt::format("{} {}", compiler(), arguments), source);
}

Library::Library(const std::string& source, const std::string& arguments) {
  const Directory directory;
  const std::string library = directory.file("kernel.so");
  const std::string output = compiler_output(source, fmt::format("-shared -fPIC {} -o {}", arguments, library));
  handle_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw std::runtime_error(output + ::dlerror());
}

Library::~Library() { ::dlclose(handle_); }

void* Library::address(const std::string& symbol) const {
  void* found = ::dlsym(handle_, symbol.c_str());
  if (found == nullptr) throw std::runtime_error("the library has no " + symbol);
  return found;
}

}  // namespace assay::source::testing
