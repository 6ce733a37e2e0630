// An instruction on many inputs, held against a model of it. For the tests of this folder.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing.hpp"

namespace assay::ptx::testing {

__extension__ typedef __float128 Quad;  // 113 bits of significand

struct Inputs {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
};

/// "b32" registers for values of 4 bytes and so on; floats of 4 and 8 bytes have registers of their own.
inline std::string register_for(char kind, unsigned bytes) {
  if (kind == 'f' && bytes >= 4) return bytes == 8 ? "%fd" : "%f";
  return bytes == 8 ? "%rd" : bytes == 4 ? "%r" : "%rs";
}
inline std::string move_type(char kind, unsigned bytes) {
  return fmt::format("{}{}", kind == 'f' && bytes >= 4 ? 'f' : 'b', 8 * bytes);
}

/// How an instruction is applied: "add.s32", its operands' and its result's size, the kind 'i' or 'f' of registers. The
/// b operand of a shift has 4 bytes whatever the type.
struct Form {
  std::string op;
  int operands = 2;
  unsigned bytes = 4;
  unsigned result_bytes = 4;
  char kind = 'i';
  unsigned b_bytes = 0;  ///< 0: as bytes
};

/// The results for all inputs, one thread each.
inline std::vector<std::uint64_t> evaluate(const Form& form, const std::vector<Inputs>& inputs) {
  const unsigned b_bytes = form.b_bytes == 0 ? form.bytes : form.b_bytes;
  const std::string a = register_for(form.kind, form.bytes) + "10";
  const std::string b = register_for(form.kind, b_bytes) + "11";
  const std::string c = register_for(form.kind, form.bytes) + "13";
  const std::string d = register_for(form.kind, form.result_bytes) + "12";
  std::string body =
      "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 256, %r1;"
      " mul.wide.u32 %rd2, %r1, 32; add.s64 %rd1, %rd1, %rd2;\n";
  body += fmt::format("ld.global.{} {}, [%rd1]; ld.global.{} {}, [%rd1+8]; ld.global.{} {}, [%rd1+16];\n",
                      move_type(form.kind, form.bytes), a, move_type(form.kind, b_bytes), b,
                      move_type(form.kind, form.bytes), c);
  body += fmt::format("{} {}, {}{}{};\n", form.op, d, a, form.operands > 1 ? ", " + b : "",
                      form.operands > 2 ? ", " + c : "");
  body += fmt::format("st.global.{} [%rd1+24], {};", move_type(form.kind, form.result_bytes), d);
  std::vector<std::uint64_t> data((inputs.size() + 255) / 256 * 256 * 4);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    data[4 * i] = inputs[i].a;
    data[4 * i + 1] = inputs[i].b;
    data[4 * i + 2] = inputs[i].c;
  }
  const auto blocks = static_cast<std::uint32_t>(data.size() / 1024);
  const auto done = run(entry(body), data, {{blocks}, {256}});
  EXPECT_TRUE(done.result.ok()) << form.op << ": " << done.result.message;
  std::vector<std::uint64_t> results;
  for (std::size_t i = 0; i < inputs.size() && !done.data.empty(); ++i)
    results.push_back(done.data[4 * i + 3]);
  return results;
}

inline bool is_nan(const Form& form, std::uint64_t bits) {
  return form.kind == 'f' && form.result_bytes == 8 && std::isnan(std::bit_cast<double>(bits));
}

template <class Model>
void expect_model(const Form& form, const std::vector<Inputs>& inputs, Model model) {
  const std::vector<std::uint64_t> results = evaluate(form, inputs);
  ASSERT_EQ(results.size(), inputs.size()) << form.op;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::uint64_t expected = model(inputs[i]);
    if (is_nan(form, expected) && is_nan(form, results[i])) continue;  // PTX leaves open which NaN of 64 bits it is
    ASSERT_EQ(results[i], expected) << form.op << std::hex << " of 0x" << inputs[i].a << ", 0x" << inputs[i].b << ", 0x"
                                    << inputs[i].c;
  }
}

inline std::vector<Inputs> pairs(const std::vector<std::uint64_t>& values) {
  std::vector<Inputs> inputs;
  for (const std::uint64_t a : values) {
    for (const std::uint64_t b : values)
      inputs.push_back({a, b, values[(inputs.size() * 7) % values.size()]});
  }
  return inputs;
}

}  // namespace assay::ptx::testing
