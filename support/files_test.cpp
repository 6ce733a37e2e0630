#include "support/files.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/hash.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FilesTest : public ::testing::Test {
 protected:
  FilesTest() : dir_(fs::temp_directory_path() / fmt::format("assay-files-{}", ::getpid())) {}
  ~FilesTest() override { fs::remove_all(dir_); }

  fs::path lines(int count, Compression compression = Compression::kZstd, const std::string& name = "lines") const {
    const fs::path path = dir_ / (name + ".jsonl" + std::string(suffix_of(compression)));
    Result<LineWriter> file = LineWriter::create(path);
    EXPECT_TRUE(file.ok());
    for (int i = 0; i < count; ++i)
      EXPECT_TRUE(file->add(fmt::format("line {} {:0{}}", i, 0, i % 5000)).ok());
    EXPECT_TRUE(file->commit().ok());
    return path;
  }

  /// Lines that could be read, and the error that ended it.
  static std::pair<int, std::string> read(const fs::path& path) {
    Result<LineReader> reader = LineReader::open(path);
    if (!reader.ok()) return {0, reader.error().text()};
    std::string line;
    for (int count = 0;; ++count) {
      const Result<bool> more = reader->next(line);
      if (!more.ok()) return {count, more.error().text()};
      if (!*more) return {count, ""};
      EXPECT_THAT(line, ::testing::StartsWith(fmt::format("line {} ", count)));
    }
  }

  fs::path dir_;
};

constexpr Compression kBothFormats[] = {Compression::kGzip, Compression::kZstd};

TEST_F(FilesTest, LinesRoundTripThroughCompressedFile) {
  for (const Compression compression : kBothFormats) {
    EXPECT_EQ(read(lines(0, compression)), std::pair(0, std::string()));
    EXPECT_EQ(read(lines(3000, compression)), std::pair(3000, std::string()));
  }
}

TEST_F(FilesTest, FindsCompressionFormatByName) {
  for (const Compression compression : kBothFormats)
    EXPECT_EQ(find_compression(name_of(compression)), compression);
  EXPECT_EQ(find_compression("bzip2"), std::nullopt);
}

TEST_F(FilesTest, GzipFilesAreCompatibleWithGzipTool) {
  // Two members, as `cat one.gz two.gz` makes them.
  const fs::path path = lines(20, Compression::kGzip);
  const std::string one = read_file_text(path).take();
  ASSERT_TRUE(put_file(dir_ / "plain", "line 0 a\nline 1 b\n").ok());
  ASSERT_EQ(std::system(fmt::format("gzip -c {0}/plain > {0}/tool.gz", dir_.string()).c_str()), 0);
  EXPECT_EQ(read(dir_ / "tool.gz"), std::pair(2, std::string()));
  ASSERT_EQ(std::system(fmt::format("gzip -t {}", path.string()).c_str()), 0);
  ASSERT_TRUE(put_file(dir_ / "twice.gz", one + one).ok());
  int count = 0;
  ASSERT_TRUE(read_pieces(dir_ / "twice.gz", [&](std::string_view bytes) {
                count += static_cast<int>(std::ranges::count(bytes, '\n'));
              }).ok());
  EXPECT_EQ(count, 40);
}

TEST_F(FilesTest, SameLinesGiveSameCompressedBytes) {
  for (const Compression compression : kBothFormats) {
    EXPECT_EQ(read_file_text(lines(50, compression, "one")).value(),
              read_file_text(lines(50, compression, "two")).value());
  }
}

TEST_F(FilesTest, ReportsTruncatedFileAfterIntactLines) {
  for (const Compression compression : kBothFormats) {
    const fs::path path = lines(20000, compression);
    fs::resize_file(path, fs::file_size(path) / 2);
    const auto [count, error] = read(path);
    EXPECT_GT(count, 0);
    EXPECT_THAT(error, HasSubstr("truncated"));
  }
}

TEST_F(FilesTest, DetectsCorruptedCompressedFile) {
  for (const Compression compression : kBothFormats) {
    const fs::path path = lines(2000, compression);
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(fs::file_size(path) / 2));
    file.put('\x55').put('\x55');
    file.close();
    const Result<void> read = read_pieces(path, [](std::string_view) {});
    EXPECT_THAT(read.error().text(), HasSubstr(fmt::format("broken {}", name_of(compression))));
  }
}

TEST_F(FilesTest, WritesFileWithoutFolderNameToCurrentFolder) {
  fs::create_directories(dir_);
  const fs::path before = fs::current_path();
  fs::current_path(dir_);
  const Result<void> put = put_file("here.txt", "whole");
  fs::current_path(before);
  ASSERT_TRUE(put.ok()) << put.error().text();
  EXPECT_EQ(read_file_text(dir_ / "here.txt").take(), "whole");
}

TEST_F(FilesTest, NewFileAppearsOnlyAfterCommit) {
  {
    Result<AtomicFile> file = AtomicFile::create(dir_ / "a" / "b.txt");
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write("half").ok());
    EXPECT_FALSE(fs::exists(dir_ / "a" / "b.txt"));
  }
  EXPECT_TRUE(fs::is_empty(dir_ / "a"));
  ASSERT_TRUE(put_file(dir_ / "a" / "b.txt", "whole").ok());
  EXPECT_EQ(read_file_text(dir_ / "a" / "b.txt").value(), "whole");
  EXPECT_EQ(sha256_of_file(dir_ / "a" / "b.txt").value(), sha256_hex("whole"));
}

TEST_F(FilesTest, ReplacedFileKeepsItsMode) {
  ASSERT_TRUE(put_file(dir_ / "private.txt", "old").ok());
  constexpr fs::perms kOwnerOnly = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(dir_ / "private.txt", kOwnerOnly);
  ASSERT_TRUE(put_file(dir_ / "private.txt", "new").ok());
  EXPECT_EQ(read_file_text(dir_ / "private.txt").value(), "new");
  EXPECT_EQ(fs::status(dir_ / "private.txt").permissions(), kOwnerOnly);
}

TEST_F(FilesTest, WritesToTargetOfSymbolicLink) {
  ASSERT_TRUE(put_file(dir_ / "data" / "old.txt", "old").ok());
  for (const char* const name : {"old.txt", "missing.txt"}) {
    const fs::path link = dir_ / fmt::format("link to {}", name);
    fs::create_symlink(fs::path("data") / name, dir_ / "first link");
    fs::create_symlink("first link", link);
    ASSERT_TRUE(put_file(link, "new").ok());
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(read_file_text(dir_ / "data" / name).value(), "new");
    fs::remove(dir_ / "first link");
  }
  fs::create_symlink("loop", dir_ / "loop");
  EXPECT_THAT(put_file(dir_ / "loop", "new").error().text(), HasSubstr("Too many levels of symbolic links"));
}

TEST_F(FilesTest, WritesToPipeAndDeviceInsteadOfReplacingThem) {
  fs::create_directories(dir_);
  const fs::path pipe = dir_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(put_file(pipe, "text").ok());
  char bytes[16];
  EXPECT_EQ(::read(reader, bytes, sizeof bytes), 4);
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));

  fs::create_symlink("/dev/full", dir_ / "full");
  EXPECT_THAT(put_file(dir_ / "full", "text").error().text(), HasSubstr("No space left on device"));
}

TEST_F(FilesTest, FailedReadAndWriteReportCause) {
  EXPECT_THAT(put_file("/proc/assay/x", "").error().text(), HasSubstr("/proc/assay"));
  EXPECT_THAT(read_file_text(dir_ / "missing").error().text(), HasSubstr("No such file"));
  fs::create_directories(dir_ / "folder.gz");
  EXPECT_THAT(read_file_text(dir_ / "folder.gz").error().text(), HasSubstr("the path is a folder"));
  EXPECT_THAT(read(dir_ / "folder.gz").second, HasSubstr("the path is a folder"));
}

}  // namespace
}  // namespace assay
