# What bin/workload and bin/litmus have in common: finding Java, and building with Maven on first use and after a change
# of the sources. To be sourced. The command sets before:
#   program   its name, for messages
#   product   what is built, for messages
#   sources   the folder of the Maven project; target: where it builds what java needs, with a class-path in it
#   inputs    files and folders in it that the build depends on
#   projects  options for Maven that say which of its modules

oldest_java=17

fail() { # CODE MESSAGE
  printf '%s: %s\n' "$program" "$2" >&2
  exit "$1"
}

note() {
  printf '%s: %s\n' "$program" "$1" >&2
}

# The head comment of a script.
help_of() {
  sed -n '2,/^$/s/^#\( \|$\)//p' "$1"
}

# Splits arguments into jvm_options, from --jvm=OPTION, and options, all others.
split_options() {
  local option
  jvm_options=()
  options=()
  for option in "$@"; do
    case $option in
      --jvm=?*) jvm_options+=("${option#--jvm=}") ;;
      --jvm | --jvm=) fail 2 "--jvm needs an option in the same word, such as --jvm=-Xmx1g" ;;
      *) options+=("$option") ;;
    esac
  done
}

# Whether a --jvm option sets the size of the heap.
sets_heap() {
  local option
  for option in "${jvm_options[@]}"; do
    case $option in
      -Xm[sx]* | -XX:*HeapSize=* | -XX:*RAMPercentage=*) return 0 ;;
    esac
  done
  return 1
}

# The user's options for the JVM (an agent, say) are for the program's JVM alone, not for those that build it.
without_jvm_options() {
  local drop=(-u JAVA_TOOL_OPTIONS -u JDK_JAVA_OPTIONS -u _JAVA_OPTIONS)
  case ${MAVEN_OPTS-} in
    *-agentpath:* | *-agentlib:* | *-javaagent:*) drop+=(-u MAVEN_OPTS) ;;
  esac
  env "${drop[@]}" "$@"
}

# The feature version of the Java in a folder, or nothing where it does not say.
feature_of() {
  if [[ -r $1/release ]]; then
    sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release"
  fi
}

is_old() {
  local feature
  feature=$(feature_of "$1")
  ((${feature:-$oldest_java} < oldest_java))
}

# Sets java to the one that runs the program.
find_java() {
  if [[ -n ${JAVA_HOME-} ]]; then
    java=$JAVA_HOME/bin/java
    [[ -x $java ]] || fail 3 "JAVA_HOME is $JAVA_HOME, which has no bin/java; set it to a Java of version $oldest_java or newer, or unset it"
  else
    java=$(command -v java) || fail 3 "found no java; install a JDK of version $oldest_java or newer (Debian: openjdk-17-jdk) or set JAVA_HOME to one"
  fi
  local home
  home=$(dirname -- "$(dirname -- "$(readlink -f -- "$java")")")
  if is_old "$home"; then
    fail 3 "$java is Java $(feature_of "$home"), too old; set JAVA_HOME to a Java of version $oldest_java or newer"
  fi
}

# Sets jdk to the one that builds: that of JAVA_HOME unless it is a mere runtime, or else that of the PATH.
find_jdk() {
  local javac
  if [[ -n ${JAVA_HOME-} && -x $JAVA_HOME/bin/javac ]]; then
    jdk=$JAVA_HOME
    return
  fi
  javac=$(command -v javac) || fail 3 "found no javac to build $product with; install a JDK of version $oldest_java or newer (Debian: openjdk-17-jdk)"
  # Asked rather than derived from the path, which may be that of a version manager's wrapper.
  jdk=$(without_jvm_options "$javac" -J-XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.home = //p')
  if is_old "$jdk"; then
    fail 3 "$javac is of Java $(feature_of "$jdk"), too old to build $product with; put a JDK of version $oldest_java or newer on the PATH"
  fi
}

# Of the contents, not of the times: a checkout that changes nothing builds nothing.
stamp() {
  (
    cd -- "$sources"
    find "${inputs[@]}" -type f -exec cksum {} + |
      LC_ALL=C sort | cksum
  )
}

is_built() {
  [[ -r $target/stamp && -r $target/class-path && $(<"$target/stamp") == "$(stamp)" ]] || return 1
  local entry
  local -a entries
  IFS=: read -r -a entries <"$target/class-path" || true # the file has no end of line
  for entry in "${entries[@]}"; do
    [[ -e $entry ]] || return 1
  done
}

# What building takes, and the lock that no two builds hold at once: the others wait.
prepare_build() {
  command -v mvn >/dev/null || fail 3 "found no mvn to build $product with; install Maven 3.8 or newer (Debian: maven)"
  command -v flock >/dev/null || fail 3 "found no flock; install it (Debian: util-linux)"
  find_jdk
  mkdir -p -- "$sources/target"
  exec {lock}>"$sources/target/lock"
  flock "$lock"
}

run_maven() { # LOG
  note "building $product; the first time, Maven downloads what it needs"
  # A warning that a newer JDK has come up with must not keep anyone from running it.
  if ! JAVA_HOME=$jdk without_jvm_options mvn --batch-mode --quiet --file "$sources/pom.xml" \
    "${projects[@]}" -Dmaven.compiler.failOnWarning=false process-classes >"$1" 2>&1; then
    grep -m 5 -F '[ERROR]' "$1" >&2 || true
    fail 3 "building $product failed; see $1"
  fi
  note "built $product"
}

build() {
  prepare_build
  # Another first use may have built it while this one waited.
  if ! is_built; then
    mkdir -p -- "$target"
    rm -f -- "$target/stamp"
    run_maven "$target/build.log"
    stamp >"$target/stamp"
  fi
  exec {lock}>&-
}
