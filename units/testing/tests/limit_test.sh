#!/bin/sh
# limit_test.sh PROGRAM: the program, which hangs with a child that hangs, is ended with the stacks of both.
command -v gdb >/dev/null || { echo "no gdb"; exit 77; }
# Yama of Linux may keep a debugger from all but its own children; the hanging test lets it in, its child does not.
scope=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)
if [ "$scope" -gt 0 ] && { [ "$(id -u)" != 0 ] || [ "$scope" = 3 ]; }; then
  echo "kernel.yama.ptrace_scope is $scope: no debugger may look at others' processes"
  exit 77
fi
said=$(MEMGRAFT_TEST_SECONDS=1 "$1")
code=$?
fail() { printf '%s\n%s\n' "$said" "$1"; exit 1; }
[ $code = 124 ] || fail "exit code $code, not 124"
for part in "the test hangs" child_waits_for_ever spins_for_ever; do
  printf '%s\n' "$said" | grep -q "$part" || fail "it does not say: $part"
done
# A killed child that nobody has waited for yet is no longer running.
for process in /proc/[0-9]*; do
  if [ "$(readlink "$process/exe")" = "$(readlink -f "$1")" ]; then fail "${process#/proc/} still runs"; fi
done
