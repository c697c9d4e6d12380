// Checks mailboxes.h with Relacy: whatever is taken out was put in, whole and once, and nothing is gone that
// was not counted.
//
// Usage: model sound | model mistaken
#include <array>
#include <atomic>

// After all of the standard library: relacy has macros of the names of its memory orders.
#include "mailboxes.h"
#include "memgraft/relacy_run.h"

namespace memgraft::observation {
namespace {

struct Model {
  using Atomic = RelacyAtomic<Word>;
  static constexpr std::size_t kBoxes = 1;
  static constexpr unsigned kProbes = 1;
};

struct TwoBoxes : Model {
  static constexpr std::size_t kBoxes = 2;
  static constexpr unsigned kProbes = 2;
};

// Two put in `puts` each, the third thread takes out `takes` times.
template <class Scenario, class Policy, unsigned puts, unsigned takes>
struct Exchange : rl::test_suite<Scenario, 3> {
  Mailboxes<Policy> boxes;
  std::array<unsigned, 2 * puts + 1> times{};  // that each came out

  void take() {
    boxes.take_all([this](const Record& record) {
      RL_ASSERT(record.address >= 1 && record.address <= 2 * puts);
      RL_ASSERT(record.nanoseconds == record.address + 10);
      RL_ASSERT(record.who == record.address + 20);
      ++times.at(record.address);
    });
  }
  void thread(unsigned index) {
    if (index == 2) {
      for (unsigned i = 0; i < takes; ++i) {
        take();
      }
      return;
    }
    for (Word i = 0; i < puts; ++i) {
      const Word number = index * puts + i + 1;
      boxes.put({.address = number, .nanoseconds = number + 10, .who = number + 20});
    }
  }
  void after() {
    take();
    unsigned came = 0;
    for (const unsigned of_one : times) {
      RL_ASSERT(of_one <= 1);
      came += of_one;
    }
    RL_ASSERT(came + boxes.lost() == 2 * puts);
  }
};

struct OneBox : Exchange<OneBox, Model, 1, 2> {};
struct OneBoxTwice : Exchange<OneBoxTwice, Model, 2, 2> {};
struct MoreBoxes : Exchange<MoreBoxes, TwoBoxes, 2, 2> {};

bool all_sound() {
  return sound_in_every_schedule<OneBox>("one box") && sound_with<OneBoxTwice>(3, "one box, twice") &&
         sound_with<MoreBoxes>(2, "two boxes");
}

}  // namespace
}  // namespace memgraft::observation

int main(int count, char** arguments) {
  return memgraft::expected_outcome(count, arguments, memgraft::observation::all_sound);
}
