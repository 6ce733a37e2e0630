// Archives made by tar are unpacked; malicious and damaged archives are rejected and leave no files.
#include "support/tar_archive.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ArchiveTest : public ::testing::Test {
 protected:
  ArchiveTest() {
    std::string name = (fs::temp_directory_path() / "assay-archive-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~ArchiveTest() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& content) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  [[nodiscard]] std::string read(const fs::path& path) const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Packs files of the folder `in` with the system's tar.
  [[nodiscard]] fs::path packed(const std::string& options, const std::string& what) const {
    const std::string command =
        fmt::format("cd '{}/in' && tar {} -f ../packed.tar {} 2>/dev/null", folder_.string(), options, what);
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return folder_ / "packed.tar";
  }
  /// An archive of one entry with a valid checksum, whose header is edited by `change`.
  [[nodiscard]] fs::path made(const std::function<void(std::string&)>& change) const {
    std::string header(512, '\0');
    header.replace(0, 4, "file");
    header.replace(100, 7, "0000644");
    header.replace(124, 11, "00000000005");
    header.replace(156, 1, "0");
    header.replace(257, 8, std::string("ustar\00000", 8));
    change(header);
    header.replace(148, 8, "        ");
    unsigned sum = 0;
    for (const char c : header)
      sum += static_cast<unsigned char>(c);
    header.replace(148, 7, fmt::format("{:06o}{}", sum, '\0'));
    write("made.tar", header + "hello" + std::string(507 + 1024, '\0'));
    return folder_ / "made.tar";
  }
  /// The error of unpacking; checks that no files are left.
  [[nodiscard]] std::string rejection(const fs::path& archive, const ArchiveLimits& limits = {}) const {
    const auto unpacked = unpack_archive(archive, folder_ / "to", limits);
    EXPECT_FALSE(unpacked.ok());
    EXPECT_TRUE(fs::is_empty(folder_ / "to"));
    return unpacked.ok() ? "" : unpacked.error().text();
  }

  fs::path folder_;
};

TEST_F(ArchiveTest, UnpacksPlainAndGzipArchives) {
  const std::string large(100'000, 'x');
  const std::string deep = "in/gpu/run/failures/" + std::string(90, 'f') + "/" + std::string(60, 'g') + "/reproduce.sh";
  write("in/gpu/run/records.jsonl", large);
  write("in/gpu/doctor.txt", "");
  write(deep, "#!/bin/sh\n");
  fs::permissions(folder_ / deep, fs::perms::owner_exec, fs::perm_options::add);
  for (const char* const options : {"--format=ustar -c", "--format=ustar -cz"}) {
    const auto unpacked = unpack_archive(packed(options, "gpu"), folder_ / "to");
    ASSERT_TRUE(unpacked.ok()) << unpacked.error().text();
    EXPECT_THAT(*unpacked, ElementsAre(folder_ / "to/gpu"));
    EXPECT_EQ(read(folder_ / "to/gpu/run/records.jsonl"), large);
    EXPECT_TRUE(fs::exists(folder_ / "to/gpu/doctor.txt"));
    const fs::path script = folder_ / "to" / deep.substr(3);
    EXPECT_EQ(read(script), "#!/bin/sh\n");
    EXPECT_NE(fs::status(script).permissions() & fs::perms::owner_exec, fs::perms::none);
    fs::remove_all(folder_ / "to");
  }
}

TEST_F(ArchiveTest, DoesNotOverwriteExistingFiles) {
  write("in/gpu/doctor.txt", "new");
  write("to/gpu/doctor.txt", "old");
  const auto unpacked = unpack_archive(packed("--format=ustar -c", "gpu"), folder_ / "to");
  ASSERT_FALSE(unpacked.ok());
  EXPECT_THAT(unpacked.error().text(), HasSubstr("already exists"));
  EXPECT_EQ(read(folder_ / "to/gpu/doctor.txt"), "old");
}

TEST_F(ArchiveTest, RejectsEntriesWithPathsOutsideTargetFolder) {
  const auto named = [&](const std::string& name) {
    return rejection(made([&](std::string& header) { header.replace(0, name.size(), name); }));
  };
  EXPECT_THAT(named("/etc/motd"), HasSubstr("absolute path"));
  EXPECT_THAT(named("../motd"), HasSubstr("a path with '..'"));
  EXPECT_THAT(named("a/../../motd"), HasSubstr("a path with '..'"));
  EXPECT_THAT(named("a\\b"), HasSubstr("control characters or backslashes"));
  EXPECT_THAT(rejection(made([](std::string& header) { header.replace(345, 2, ".."); })),
              HasSubstr("a path with '..'"));
  EXPECT_FALSE(fs::exists(folder_ / "motd"));
}

TEST_F(ArchiveTest, RejectsLinksDevicesAndExtensionEntries) {
  for (const char type : {'1', '2', '3', '4', '6', 'L', 'x', 'S'}) {
    const std::string said = rejection(made([&](std::string& header) { header[156] = type; }));
    EXPECT_THAT(said, HasSubstr(fmt::format("an entry of type '{}'", type)));
  }
  write("in/plain", "");
  fs::create_symlink("/etc", folder_ / "in/link");
  EXPECT_THAT(rejection(packed("--format=ustar -c", "link")), HasSubstr("type '2'"));
}

TEST_F(ArchiveTest, RejectsArchivesAboveSizeOrEntryLimit) {
  write("in/a", std::string(600, 'a'));
  write("in/b", std::string(600, 'b'));
  const fs::path archive = packed("--format=ustar -cz", "a b");
  EXPECT_THAT(rejection(archive, {.max_bytes = 1199}), HasSubstr("unpacks to more than 1199 bytes"));
  EXPECT_THAT(rejection(archive, {.max_entries = 1}), HasSubstr("more than 1 entries"));
  EXPECT_TRUE(unpack_archive(archive, folder_ / "to", {.max_bytes = 1200, .max_entries = 2}).ok());
}

TEST_F(ArchiveTest, RejectsDamagedAndTruncatedArchives) {
  write("in/file", std::string(100'000, 'x'));
  const std::string whole = read(packed("--format=ustar -cz", "file"));
  write("cut.tar", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(rejection(folder_ / "cut.tar"), HasSubstr("truncated"));
  std::string damaged = read(packed("--format=ustar -c", "file"));
  damaged[3] = 'X';
  write("damaged.tar", damaged);
  EXPECT_THAT(rejection(folder_ / "damaged.tar"), HasSubstr("is damaged"));
  write("twice.tar", read(packed("--format=ustar --hard-dereference -c", "file file")));
  EXPECT_THAT(rejection(folder_ / "twice.tar"), HasSubstr("duplicate entry"));
  write("text.tar", std::string(4096, 't'));
  EXPECT_THAT(rejection(folder_ / "text.tar"), HasSubstr("not a ustar archive"));
  EXPECT_THAT(rejection(folder_ / "missing.tar"), HasSubstr("cannot be opened"));
}

}  // namespace
}  // namespace assay
