#include "watched_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string_view>
#include <utility>

#include "memgraft/built.h"
#include "small_file.h"

namespace memgraft::observation {

WatchedProgram::WatchedProgram(std::vector<std::string> arguments, Begin begin) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  EXPECT_EQ(pipe2(in.data(), O_CLOEXEC), 0);
  EXPECT_EQ(pipe2(out.data(), O_CLOEXEC), 0);
  std::string program = built(MEMGRAFT_TOUCHING);
  std::vector<char*> vector{program.data()};
  for (std::string& argument : arguments) {
    vector.push_back(argument.data());
  }
  vector.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    if (begin == Begin::stopped_before_exec) {
      kill(getpid(), SIGSTOP);
    }
    execv(program.c_str(), vector.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  input_ = in[1];
  output_ = fdopen(out[0], "r");
  if (begin == Begin::stopped_before_exec) {
    waitpid(pid_, nullptr, WUNTRACED);
  }
}

WatchedProgram::~WatchedProgram() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    end();
  }
  EXPECT_EQ(std::fclose(output_), 0);
}

void WatchedProgram::go_on() const { kill(pid_, SIGCONT); }

void WatchedProgram::start_thread() const { EXPECT_EQ(write(input_, "\n", 1), 1); }

WatchedProgram::Region WatchedProgram::region() const {
  std::array<char, 128> line{};
  EXPECT_NE(std::fgets(line.data(), line.size(), output_), nullptr);
  std::string_view rest = line.data();
  const auto number = [&rest](char end) {
    const auto next = linux_os::to_number(linux_os::cut_field(rest, end));
    EXPECT_TRUE(next);
    return next.value_or(0);
  };
  Region region;
  region.thread = static_cast<std::uint32_t>(number(' '));
  region.begin = number(' ');
  region.end = number('\n');
  return region;
}

void WatchedProgram::end() {
  close(std::exchange(input_, -1));
  waitpid(std::exchange(pid_, -1), nullptr, 0);
}

}  // namespace memgraft::observation
