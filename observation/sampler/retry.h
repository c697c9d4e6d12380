// Whether an access that faulted may be made again.
#pragma once

#include <cstdint>

namespace memgraft::observation {

enum class Retry : std::uint8_t {
  no,           // the page is inaccessible by the program's own doing
  ours,         // it was guarded, and is released
  of_anothers,  // it was guarded, and another thread's fault has released it
};

// What is known of a page under the lock.
struct Released {
  bool ours = false;            // it was guarded, and is released now
  std::uint64_t guardings = 0;  // of any pages until then
};

// `release`: releases the page, if it is guarded. `accessible`: whether its mapping allows the access by now;
// asks the kernel, without the lock. Between the two the page may be guarded again: then it looks
// inaccessible, and is ours after all.
template <typename Release, typename Accessible>
Retry retry(Release release, Accessible accessible) {
  Released found = release();
  while (!found.ours) {
    if (accessible()) {
      return Retry::of_anothers;
    }
    const std::uint64_t before = found.guardings;
    found = release();
    if (!found.ours && found.guardings == before) {
      return Retry::no;
    }
  }
  return Retry::ours;
}

}  // namespace memgraft::observation
