// A shared library that is loaded at run time if it is available.
#pragma once

#include <span>
#include <string>

#include "support/result.hpp"

namespace assay::backends {

/// An open shared library. It stays loaded until the process ends, because such libraries register exit handlers.
class SharedObject {
 public:
  /// Opens the first of the names or paths that can be opened. The error reports why the last one could not.
  static Result<SharedObject> open(std::span<const std::string> candidates);

  /// The name or path by which it was opened.
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Sets the pointer to the symbol's address; returns false if the library lacks the symbol.
  template <typename Function>
  [[nodiscard]] bool find(const char* symbol, Function*& pointer) const {
    pointer = reinterpret_cast<Function*>(address(symbol));
    return pointer != nullptr;
  }

 private:
  SharedObject(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  [[nodiscard]] void* address(const char* symbol) const;

  void* handle_;      ///< handle that dlopen() returned
  std::string name_;  ///< name or path by which it was opened
};

}  // namespace assay::backends
