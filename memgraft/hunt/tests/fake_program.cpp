// A program that fails by a rule, and behaves as one with a JVM and the ordering agent under it. A hunt
// launches it a hundred times: an interpreter would take most of the tests' time.
//
// Its words are `name=value`:
// - conflicts=a.A.x,a.A.y;b.B.z: it fails when all names of one conflict are left plain
// - always=1: it fails whatever is in order
// - slow=1: it fails unless something takes time, be it in order or not
// - others=a.A.u,a.A.v: further names that threads share
// - alone=a.A.t: a name that only one thread touches
// - rare=a.A.r: it also fails in every fifth launch as long as this name is left plain
// - lull=FROM:TO: of these launches none fails by `rare`
// - late=a.A.l:N: from the Nth launch on it also fails as long as this name is left plain
// - busy=FROM:TO: of these launches only every fifth fails, as if the machine had other work
// - still=a.A.s: a conflict of this name alone, which also stops failing where only this name takes time
// - eased=N: where what is named only takes time, it fails in three launches of nine, from the Nth on
// - model=a.A.m: with weak memory it also fails as long as this name is left plain
// - model=none: with weak memory it fails whatever is in order
// - light=1: it also stops failing where the agent is there and nothing takes time
// - shy=1: it fails only where C2 is stressed
// - counted=a.A.c: a name of a conflict that both threads count up
// - hidden=a.A.h: a name of a conflict that no thread was seen to touch
// - refuse=CODE: the agent refuses the JVM
// - refuse-hotspot=1: the engine hotspot does
// - refuse-weak=1: the agent does with weak memory
// - missed=CLASS: one that could not be rewritten
// - mute=1: there is no summary
// - hang=1, prints=TEXT: how it fails, instead of an exit code
// - count=FILE: gets a line per launch; rare, lull, late, eased and busy need it
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using Names = std::vector<std::string>;
using Words = std::map<std::string, std::string>;

std::pair<std::string, std::string> parted(const std::string& text, char at) {
  const auto found = text.find(at);
  return found == std::string::npos ? std::pair(text, std::string())
                                    : std::pair(text.substr(0, found), text.substr(found + 1));
}

Names split(const std::string& text, char at) {
  Names parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) {
    parts.push_back(part);
  }
  return parts;
}

// As HotSpot reads its options: what stands in quotation marks is one word.
Names options_in(const std::string& text) {
  Names words;
  std::string word;
  char quote = 0;
  bool begun = false;
  for (const char letter : text) {
    if (quote == 0 && letter == ' ') {
      if (begun) {
        words.push_back(std::exchange(word, {}));
      }
      begun = false;
    } else if (quote == 0 && (letter == '\'' || letter == '"')) {
      quote = letter;
      begun = true;
    } else if (letter == quote) {
      quote = 0;
    } else {
      word += letter;
      begun = true;
    }
  }
  if (begun) {
    words.push_back(word);
  }
  return words;
}

// As the agent reads it: what it would take for something else is written `%2C`.
std::string path_in(const std::string& told) {
  std::string path;
  for (std::size_t at = 0; at < told.size(); ++at) {
    if (told[at] == '%') {
      path += static_cast<char>(std::stoi(told.substr(at + 1, 2), nullptr, 16));
      at += 2;
    } else {
      path += told[at];
    }
  }
  return path;
}

bool has(const Words& words, const std::string& name) { return words.count(name) != 0; }

std::string word(const Words& words, const std::string& name) {
  const auto found = words.find(name);
  return found == words.end() ? "" : found->second;
}

std::string class_of(const std::string& name) { return name.substr(0, name.rfind('.')); }

bool is_within(int launch, const std::string& range) {
  const auto [first, last] = parted(range, ':');
  return std::stoi(first) <= launch && launch <= std::stoi(last);
}

std::string text(const std::string& value) { return '"' + value + '"'; }

std::string list(const Names& values) {
  std::string joined;
  for (const std::string& value : values) {
    joined += (joined.empty() ? "" : ",") + value;
  }
  return '[' + joined + ']';
}

std::string accesses_of(const char* thread, int number, int order, int times, const char* method) {
  std::ostringstream told;
  told << R"({"thread":)" << text(thread) << R"(,"id":)" << number << R"(,"order":)" << order
       << R"(,"times":)" << times << R"(,"stack":[)" << text(std::string("org.example.A.") + method) << "]}";
  return told.str();
}

struct Program {
  explicit Program(Words its_words) : words(std::move(its_words)) {
    for (const std::string& conflict : split(word(words, "conflicts"), ';')) {
      conflicts.push_back(split(conflict, ','));
    }
    if (has(words, "count")) {
      std::ofstream(words["count"], std::ios::app) << "launch\n";
      std::ifstream counted(words["count"]);
      launch = static_cast<int>(
          std::count(std::istreambuf_iterator<char>(counted), std::istreambuf_iterator<char>(), '\n'));
    }
    const char* told = std::getenv("JAVA_TOOL_OPTIONS");
    given = options_in(told == nullptr ? "" : told);
    const auto found = std::find_if(given.begin(), given.end(), [](const std::string& option) {
      return option.rfind("-javaagent:", 0) == 0 || option.rfind("-agentpath:", 0) == 0;
    });
    has_agent = found != given.end();
    if (has_agent) {
      is_hotspot = found->rfind("-agentpath:", 0) == 0;
      for (const std::string& option : split(parted(*found, '=').second, ',')) {
        options.insert(parted(option, '='));
      }
    }
    if (has(options, "only")) {
      std::ifstream only(path_in(options["only"]));
      named = {std::istream_iterator<std::string>(only), std::istream_iterator<std::string>()};
    }
    orders_everything =
        has_agent && !has(options, "only") && !has(options, "observe") && !has(options, "weak");
    is_slow = !named.empty() || orders_everything;
  }

  [[nodiscard]] bool orders(const std::string& name) const {
    return orders_everything ||
           (!has(options, "delay") && (named.count(name) != 0 || named.count(class_of(name) + ".*") != 0));
  }

  [[nodiscard]] bool fails() const {
    bool fails = has(words, "always");
    for (const Names& conflict : conflicts) {
      fails |= std::none_of(conflict.begin(), conflict.end(), [&](const auto& name) { return orders(name); });
    }
    if (has(words, "rare") && !orders(word(words, "rare"))) {
      fails |= launch % 5 == 0 && !(has(words, "lull") && is_within(launch, word(words, "lull")));
    }
    if (has(words, "late")) {
      const auto [name, number] = parted(word(words, "late"), ':');
      fails |= !orders(name) && launch >= std::stoi(number);
    }
    if (has(words, "still")) {
      const std::string name = word(words, "still");
      fails |= !orders(name) && !(has(options, "delay") && named == std::set{name});
    }
    if (has(words, "model") && has(options, "weak")) {
      fails |= !orders(word(words, "model"));
    }
    if (has(words, "shy") && std::count(given.begin(), given.end(), "-XX:+StressLCM") == 0) {
      fails = false;
    }
    if (has(words, "slow")) {
      fails = !is_slow;
    }
    if (has(words, "light")) {
      fails &= is_slow || !has_agent;
    }
    if (has(words, "eased") && has(options, "delay")) {
      fails &= (launch + 9 - std::stoi(word(words, "eased"))) % 9 < 3;
    }
    if (has(words, "busy")) {
      fails &= !is_within(launch, word(words, "busy")) || launch % 5 == 0;
    }
    return fails;
  }

  [[nodiscard]] std::string observed() const {
    const std::string one = accesses_of("one", 1, 2, 3, "run(A.java:7)");
    const std::string two = accesses_of("two", 2, 1, 1, "stop(A.java:9)");
    const std::string two_again = accesses_of("two", 2, 1, 1, "stop(A.java:10)");
    std::set<std::string> jdk;
    Names shared;
    for (const Names& conflict : conflicts) {
      for (const std::string& name : conflict) {
        if (name.rfind("java.", 0) == 0) {
          jdk.insert(text(class_of(name)));
        } else if (name != word(words, "hidden")) {
          shared.push_back(name);
        }
      }
    }
    for (const std::string& name : split(word(words, "others"), ',')) {
      shared.push_back(name);
    }
    for (const char* kind : {"late", "still", "model", "rare"}) {
      const std::string name = parted(word(words, kind), ':').first;
      if (!name.empty() && name != "none") {
        shared.push_back(name);
      }
    }
    Names accesses;
    const auto add = [&](const std::string& name, const Names& loads, const Names& stores) {
      accesses.push_back("{\"name\":" + text(name) + ",\"loads\":" + list(loads) +
                         ",\"stores\":" + list(stores) + "}");
    };
    for (const std::string& name : shared) {
      const bool is_counted = name == word(words, "counted");
      add(name, is_counted ? Names{one, two_again} : Names{one},
          is_counted ? Names{one, two_again} : Names{two});
    }
    if (has(words, "alone")) {
      add(word(words, "alone"), {one}, {one});
    }
    if (has(words, "hidden")) {
      add(word(words, "hidden"), {}, {});
    }
    return "{\"accesses\":" + list(accesses) + ",\"jdk_classes\":" + list({jdk.begin(), jdk.end()}) + "}";
  }

  [[nodiscard]] std::string summary() const {
    std::ostringstream told;
    const bool refuses = has(words, "refuse") || (has(options, "weak") && has(words, "refuse-weak")) ||
                         (is_hotspot && has(words, "refuse-hotspot"));
    told << R"({"schema":1,"kind":"jvm-summary","pid":4000000,)"
         << R"("jvm":{"version":"17.0.1+1","feature":17,"vendor":"Fake","name":"Fake VM"},)"
         << R"("wall_seconds":0.5,"user_seconds":0.5,"system_seconds":0.0,"program":"org.example.Main",)"
         << R"("state":)" << text(refuses ? "refused" : "ended");
    if (refuses) {
      told << R"(,"refusal":{"looked_for":"joints","found":"none","advice":"use another JVM",)"
           << R"("message":"this fake JVM takes no agent","exit_code":)"
           << (has(words, "refuse") ? word(words, "refuse") : "3") << "}";
    }
    told << R"(,"grafts":{"bytecode":{)";
    for (const char* number :
         {"classes", "hidden_classes", "early_hidden_classes", "checked_classes", "unfenced"}) {
      told << text(number) << ":0,";
    }
    told << R"("failed":)" << (has(words, "missed") ? 1 : 0) << R"(,"fences":{)";
    for (const char* kind : {"field", "static", "element"}) {
      told << '"' << kind << R"(_loads":0,")" << kind << R"(_stores":0,)";
    }
    told << R"("weak_accesses":0,"handle_calls":0,"copies":0,"intrinsics":0})";
    if (has(words, "missed")) {
      told << R"(,"failed_classes":{)" << text(word(words, "missed")) << R"(:"too large"})";
    }
    if (has(options, "observe")) {
      told << R"(,"observed":)" << observed();
    }
    told << "}}}";
    return told.str();
  }

  Words words;
  std::vector<Names> conflicts;
  int launch = 0;
  Names given;
  Words options;
  std::set<std::string> named;
  bool has_agent = false;
  bool is_hotspot = false;
  bool orders_everything = false;
  bool is_slow = false;
};

}  // namespace

int main(int argc, char** argv) {
  Words words;
  for (int number = 1; number < argc; ++number) {
    words.insert(parted(argv[number], '='));
  }
  const Program program(words);
  if (has(program.options, "summary") && !has(words, "mute")) {
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    std::ofstream(path_in(word(program.options, "summary")) + "/jvm-1-" + std::to_string(now) + ".json")
        << program.summary();
  }
  if (!program.fails()) {
    return 0;
  }
  if (has(words, "hang")) {
    sleep(3600);
  }
  if (has(words, "prints")) {
    std::cerr << words["prints"] << '\n';
    return 0;
  }
  return 1;
}
