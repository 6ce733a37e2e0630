#include "cli/testing/command_runner.hpp"

#include <cstdlib>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::cli::testing {

namespace fs = std::filesystem;

Workshop::Workshop(std::string program) : program_(std::move(program)) {
  std::string name = (fs::temp_directory_path() / "assay-cli-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test: " + name);
  path_ = name;
}

Workshop::~Workshop() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

CommandResult Workshop::run(const std::string& command) const {
  write("command.sh", fmt::format("program='{}'\nassay() {{ \"$program\" \"$@\"; }}\ncd '{}'\n{}\n", program_,
                                  path_.string(), command));
  const int status = std::system(  // NOLINT(cert-env33-c): the shell is the point
      fmt::format("sh '{0}/command.sh' >'{0}/stdout' 2>'{0}/stderr' </dev/null", path_.string()).c_str());
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = read("stdout"),
          .err = read("stderr")};
}

void Workshop::write(const std::string& name, std::string_view text) const {
  fs::create_directories((path_ / name).parent_path());
  std::ofstream(path_ / name, std::ios::binary) << text;
}

std::string Workshop::read(const std::string& name) const {
  std::ifstream stream(path_ / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace assay::cli::testing
