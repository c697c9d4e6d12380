package org.memgraft.workloads.harness;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.ServiceLoader;
import java.util.TimeZone;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;

/** The entry of every workload: {@code Main NAME [options]}. Start reading here. */
public final class Main {
  static final int DONE = 0;
  static final int FAILED = 1;
  static final int WRONG_USAGE = 2;

  private Main() {}

  public static void main(String[] arguments) {
    PrintStream out = System.out;
    // Standard output is for the iterations alone; what libraries have to say goes to the other.
    System.setOut(System.err);
    // Lucene would advise on JVM options at length.
    Logger.getLogger("").setLevel(Level.SEVERE);
    // Neither the machine's locale nor its time zone may show in a checksum.
    Locale.setDefault(Locale.ROOT);
    TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
    List<Workload> workloads =
        ServiceLoader.load(Workload.class).stream()
            .map(ServiceLoader.Provider::get)
            .collect(Collectors.toList());
    // Not a plain return: a library may have left threads behind that would keep the JVM alive.
    System.exit(run(workloads, arguments, out, System.err));
  }

  /** Returns the exit code. */
  static int run(List<Workload> workloads, String[] arguments, PrintStream out, PrintStream err) {
    String name = "workload";
    try {
      Options options = Options.parse(arguments);
      if (options.helpRequested()) {
        out.print(Options.help());
        return DONE;
      }
      Workload workload = find(workloads, options.workload());
      name = workload.name();
      Size size = options.size();
      if (options.standalone()) {
        workload.standalone();
      }
      int iterations = options.iterations().orElse(workload.defaultIterations(size));
      new Driver(workload, size, options.threads(), options.items(), out).run(iterations);
      return DONE;
    } catch (UsageException e) {
      err.println(name + ": " + e.getMessage());
      return WRONG_USAGE;
    } catch (WorkloadFailure e) {
      err.println(name + ": " + e.getMessage());
      if (e.getCause() != null) {
        e.getCause().printStackTrace(err);
      }
      return FAILED;
    } catch (Throwable e) {
      err.println(name + ": " + e);
      e.printStackTrace(err);
      return FAILED;
    }
  }

  private static Workload find(List<Workload> workloads, String name) throws UsageException {
    for (Workload workload : workloads) {
      if (workload.name().equals(name)) {
        return workload;
      }
    }
    String known = workloads.stream().map(Workload::name).collect(Collectors.joining(", "));
    throw new UsageException("no workload '" + name + "' on this class path, which has: " + known);
  }
}
