#include "harness/records/record.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <random>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace assay::harness {
namespace {

template <class Float>
std::string shortest(Float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{}", value);
}

bool is_worse(const Mismatch& left, const Mismatch& right) {
  if (std::isnan(left.rho) || std::isnan(right.rho)) return std::isnan(left.rho) && !std::isnan(right.rho);
  return left.rho > right.rho;
}

}  // namespace

ExactNumber exact(float value) {
  return {.text = shortest(value), .bits = fmt::format("0x{:08x}", std::bit_cast<std::uint32_t>(value))};
}

ExactNumber exact(double value) {
  return {.text = shortest(value), .bits = fmt::format("0x{:016x}", std::bit_cast<std::uint64_t>(value))};
}

ExactNumber exact(std::int64_t value) {
  return {.text = fmt::format("{}", value), .bits = fmt::format("0x{:016x}", static_cast<std::uint64_t>(value))};
}

ExactNumber exact(std::uint64_t value) {
  return {.text = fmt::format("{}", value), .bits = fmt::format("0x{:016x}", value)};
}

ExactNumber exact(bool value) { return {.text = value ? "true" : "false", .bits = value ? "0x01" : "0x00"}; }

ExactNumber exact_16_bit(float value, std::uint16_t bits) {
  return {.text = shortest(value), .bits = fmt::format("0x{:04x}", bits)};
}

void keep_mismatch(std::vector<Mismatch>& kept, Mismatch mismatch) {
  if (kept.size() < kMaxMismatches) {
    kept.push_back(std::move(mismatch));
  } else if (is_worse(mismatch, kept.back())) {
    kept.back() = std::move(mismatch);
  }
}

CaseRecord record_of(const std::string& name) {
  CaseRecord record{.name = name};
  std::size_t begin = 0;
  for (std::string* part :
       {&record.family, &record.kernel, &record.parameter_types, &record.device, &record.pass, &record.mode}) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    *part = name.substr(begin, end - begin);
    if (end == name.size()) break;
    begin = end + 1;
  }
  return record;
}

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

double epoch_seconds(const std::string& utc) {
  std::tm time{};
  return ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time) == nullptr ? 0 : static_cast<double>(::timegm(&time));
}

std::string make_run_id() {
  std::random_device entropy;
  return fmt::format("{:%Y%m%dT%H%M%SZ}-{:08x}", fmt::gmtime(std::time(nullptr)), entropy());
}

}  // namespace assay::harness
