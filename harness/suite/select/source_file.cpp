#include "harness/suite/select/source_file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace assay::harness {

namespace fs = std::filesystem;

Result<std::string> source_file_contents(const std::string& path, const frontend::FrontendRow& language) {
  const auto reject = [&](const std::string& why) {
    return Error{fmt::format("cannot be read: {}; expected {}", why, language.file_kind), path};
  };
  std::error_code error;
  if (fs::is_directory(path, error)) return reject("it is a folder");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream.is_open()) return reject(std::generic_category().message(errno));
  std::string text(language.max_source_size + 1, '\0');  // a device file may be endless
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) return reject(std::generic_category().message(errno));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

}  // namespace assay::harness
