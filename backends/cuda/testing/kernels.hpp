// Test kernels of this folder in hand-written PTX, which need no NVRTC.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "backends/device/backend.hpp"
#include "support/testing/temporary_directory.hpp"

namespace assay::cuda::testing {

/// An entry `<name>_forward` with parameters (count, float* x, float a) that executes `body` in each thread below
/// count. In `body`, %rd1 is the address of x[i], %f1 is x[i] and %f2 is a.
inline std::string ptx_of(const std::string& name, const std::string& body) {
  return ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry " + name +
         "_forward(.param .u64 count, .param .u64 x, .param .f32 a)\n{\n"
         ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>;\n"
         "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.s32 %r4, %r1, %r2, %r3;\n"
         "cvt.u64.u32 %rd2, %r4;\nld.param.u64 %rd3, [count];\nsetp.ge.u64 %p1, %rd2, %rd3;\n@%p1 bra DONE;\n"
         "ld.param.u64 %rd4, [x];\nshl.b64 %rd5, %rd2, 2;\nadd.s64 %rd1, %rd4, %rd5;\n"
         "ld.global.f32 %f1, [%rd1];\nld.param.f32 %f2, [a];\n" +
         body + "\nDONE:\nret;\n}\n";
}

/// A kernel with one PTX artifact, written to a file in the directory.
inline backends::BuiltKernel built_kernel(const std::filesystem::path& directory, const std::string& name,
                                          const std::string& body) {
  backends::Artifact artifact{.kind = backends::Artifact::Kind::kPtx,
                              .precision = backends::Precision::kNative,
                              .architecture = "compute_75",
                              .path = directory / (name + ".ptx"),
                              .content = ptx_of(name, body)};
  std::ofstream(artifact.path) << artifact.content;
  return {.name = name,
          .entry_points = {{.pass = backends::Pass::kForward, .symbol = name + "_forward", .parameter_count = 2}},
          .artifacts = {std::make_shared<const backends::Artifact>(std::move(artifact))},
          .target_architectures = {},
          .log = {}};
}

inline constexpr const char* kScale = "mul.f32 %f3, %f1, %f2;\nst.global.f32 [%rd1], %f3;";

}  // namespace assay::cuda::testing
