// A library that is loaded at run time, if it is there at all.
#pragma once

#include <span>
#include <string>

#include "support/result.hpp"

namespace assay::backends {

/// An open library; stays loaded until the process ends, because such libraries register things to run at exit.
class SharedObject {
 public:
  /// The first of the names or paths that opens. The error says why the last one did not.
  static Result<SharedObject> open(std::span<const std::string> candidates);

  /// The name or path that it was opened by.
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Sets the pointer to the symbol's address; false when the library lacks it.
  template <typename Function>
  [[nodiscard]] bool find(const char* symbol, Function*& pointer) const {
    pointer = reinterpret_cast<Function*>(address(symbol));
    return pointer != nullptr;
  }

 private:
  SharedObject(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  [[nodiscard]] void* address(const char* symbol) const;

  void* handle_;
  std::string name_;
};

}  // namespace assay::backends
