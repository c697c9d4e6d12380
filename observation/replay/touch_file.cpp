#include "memgraft/observation/touch_file.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

namespace memgraft::observation {
namespace {

constexpr std::string_view kMagic{"MGTOUCH\n", 8};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 48;
constexpr std::size_t kRecordBytes = 32;
// More than Linux can be built for (CONFIG_NR_CPUS), and than its numbers of nodes have bits.
constexpr std::uint32_t kMostCpus = 8192;
constexpr std::uint32_t kMostNodes = 1024;
constexpr std::uint32_t kMostPageBytes = 1U << 30U;

constexpr std::uint32_t kKnowsThread = 1;
constexpr std::uint32_t kKnowsCpu = 2;
constexpr std::uint32_t kEveryAccess = 4;

constexpr std::uint32_t kKnowsStore = 1;
constexpr std::uint32_t kStore = 2;
constexpr std::uint32_t kKnowsLatency = 4;

// Little-endian, wherever it is written or read.
template <typename Number>
void put(unsigned char* at, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    at[i] = static_cast<unsigned char>(number >> (8U * i));
  }
}
template <typename Number>
Number get(const unsigned char* at) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    number |= static_cast<Number>(at[i]) << (8U * i);
  }
  return number;
}

Refusal failed(const std::string& file, const std::string& what) {
  return {"touches: " + file + ": " + what};
}
Refusal failed_with_errno(const std::string& file) {
  return failed(file, std::strerror(errno));  // NOLINT(concurrency-mt-unsafe): of this thread's errno
}

}  // namespace

std::variant<TouchWriter, Refusal> TouchWriter::open(const std::string& file, const TouchFileHeader& header) {
  std::FILE* const stream = std::fopen(file.c_str(), "wbe");
  if (stream == nullptr) {
    return failed_with_errno(file);
  }
  TouchWriter writer(file, stream);
  const auto cpus = static_cast<std::uint32_t>(header.node_of_cpu.size());
  std::vector<unsigned char> bytes(kHeaderBytes + 4UL * cpus);
  unsigned char* const at = bytes.data();
  std::memcpy(at, kMagic.data(), kMagic.size());
  put(at + 8, kVersion);
  put(at + 12, static_cast<std::uint32_t>(bytes.size()));
  put(at + 16, header.page_bytes);
  put(at + 20, header.nodes);
  put(at + 24, cpus);
  put(at + 28, (header.knows_thread ? kKnowsThread : 0) | (header.knows_cpu ? kKnowsCpu : 0) |
                   (header.every_access ? kEveryAccess : 0));
  put(at + 32, header.stands_for.value_or(0));
  for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
    put(at + kHeaderBytes + 4 * cpu, header.node_of_cpu[cpu]);
  }
  (void)std::fwrite(at, 1, bytes.size(), stream);
  return writer;
}

void TouchWriter::write(const Touch& touch) {
  std::array<unsigned char, kRecordBytes> bytes{};
  put(bytes.data(), touch.address);
  put(bytes.data() + 8, touch.nanoseconds);
  put(bytes.data() + 16, touch.thread);
  put(bytes.data() + 20, touch.cpu);
  put(bytes.data() + 24, touch.latency_cycles.value_or(0));
  put(bytes.data() + 28, (touch.store.has_value() ? kKnowsStore : 0) |
                             (touch.store.value_or(false) ? kStore : 0) |
                             (touch.latency_cycles.has_value() ? kKnowsLatency : 0));
  (void)std::fwrite(bytes.data(), 1, bytes.size(), stream_.get());  // close() says whether it could be
}

std::optional<Refusal> TouchWriter::close() {
  errno = 0;
  const bool written = std::ferror(stream_.get()) == 0 && std::fflush(stream_.get()) == 0;
  if (std::fclose(stream_.release()) != 0 || !written) {
    return failed_with_errno(file_);
  }
  return std::nullopt;
}

std::variant<TouchReader, Refusal> TouchReader::open(const std::string& file) {
  std::FILE* const stream = std::fopen(file.c_str(), "rbe");
  if (stream == nullptr) {
    return failed_with_errno(file);
  }
  TouchReader reader(stream);
  if (auto refusal = reader.read_header(file)) {
    return *std::move(refusal);
  }
  return reader;
}

std::optional<Refusal> TouchReader::read_header(const std::string& file) {
  std::array<unsigned char, kHeaderBytes> bytes{};
  const unsigned char* const at = bytes.data();
  if (std::fread(bytes.data(), 1, bytes.size(), stream_.get()) != bytes.size()) {
    return failed(file, "no record of touches: shorter than " + std::to_string(kHeaderBytes) + " bytes");
  }
  if (std::memcmp(at, kMagic.data(), kMagic.size()) != 0) {
    return failed(file, "no record of touches: it does not begin with MGTOUCH");
  }
  if (const auto version = get<std::uint32_t>(at + 8); version != kVersion) {
    return failed(file, "is of version " + std::to_string(version) + ", expected " +
                            std::to_string(kVersion) + ": read it with the Memgraft that wrote it");
  }
  const auto header_bytes = get<std::uint32_t>(at + 12);
  header_.page_bytes = get<std::uint32_t>(at + 16);
  header_.nodes = get<std::uint32_t>(at + 20);
  const auto cpus = get<std::uint32_t>(at + 24);
  if (!std::has_single_bit(header_.page_bytes) || header_.page_bytes > kMostPageBytes) {
    return failed(file, "pages of " + std::to_string(header_.page_bytes) +
                            " bytes, expected a power of two up to 2^30");
  }
  if (cpus > kMostCpus || header_.nodes > kMostNodes ||
      header_bytes != kHeaderBytes + (std::size_t{4} * cpus)) {
    return failed(file, "a header of " + std::to_string(header_bytes) + " bytes for " + std::to_string(cpus) +
                            " CPUs and " + std::to_string(header_.nodes) +
                            " nodes, expected 48 + 4 for each CPU, up to " + std::to_string(kMostCpus) +
                            " and " + std::to_string(kMostNodes));
  }
  const auto flags = get<std::uint32_t>(at + 28);
  header_.knows_thread = (flags & kKnowsThread) != 0;
  header_.knows_cpu = (flags & kKnowsCpu) != 0;
  header_.every_access = (flags & kEveryAccess) != 0;
  if (const auto stands_for = get<std::uint64_t>(at + 32); stands_for != 0) {
    header_.stands_for = stands_for;
  }
  for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
    std::array<unsigned char, 4> node{};
    // NOLINTNEXTLINE(clang-analyzer-unix.Stream): the header before it has been read whole.
    if (std::fread(node.data(), 1, node.size(), stream_.get()) != node.size()) {
      return failed(file, "ends within its header");
    }
    header_.node_of_cpu.push_back(get<std::uint32_t>(node.data()));
  }
  return std::nullopt;
}

bool TouchReader::next(Touch& touch) {
  std::array<unsigned char, kRecordBytes> bytes{};
  if (std::fread(bytes.data(), 1, bytes.size(), stream_.get()) != bytes.size()) {
    return false;
  }
  const unsigned char* const at = bytes.data();
  touch = {};
  touch.address = get<std::uint64_t>(at);
  touch.nanoseconds = get<std::uint64_t>(at + 8);
  touch.thread = get<std::uint32_t>(at + 16);
  touch.cpu = get<std::uint32_t>(at + 20);
  const auto flags = get<std::uint32_t>(at + 28);
  if ((flags & kKnowsStore) != 0) {
    touch.store = (flags & kStore) != 0;
  }
  if ((flags & kKnowsLatency) != 0) {
    touch.latency_cycles = get<std::uint32_t>(at + 24);
  }
  touch.stands_for = header_.stands_for;
  return true;
}

}  // namespace memgraft::observation
