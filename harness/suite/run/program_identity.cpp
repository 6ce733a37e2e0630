#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include <link.h>

#include "harness/suite/run/verdict_cache.hpp"
#include "support/fault_injection.hpp"
#include "support/hash.hpp"

namespace assay::harness {
namespace {

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }

/// The build id among the notes of one segment (elf(5): name, then description, each padded to four bytes); else empty.
std::string_view build_id(std::string_view notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes.data(), sizeof head);
    const std::size_t name = sizeof head;
    const std::size_t description = name + aligned(head.n_namesz);
    if (description + head.n_descsz > notes.size()) break;
    if (head.n_type == NT_GNU_BUILD_ID && notes.substr(name, head.n_namesz) == std::string_view("GNU\0", 4))
      return notes.substr(description, head.n_descsz);
    notes.remove_prefix(std::min(notes.size(), description + aligned(head.n_descsz)));
  }
  return {};
}

struct Found {
  std::string ids;
  bool complete = true;
};

int add_object(dl_phdr_info* object, std::size_t /*size*/, void* data) {
  auto& found = *static_cast<Found*>(data);
  std::string_view id;
  for (std::size_t i = 0; i < object->dlpi_phnum && id.empty(); ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // Address of the segment in memory.
    const auto* at = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
    id = build_id({at, segment.p_memsz});
  }
  // The vDSO of the operating system has no file and computes nothing.
  const bool is_kernels = std::string_view(object->dlpi_name).find("linux-vdso") != std::string_view::npos;
  if (!is_kernels) {
    found.complete = found.complete && !id.empty();
    found.ids.append(id).push_back('\n');
  }
  return 0;
}

}  // namespace

std::string program_identity() {
  // With an injected fault the program differs from the one that its build id identifies.
  if (kFaultInjectionEnabled) return {};
  // Computed once: a compiler library loads further libraries on first use, which do not change the program.
  static const std::string identity = [] {
    Found found;
    dl_iterate_phdr(add_object, &found);
    return found.complete ? sha256_hex(found.ids) : std::string();
  }();
  return identity;
}

}  // namespace assay::harness
