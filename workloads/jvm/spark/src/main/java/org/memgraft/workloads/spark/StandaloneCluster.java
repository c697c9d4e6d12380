package org.memgraft.workloads.spark;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.memgraft.workloads.harness.UsageException;
import org.memgraft.workloads.harness.WorkloadFailure;

/**
 * Spark's standalone mode on loopback: a master and a worker, each in a JVM of its own; the worker
 * starts an executor in another. All have this JVM's options, and what the environment tells JVMs.
 */
final class StandaloneCluster implements AutoCloseable {
  static final String LOOPBACK = "127.0.0.1";

  /** The newest whose Subject.getSubject does what Hadoop, and so every executor, asks of it. */
  private static final int NEWEST_JAVA = 22;

  private static final int SECONDS_TO_END = 20;
  private static final int LINES_TOLD = 20;

  /** More than are started where some die and others take their work over. */
  private static final int MOST_EXECUTORS = 10;

  private static final int MILLISECONDS_BETWEEN_LOOKS = 500;
  private static final long MEBIBYTE = 1 << 20;

  private final Path folder;
  private final int cores;
  private final long memory = heapBytes() / MEBIBYTE;
  private final List<Process> daemons = new ArrayList<>();
  private final String master;
  private volatile boolean closing;

  /** Why nothing can be done any more; null while something can. */
  private volatile String broken;

  /** Returns when the master listens; executors are started when an application asks for them. */
  StandaloneCluster(int cores) throws IOException, WorkloadFailure {
    this.cores = cores;
    folder = Files.createTempDirectory("memgraft-spark-");
    // Spark looks for its own classes here; they are on the class path.
    Files.createDirectory(folder.resolve("jars"));
    Process process = start("master");
    master = process.inputReader(StandardCharsets.UTF_8).readLine();
    if (master == null) {
      close();
      throw new WorkloadFailure("Spark's master ended before it listened; its errors are above");
    }
    start(
        "worker",
        "--host",
        LOOPBACK,
        "--webui-port",
        "0",
        "--cores",
        Integer.toString(cores),
        "--memory",
        memory + "m",
        "--work-dir",
        work().toString(),
        master);
  }

  static void requireJava() throws UsageException {
    int java = Runtime.version().feature();
    if (java > NEWEST_JAVA) {
      throw new UsageException(
          "--standalone: this is Java %d; the executors of Spark 3.5 need Java %d or older"
              .formatted(java, NEWEST_JAVA));
    }
  }

  /** What an application needs to run here. */
  void configure(SparkConf configuration) {
    configuration
        .setMaster(master)
        .set("spark.executor.cores", Integer.toString(cores))
        .set("spark.executor.memory", memory + "m")
        .set("spark.executor.extraClassPath", System.getProperty("java.class.path"))
        .set(
            "spark.executor.extraJavaOptions",
            options(option -> !option.startsWith("-Xmx"))
                .map(StandaloneCluster::quoted)
                .collect(Collectors.joining(" ")))
        // All of the work goes to the same executor from the first task on.
        .set("spark.scheduler.minRegisteredResourcesRatio", "1.0");
  }

  /**
   * Does something, on another thread, when the master or the worker has ended by itself, or when
   * executors end as soon as they start: the worker would start new ones for ever.
   */
  void whenBroken(Runnable reaction) {
    for (Process daemon : daemons) {
      daemon
          .onExit()
          .thenRun(
              () -> {
                if (!closing) {
                  broken =
                      "Spark's master or worker ended with exit code %d; expected it to run on"
                          .formatted(daemon.exitValue());
                  reaction.run();
                }
              });
    }
    Thread looking = new Thread(() -> lookAtExecutors(reaction), "looks at executors");
    looking.setDaemon(true);
    looking.start();
  }

  private void lookAtExecutors(Runnable reaction) {
    while (!closing && broken == null) {
      long started = executors(work());
      if (started > MOST_EXECUTORS) {
        broken = "%d executors were started; expected one that stays".formatted(started);
        reaction.run();
        return;
      }
      try {
        Thread.sleep(MILLISECONDS_BETWEEN_LOOKS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  /** How many the worker has started: each has a folder, in that of its application. */
  static long executors(Path work) {
    if (!Files.exists(work)) {
      return 0;
    }
    try (Stream<Path> all = Files.find(work, 2, (path, file) -> file.isDirectory())) {
      return all.filter(path -> work.relativize(path).getNameCount() == 2).count();
    } catch (IOException | UncheckedIOException e) {
      return 0; // the cluster is being removed
    }
  }

  /** A job's, with what the newest executor said last. */
  WorkloadFailure failure(Exception cause) throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add(broken == null ? cause.toString() : broken);
    if (Files.exists(work())) {
      try (Stream<Path> all = Files.walk(work())) {
        // A JVM that refuses its options says so on its standard output.
        all.filter(path -> path.endsWith("stderr") || path.endsWith("stdout"))
            .filter(path -> path.toFile().length() > 0)
            .sorted(Comparator.comparing(path -> -path.toFile().lastModified()))
            .limit(2)
            .forEach(path -> lines.addAll(lastLines(path)));
      }
    }
    return new WorkloadFailure(String.join("\n", lines), cause);
  }

  /** Ends the master and the worker, which ends its executors. */
  @Override
  public void close() throws IOException {
    closing = true;
    for (Process daemon : daemons) {
      daemon.getOutputStream().close();
    }
    try {
      for (Process daemon : daemons) {
        if (!daemon.waitFor(SECONDS_TO_END, TimeUnit.SECONDS)) {
          daemon.destroyForcibly();
        }
      }
    } catch (InterruptedException e) {
      daemons.forEach(Process::destroyForcibly);
      Thread.currentThread().interrupt();
    }
    try (Stream<Path> all = Files.walk(folder)) {
      all.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
    }
  }

  /** As -Xmx has it; what Runtime tells may lack a part that a collector never uses. */
  private static long heapBytes() {
    return Long.parseLong(
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
            .getVMOption("MaxHeapSize")
            .getValue());
  }

  private Path work() {
    return folder.resolve("work");
  }

  private Process start(String... arguments) throws IOException {
    String home = System.getProperty("java.home");
    List<String> command = new ArrayList<>();
    command.add(Path.of(home, "bin", "java").toString());
    command.addAll(options(option -> true).toList());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Daemon.class.getName()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    builder
        .environment()
        .putAll(
            Map.of(
                "JAVA_HOME",
                home,
                "SPARK_HOME",
                folder.toString(),
                // Otherwise Spark tells it from folders of its own checkout.
                "SPARK_SCALA_VERSION",
                "2.13",
                "SPARK_LOCAL_DIRS",
                folder.toString()));
    Process process = builder.start();
    daemons.add(process);
    return process;
  }

  /**
   * This JVM's own options, but for agents: these reach every JVM through the environment, as
   * whoever wants them there has asked for.
   */
  private static Stream<String> options(Predicate<String> wanted) {
    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(option -> !option.startsWith("-agent") && !option.startsWith("-javaagent"))
        .filter(wanted);
  }

  /** As Spark takes options apart: at white space, but not between quotes. */
  private static String quoted(String option) {
    return '"' + option.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  private static List<String> lastLines(Path path) {
    try {
      List<String> lines = Files.readAllLines(path);
      return lines.subList(Math.max(0, lines.size() - LINES_TOLD), lines.size());
    } catch (IOException e) {
      return List.of(path + ": " + e);
    }
  }
}
