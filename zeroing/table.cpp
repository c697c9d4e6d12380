#include "table.h"

#include <algorithm>
#include <cstdint>

namespace memgraft::zeroing {
namespace {

constexpr std::string_view kFirstLine = "memgraft-zeroing-table 1";
constexpr std::string_view kCpuPrefix = "cpu ";
constexpr std::size_t kLongestLine = 256;  // a CPU's name with room to spare; the longest row has 70
constexpr std::size_t kMostShown = 80;     // characters of an offending value in a message
constexpr std::size_t kGreatestThreads = std::size_t{1} << 16;  // more than any machine has

// A piece of the text that is to be shown, between quotes and made safe: no control characters, not too
// long.
struct Quoted {
  std::string_view text;
};

// Writes a message piece by piece; what no longer fits is left out.
class Writer {
 public:
  explicit Writer(std::span<char> room) : room_(room) {}

  void add(std::string_view text) {
    for (const char c : text) {
      if (length_ + 1 < room_.size()) {
        room_[length_++] = c;
        room_[length_] = '\0';
      }
    }
  }
  void add(Quoted quoted) {
    add("'");
    const std::string_view text = quoted.text;
    for (const char& c : std::span(text).first(std::min(text.size(), kMostShown))) {
      add(c >= ' ' && c <= '~' ? std::string_view(&c, 1) : std::string_view("?"));
    }
    add("'");
  }
  void add(std::size_t number) {
    std::array<char, std::numeric_limits<std::size_t>::digits10 + 1> digits{};
    std::size_t first = digits.size();
    do {
      digits[--first] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    add(std::string_view(digits.data() + first, digits.size() - first));
  }

 private:
  std::span<char> room_;
  std::size_t length_ = 0;
};

// Takes what stands before the next `end` off `text`, and that `end` too.
std::string_view take_until(char end, std::string_view& text) {
  std::size_t length = text.find(end);
  length = length == std::string_view::npos ? text.size() : length;
  const std::string_view taken(text.begin(), text.begin() + length);
  text.remove_prefix(length < text.size() ? length + 1 : length);
  return taken;
}

// Decimal digits and nothing else. False: no number, or one that is too large.
bool read_number(std::string_view text, std::size_t& number) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') {
      return false;
    }
    const auto digit = static_cast<std::size_t>(c - '0');
    if (number > (kMost - digit) / 10) {
      return false;
    }
    number = 10 * number + digit;
  }
  return !text.empty();
}

class Reader {
 public:
  Reader(std::string_view cpu, std::span<const memgraft_zero_kernel> kernels, Table& table, TableError& error)
      : cpu_(cpu), kernels_(kernels), table_(table), error_(error) {}

  bool read(std::string_view text) {
    while (!text.empty()) {
      const std::string_view line = take_until('\n', text);
      ++error_.line;
      if (line.size() > kLongestLine) {
        return wrong("it has ", line.size(), " characters, expected at most ", kLongestLine);
      }
      if (!right(line)) {
        return false;
      }
    }
    return rows_ > 0 || wrong("no row has come, expected at least one: MODE THREADS FROM-BYTES KERNEL");
  }

 private:
  // What of a mode has been read so far.
  struct Open {
    std::size_t groups = 0;
    std::size_t threads = 0;  // of the last row
    std::size_t bytes = 0;    // from which it holds
  };

  bool right(std::string_view line) {
    switch (error_.line) {
      case 1:
        return head(line);
      case 2:
        return cpu(line);
      default:
        return row(line);
    }
  }

  bool head(std::string_view line) {
    return line == kFirstLine || wrong("it is ", Quoted{line}, ", expected ", Quoted{kFirstLine});
  }

  bool cpu(std::string_view line) {
    if (!line.starts_with(kCpuPrefix)) {
      return wrong("it is ", Quoted{line}, ", expected 'cpu ' and the name of the CPU");
    }
    line.remove_prefix(kCpuPrefix.size());
    if (cpu_.empty()) {
      return wrong("it is for the CPU ", Quoted{line}, ", and /proc/cpuinfo does not say what this one is");
    }
    return line == cpu_ || wrong("it is for the CPU ", Quoted{line}, ", expected this one, ", Quoted{cpu_});
  }

  bool row(std::string_view line) {
    if (line.empty() || line.front() == '#') {
      return true;
    }
    const std::string_view mode = take_until(' ', line);
    const std::string_view threads = take_until(' ', line);
    const std::string_view from = take_until(' ', line);
    const std::string_view kernel = line;  // a fifth word becomes part of a name that no kernel has
    std::size_t which = 0;
    while (which < kModeNames.size() && kModeNames[which] != mode) {
      ++which;
    }
    if (which == kModeNames.size()) {
      return wrong("the mode is ", Quoted{mode},
                   ", expected resident, streaming, streaming-late or streaming-used");
    }
    std::size_t thread_count = 0;
    if (!read_number(threads, thread_count) || thread_count == 0 || thread_count > kGreatestThreads) {
      return wrong("the threads are ", Quoted{threads}, ", expected a number from 1 to ", kGreatestThreads);
    }
    std::size_t bytes = 0;
    if (!read_number(from, bytes) || (bytes & (bytes - 1)) != 0) {
      return wrong("the row begins at ", Quoted{from}, " bytes, expected 0 or a power of two");
    }
    const memgraft_zero_kernel* found = find(kernel);
    if (found == nullptr) {
      return wrong("the kernel is ", Quoted{kernel}, ", which this build does not have");
    }
    if (!found->available) {
      return wrong("the kernel is ", Quoted{kernel}, ", which this CPU cannot run");
    }
    ++rows_;
    return put(which, thread_count, bytes, found);
  }

  [[nodiscard]] const memgraft_zero_kernel* find(std::string_view name) const {
    for (const memgraft_zero_kernel& kernel : kernels_) {
      if (kernel.name == name) {
        return &kernel;
      }
    }
    return nullptr;
  }

  bool put(std::size_t which, std::size_t threads, std::size_t bytes, const memgraft_zero_kernel* kernel) {
    Mode& mode = table_.modes[which];
    Open& open = open_[which];
    if (bytes == 0) {
      if (open.groups == kMostGroups) {
        return wrong("it begins one more number of threads for a mode that has ", kMostGroups,
                     ", the most there may be");
      }
      if (threads <= open.threads) {
        return wrong("it begins ", threads, " threads after ", open.threads, ", expected more each time");
      }
      begin(mode, open, static_cast<unsigned>(threads));
    } else if (threads != open.threads || bytes <= open.bytes) {
      return wrong("it begins at ", bytes, " bytes, expected the rows of a mode and a number of threads ",
                   "together, from 0 bytes on, upwards");
    }
    open.bytes = bytes;
    auto& best = mode.groups[mode.count - 1].best;
    for (auto width = static_cast<std::size_t>(std::bit_width(bytes)); width < best.size(); ++width) {
      best[width] = kernel;
    }
    return true;
  }

  static void begin(Mode& mode, Open& open, unsigned threads) {
    if (open.groups > 0) {
      // Whoever asks for a number between two that were measured gets the one that is nearer by ratio: up to
      // their geometric mean, the lower one.
      Group& before = mode.groups[open.groups - 1];
      const std::uint64_t product = std::uint64_t{before.threads} * threads;
      std::uint64_t most = before.threads;
      while ((most + 1) * (most + 1) <= product) {
        ++most;
      }
      before.most_threads = static_cast<unsigned>(most);
    }
    Group& begun = mode.groups[open.groups];
    begun.threads = threads;
    begun.most_threads = std::numeric_limits<unsigned>::max();
    mode.count = ++open.groups;
    open.threads = threads;
  }

  // Always false, so that it can be returned.
  template <class... Pieces>
  bool wrong(Pieces... pieces) {
    Writer writer(error_.message);
    (writer.add(pieces), ...);
    return false;
  }

  std::string_view cpu_;
  std::span<const memgraft_zero_kernel> kernels_;
  Table& table_;
  TableError& error_;
  std::array<Open, kModeNames.size()> open_{};
  std::size_t rows_ = 0;
};

}  // namespace

bool read_table(std::string_view text, std::string_view cpu, std::span<const memgraft_zero_kernel> kernels,
                Table& table, TableError& error) {
  return Reader(cpu, kernels, table, error).read(text);
}

}  // namespace memgraft::zeroing
