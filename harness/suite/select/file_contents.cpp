#include "harness/suite/select/file_contents.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "frontend/warp/syntax/source_text.hpp"

namespace assay::harness {

namespace fs = std::filesystem;

Result<std::string> python_file_contents(const std::string& path) {
  const auto reject = [&](const std::string& why) {
    return Error{fmt::format("cannot be read: {}; expected a Python file with Warp kernels", why), path};
  };
  std::error_code error;
  if (fs::is_directory(path, error)) return reject("it is a folder");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream.is_open()) return reject(std::generic_category().message(errno));
  std::string text(frontend::kLargestSource + 1, '\0');  // a device may have no end; more is refused by the reader
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) return reject(std::generic_category().message(errno));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

}  // namespace assay::harness
