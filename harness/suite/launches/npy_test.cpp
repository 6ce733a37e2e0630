#include "harness/suite/launches/npy.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace assay::harness {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NpyTest : public ::testing::Test {
 protected:
  NpyTest() : path_(fs::temp_directory_path() / fmt::format("assay-npy-{}.npy", ::getpid())) {}
  ~NpyTest() override { fs::remove(path_); }

  /// A file of version 1 with this header, padded as NumPy does, and `bytes` zero bytes.
  Result<NpyArray> read(std::string header, std::size_t bytes) const {
    header.resize(118, ' ');
    return read_text(std::string("\x93NUMPY\x01\0\x76\0", 10) + header + std::string(bytes, '\0'));
  }
  Result<NpyArray> read_text(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return read_npy(path_);
  }
  std::string error(const std::string& header, std::size_t bytes) const {
    const auto read_back = read(header, bytes);
    return read_back.ok() ? "" : read_back.error().text();
  }

  fs::path path_;
};

TEST_F(NpyTest, ReadsShapeAndElements) {
  const auto array = read("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24);
  ASSERT_TRUE(array.ok()) << array.error().text();
  EXPECT_EQ(array->dtype_descriptor, "<f4");
  EXPECT_EQ(array->item_size_bytes, 4U);
  EXPECT_THAT(array->shape, ElementsAre(2, 3));
  EXPECT_EQ(array->bytes.size(), 24U);
}

TEST_F(NpyTest, ReadsStructuredElementsAsRawBytes) {
  const auto array = read("{'descr': '|V12', 'fortran_order': False, 'shape': (5,), }", 60);
  ASSERT_TRUE(array.ok()) << array.error().text();
  EXPECT_EQ(array->item_size_bytes, 12U);
}

TEST_F(NpyTest, ReportsWhyFileIsRejected) {
  EXPECT_THAT(read_text("x,y\n1,2\n").error().text(), HasSubstr("not a .npy file"));
  EXPECT_THAT(read_text(std::string("\x93NUMPY\x09\0\x76\0", 10) + std::string(200, ' ')).error().text(),
              HasSubstr("version of a .npy file must be 1 to 3, got 9"));
  EXPECT_THAT(error("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", 24), HasSubstr("row-major order"));
  EXPECT_THAT(error("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8), HasSubstr("got >f4"));
  EXPECT_THAT(error("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", 8), HasSubstr("got |O"));
  EXPECT_THAT(error("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 23), HasSubstr("got 23 bytes"));
  EXPECT_THAT(error("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9), }", 23),
              HasSubstr("got 23 bytes"));
  EXPECT_THAT(error("{'shape': 'none'}", 0), HasSubstr("header"));
  fs::remove(path_);
  EXPECT_THAT(read_npy(path_).error().text(), HasSubstr(path_.string()));
}

}  // namespace
}  // namespace assay::harness
