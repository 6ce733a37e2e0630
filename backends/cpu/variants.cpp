#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "backends/cpu/compiler.hpp"
#include "backends/cpu/device.hpp"
#include "backends/cpu/process.hpp"

namespace assay::cpu {

using backends::BuildVariant;
using backends::DeviceOptions;

namespace {

/// Undefined behavior raises SIGILL and needs no library at run time.
constexpr const char* kTrapOptions = "-fsanitize=undefined -fsanitize-undefined-trap-on-error";

/// The names under which distributions install compilers.
std::vector<std::string> usual_names() {
  std::vector<std::string> names{"g++", "clang++"};
  for (int version = kOldestVersion; version <= kNewestVersion; ++version) {
    names.push_back(fmt::format("g++-{}", version));
    names.push_back(fmt::format("clang++-{}", version));
  }
  return names;
}

/// The command as a part of names of modes: "g++-12", "clang++_-m32".
std::string label_of(const std::string& command) {
  const std::size_t space = std::min(command.find(' '), command.size());
  std::string name = std::filesystem::path(command.substr(0, space)).filename().string() + command.substr(space);
  std::ranges::replace_if(
      name,
      [](unsigned char c) { return std::isalnum(c) == 0 && std::string_view("+-.=").find(c) == std::string::npos; },
      '_');
  return name;
}

}  // namespace

Result<std::vector<backends::NamedBuild>> named_builds(const DeviceOptions& options,
                                                       const backends::BuildChoices& choices) {
  std::vector<backends::NamedBuild> result;
  std::set<std::string> names;
  for (const std::string& command : choices.compilers) {
    DeviceOptions one = options;
    one.compiler = command;
    const Result<Compiler> compiler = Compiler::find(command);
    if (!compiler.ok()) return Error{fmt::format("--cxx {}: {}", command, compiler.error().text())};
    std::string name;
    if (choices.compilers.size() > 1) name = label_of(command.empty() ? compiler->program().string() : command);
    if (!names.insert(name).second)
      return Error{fmt::format("--cxx {}: the compiler {} is chosen twice", command, name)};
    result.push_back({.name = std::move(name), .options = std::move(one)});
  }
  if (result.empty()) result.push_back({.name = "", .options = options});
  return result;
}

std::vector<BuildVariant> variants(const DeviceOptions& chosen) {
  using Role = BuildVariant::Role;
  const Result<Compiler> compiler = Compiler::find(chosen.compiler);
  if (!compiler.ok()) return {};
  std::vector<BuildVariant> result;
  for (const Role role : {Role::kSameFlags, Role::kUnoptimized})
    result.push_back({.role = role, .compiler = compiler->version(), .target = {}, .options = chosen});
  DeviceOptions trapping = chosen;
  trapping.compiler = fmt::format("{} {}", compiler->program().string(), kTrapOptions);
  result.push_back(
      {.role = Role::kTrapOnUndefinedBehavior, .compiler = compiler->version(), .target = {}, .options = trapping});
  // Several names may be links to one compiler.
  std::error_code unresolved;
  std::set<std::filesystem::path> known{std::filesystem::canonical(compiler->program(), unresolved)};
  for (const std::string& name : usual_names()) {
    if (!find_program(name)) continue;
    const Result<Compiler> other = Compiler::find(name);
    if (!other.ok() || !known.insert(std::filesystem::canonical(other->program(), unresolved)).second) continue;
    DeviceOptions options = chosen;
    options.compiler = name;
    result.push_back({.role = Role::kOtherCompiler, .compiler = other->version(), .target = {}, .options = options});
  }
  return result;
}

}  // namespace assay::cpu
