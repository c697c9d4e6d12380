#include "zeroing/windows.h"

#include <pthread.h>

#include <algorithm>

namespace memgraft::hotspot {

namespace {

// HotSpot gives up the rest of a TLAB when it is under 1/64 of it (TLABRefillWasteFraction); so is done here.
constexpr std::size_t kWasteFraction = 64;
constexpr std::size_t kBytesPerWordOfHeap = 8;

// initial-exec for the reason given at fresh_tlab in hooks.cpp.
[[gnu::tls_model("initial-exec")]] constinit thread_local Chunk* my_chunk = nullptr;

pthread_key_t thread_end;
pthread_once_t thread_end_made = PTHREAD_ONCE_INIT;

// At a thread's end its chunk, with what is left of it, waits for another thread or for the next collection.
void let_go(void* chunk) {
  my_chunk = nullptr;
  // Release: the next owner sees the chunk as this thread left it.
  static_cast<Chunk*>(chunk)->free.store(true, std::memory_order_release);
}

void make_thread_end() { (void)pthread_key_create(&thread_end, let_go); }

void forget(Chunk& chunk) {
  chunk.next = nullptr;
  chunk.end = nullptr;
  chunk.clean = nullptr;
  chunk.bytes = 0;
  chunk.window_is_out = false;
}

}  // namespace

void Windows::configure(std::size_t window_bytes, FillWithObjects fill) {
  window_bytes_ = window_bytes;
  fill_ = fill;
  (void)pthread_once(&thread_end_made, make_thread_end);
}

Chunk& Windows::mine() {
  if (my_chunk != nullptr) {
    return *my_chunk;
  }
  // Acquire, here and at the exchange: a chunk's fields are read as its maker or last owner left them.
  for (Chunk* chunk = chunks_.load(std::memory_order_acquire); chunk != nullptr; chunk = chunk->sibling) {
    bool free = true;
    if (chunk->free.compare_exchange_strong(free, false, std::memory_order_acquire)) {
      my_chunk = chunk;
      break;
    }
  }
  if (my_chunk == nullptr) {
    // Never freed: there are as many as threads were alive at once.
    my_chunk = new Chunk;
    my_chunk->sibling = chunks_.load(std::memory_order_relaxed);
    // Release: whoever finds it in the list finds it made.
    while (!chunks_.compare_exchange_weak(my_chunk->sibling, my_chunk, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
  }
  (void)pthread_setspecific(thread_end, my_chunk);
  return *my_chunk;
}

Windows::Answer Windows::take(std::size_t least_bytes, Window& window) {
  Chunk& chunk = mine();
  chunk.window_is_out = false;
  if (chunk.next == nullptr) {
    return Answer::needs_chunk;
  }
  const std::size_t waste_limit = chunk.bytes / kWasteFraction;
  if (chunk.rest_bytes() >= std::max(least_bytes, std::min(window_bytes_, waste_limit))) {
    window = cut(chunk, least_bytes);
    return Answer::window;
  }
  if (chunk.rest_bytes() > waste_limit) {
    return Answer::outside;
  }
  give_up(chunk);
  return Answer::needs_chunk;
}

Windows::Window Windows::open(std::byte* start, std::size_t bytes, std::size_t least_bytes) {
  Chunk& chunk = mine();
  if (chunk.next != nullptr) {
    // Of an earlier epoch of windows, which a pause ended that did not collect (G1 has such).
    give_up(chunk);
  }
  chunk.next = start;
  chunk.end = start + bytes;
  chunk.clean = start;
  chunk.bytes = bytes;
  return cut(chunk, least_bytes);
}

Windows::Window Windows::cut(Chunk& chunk, std::size_t least_bytes) {
  // What is zero already comes on top, so that every window costs as much zeroing as the one before.
  const auto clean = static_cast<std::size_t>(std::max(chunk.clean - chunk.next, std::ptrdiff_t{0}));
  std::size_t bytes = std::max(least_bytes, clean + window_bytes_);
  if (bytes + std::max(kLeastBytes, window_bytes_ / 2) > chunk.rest_bytes()) {
    bytes = chunk.rest_bytes();
  }
  const Window window{.start = chunk.next, .bytes = bytes, .clean_bytes = std::min(clean, bytes)};
  chunk.next += bytes;
  chunk.clean = chunk.next;
  chunk.window_is_out = true;
  // Relaxed: a statistic.
  handed_out_.fetch_add(1, std::memory_order_relaxed);
  return window;
}

bool Windows::take_back(std::byte* start, const std::byte* end) {
  Chunk* const chunk = my_chunk;
  if (chunk == nullptr || !chunk->window_is_out || end != chunk->next || start >= end) {
    return false;
  }
  chunk->window_is_out = false;
  chunk->clean = chunk->next;
  chunk->next = start;
  return true;
}

void Windows::give_up(Chunk& chunk) {
  if (chunk.rest_bytes() > 0) {
    // Relaxed: a statistic.
    given_up_.fetch_add(chunk.rest_bytes(), std::memory_order_relaxed);
    fill_(chunk.next, chunk.rest_bytes() / kBytesPerWordOfHeap, true);
  }
  forget(chunk);
}

void Windows::close_all() {
  // Acquire: as in mine(). The world is stopped, so no chunk has a user now.
  for (Chunk* chunk = chunks_.load(std::memory_order_acquire); chunk != nullptr; chunk = chunk->sibling) {
    if (chunk->next != nullptr) {
      give_up(*chunk);
    }
  }
}

}  // namespace memgraft::hotspot
