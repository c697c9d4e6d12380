// Loads one of the fake JVMs and asks the agent's machinery about it.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "buffers/needs.h"
#include "join/stock.h"
#include "memgraft/built.h"
#include "zeroing/needs.h"

namespace memgraft::hotspot {

class FakeLibrary {
 public:
  explicit FakeLibrary(const std::string& name)
      : handle_(dlopen((built(FAKE_JVM_FOLDER) + "/" + name).c_str(), RTLD_LAZY | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      throw std::runtime_error(dlerror());
    }
  }
  ~FakeLibrary() { dlclose(handle_); }
  FakeLibrary(const FakeLibrary&) = delete;
  FakeLibrary& operator=(const FakeLibrary&) = delete;
  FakeLibrary(FakeLibrary&&) = delete;
  FakeLibrary& operator=(FakeLibrary&&) = delete;

  template <typename Function>
  [[nodiscard]] Function* function(const char* name) const {
    // dlsym gives functions as data pointers (POSIX dlsym(3)).
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }

  [[nodiscard]] bool& flag(const char* name) const { return *static_cast<bool*>(dlsym(handle_, name)); }

  [[nodiscard]] Stock stock(int feature = 17) const {
    static constexpr std::array<const Needs*, 4> kNeeds{&kZeroingNeeds, &kWindowNeeds, &kAheadNeeds,
                                                        &kBufferNeeds};
    return Stock({.version = "17.0.0+1", .feature = feature, .vendor = "Nobody", .name = "Fake VM"},
                 dlsym(handle_, "fake_start"), kNeeds);
  }

 private:
  void* handle_;
};

}  // namespace memgraft::hotspot
