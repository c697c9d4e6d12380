// Says of each thread name on its standard input, one a line, whose the thread is. For
// tests/test_own_threads.py.
#include <iostream>
#include <string>

#include "clocks/own_threads.h"

int main() {
  using namespace memgraft::hotspot;
  for (std::string name; std::getline(std::cin, name);) {
    std::cout << name_of(static_cast<ThreadOwner>(own_thread_kind(name))) << '\n';
  }
  return 0;
}
