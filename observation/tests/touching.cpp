// A program to be watched: threads that touch pages of their own, over and over.
//
//     touching PAGES          each line on standard input starts one more thread, which prints "TID BEGIN
//     END" touching PAGES chain    one thread after the other, each started by the one before, touches one
//     page once; prints
//                             "0 BEGIN END" of all pages before the first
//
// It ends when standard input does.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096;
std::atomic<bool> stop{false};

volatile char* pages(std::size_t count) {
  void* const memory = mmap(nullptr, count * kPage, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    std::exit(1);
  }
  madvise(memory, count * kPage, MADV_NOHUGEPAGE);
  return static_cast<volatile char*>(memory);
}

void tell(pid_t thread, const volatile char* memory, std::size_t count) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);  // to be printed
  if (std::printf("%d %zu %zu\n", thread, static_cast<std::size_t>(begin),
                  static_cast<std::size_t>(begin) + count * kPage) < 0 ||
      std::fflush(stdout) != 0) {
    std::exit(1);
  }
}

void touch_over_and_over(std::size_t count) {
  volatile char* const memory = pages(count);
  tell(gettid(), memory, count);
  while (!stop.load(std::memory_order_relaxed)) {
    for (std::size_t page = 0; page < count; ++page) {
      memory[page * kPage] = 1;
    }
  }
}

void chain(volatile char* memory, std::size_t page, std::size_t count) {
  std::thread next;
  if (page < count && !stop.load(std::memory_order_relaxed)) {
    memory[page * kPage] = 1;
    next = std::thread(chain, memory, page + 1, count);
    next.detach();
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t size = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 0;
  if (size == 0) {
    return 2;
  }
  std::vector<std::thread> threads;
  if (count > 2) {
    volatile char* const memory = pages(size);
    tell(0, memory, size);
    threads.emplace_back(chain, memory, 0, size);
  }
  for (int read = std::getchar(); read != EOF; read = std::getchar()) {
    if (read == '\n') {
      threads.emplace_back(touch_over_and_over, size);
    }
  }
  stop = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::_Exit(0);  // threads of a chain may still be there
}
