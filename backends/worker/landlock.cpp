#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/worker/process.hpp"
#include "backends/worker/restrictions.hpp"
#include "backends/worker/sanitized.hpp"

namespace assay::worker {

namespace {

/// struct landlock_ruleset_attr of version 6; the headers of older systems lack the last members.
struct RulesetAttributes {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;
  std::uint64_t scoped;
};

constexpr std::uint64_t kBindAndConnectTcp = 0b11;
constexpr std::uint64_t kAbstractSocketsAndSignals = 0b11;

/// All file rights that the version knows. They are consecutive bits; newer versions add more.
constexpr std::uint64_t file_rights(std::int32_t version) {
  constexpr std::array<unsigned, 6> kBits{0, 13, 14, 15, 15, 16};
  const auto known = static_cast<std::size_t>(version) < kBits.size() ? static_cast<std::size_t>(version) : 5;
  return (std::uint64_t{1} << kBits[known]) - 1;
}

RulesetAttributes attributes_of(std::int32_t version) {
  return {.handled_access_fs = file_rights(version),
          .handled_access_net = version >= kMinLandlockVersionForNetwork ? kBindAndConnectTcp : 0,
          .scoped = version >= kMinLandlockVersionForSignals ? kAbstractSocketsAndSignals : 0};
}

/// A path that does not exist needs no rule.
bool allow(int ruleset, const std::string& path, std::uint64_t rights) {
  const FileDescriptor place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (place.get() < 0) {
    return errno == ENOENT || errno == ENOTDIR;
  }
  const landlock_path_beneath_attr rule{.allowed_access = rights, .parent_fd = place.get()};
  return ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0U) == 0;
}

bool allow_reading(int ruleset, const std::string& path) { return allow(ruleset, path, LANDLOCK_ACCESS_FS_READ_FILE); }

bool allow_reading_libraries(int ruleset) {
  for (const char* const path : {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"}) {
    if (!allow_reading(ruleset, path)) return false;
  }
  const char* const variable = std::getenv("LD_LIBRARY_PATH");
  for (std::string_view rest = variable == nullptr ? "" : variable; !rest.empty();) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    if (!folder.empty() && !allow_reading(ruleset, std::string(folder))) return false;
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
  }
  // Sanitizers read process information in /proc, and source files for their reports.
  return !kIsSanitizerBuild || allow_reading(ruleset, "/");
}

/// Restricts the process to the rules that `add_rules` adds, for all file rights except `free_rights`. `add_rules` gets
/// the rule set and its version and returns false, with errno set, if a rule cannot be added.
template <class AddRules>
std::int32_t restrict_to(std::uint64_t free_rights, std::int32_t& version, const AddRules& add_rules) {
  const long known = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (known < 0) {
    return errno;
  }
  const auto usable = static_cast<std::int32_t>(known);
  RulesetAttributes attributes = attributes_of(usable);
  attributes.handled_access_fs &= ~free_rights;
  const FileDescriptor ruleset(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0U)));
  if (ruleset.get() < 0 || !add_rules(ruleset.get(), usable) ||
      ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0U) != 0) {
    return errno;
  }
  version = usable;
  return 0;
}

/// Control of devices; the headers of older systems lack it.
constexpr std::uint64_t kDeviceControl = std::uint64_t{1} << 15U;
constexpr std::uint64_t kReadAndExecute =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | kDeviceControl;

bool allow_null_device(int ruleset) { return allow(ruleset, "/dev/null", LANDLOCK_ACCESS_FS_WRITE_FILE); }

}  // namespace

std::int32_t restrict_file_access(const char* folder, std::int32_t& version) {
  return restrict_to(0, version, [folder](int ruleset, std::int32_t) {
    return allow_reading(ruleset, folder) && allow_reading_libraries(ruleset);
  });
}

std::int32_t restrict_writing(const char* folder, std::int32_t& version) {
  return restrict_to(kReadAndExecute, version, [folder](int ruleset, std::int32_t usable) {
    return allow(ruleset, folder, file_rights(usable) & ~kReadAndExecute) && allow_null_device(ruleset);
  });
}

std::int32_t forbid_writing(std::int32_t& version) {
  return restrict_to(kReadAndExecute, version, [](int ruleset, std::int32_t) { return allow_null_device(ruleset); });
}

}  // namespace assay::worker
