#include "ordering/relaxed.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <istream>

#include "join/refusal.h"

namespace memgraft::hotspot {

namespace {

std::string stripped(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const auto is_space = [](char letter) { return std::isspace(static_cast<unsigned char>(letter)) != 0; };
  while (!line.empty() && is_space(line.front())) {
    line.remove_prefix(1);
  }
  while (!line.empty() && is_space(line.back())) {
    line.remove_suffix(1);
  }
  return std::string(line);
}

// Names of the Java language and descriptors of the JVM have neither blanks nor empty parts.
bool is_name(std::string_view text) {
  const std::string_view name = text.substr(0, text.find('('));
  const bool whole = text.find(' ') == std::string_view::npos && text.find('/') >= name.size();
  return whole && !name.empty() && name.front() != '.' && name.back() != '.' &&
         name.find("..") == std::string_view::npos &&
         std::ranges::count(text, '(') == std::ranges::count(text, ')');
}

}  // namespace

Relaxed::Relaxed(const std::filesystem::path& file) {
  std::ifstream lines(file);
  if (!lines.is_open()) {
    // Otherwise a file that may not be read would relax nothing, without a word.
    throw Refusal(
        "cannot read " + file.string(),
        {.looked_for = "a text file", .found = "one that cannot be opened", .advice = "make it readable"},
        kExitWrongUsage);
  }
  *this = Relaxed(lines, file.string());
}

Relaxed::Relaxed(std::istream& lines, const std::string& name) {
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string relaxed = stripped(line);
    if (relaxed.empty()) {
      continue;
    }
    if (!is_name(relaxed)) {
      throw Refusal("wrong line " + std::to_string(number) + " of " + name,
                    {.looked_for = "a class, a method of one, or a method with its descriptor, for example "
                                   "java.util.HashMap.putVal",
                     .found = "'" + relaxed + "'",
                     .advice = "correct that line"},
                    kExitWrongUsage);
    }
    names_.insert(relaxed);
  }
  if (lines.bad()) {
    throw Refusal(
        "cannot read " + name,
        {.looked_for = "a text file", .found = "an error while reading", .advice = "name another one"},
        kExitWrongUsage);
  }
}

bool Relaxed::contains(std::string_view method) const {
  if (names_.empty()) {
    return false;
  }
  const std::string_view name = method.substr(0, method.find('('));
  const std::size_t dot = name.rfind('.');
  return names_.contains(std::string(method)) || names_.contains(std::string(name)) ||
         (dot != std::string_view::npos && names_.contains(std::string(name.substr(0, dot))));
}

}  // namespace memgraft::hotspot
