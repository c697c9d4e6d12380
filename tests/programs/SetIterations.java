import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Reports iterations whose CPU times are made up, so that a comparison's answer is known: {@code
 * SetIterations COUNTER EFFECT}. Launch after launch (counted in the file COUNTER) the times wander
 * by up to 3 % around one second; under the zeroing graft they are EFFECT times that.
 */
final class SetIterations {
  private static final double[] WANDER = {1.00, 1.02, 0.98, 1.01, 0.97, 1.03, 0.99};

  private SetIterations() {}

  public static void main(String[] arguments) throws Exception {
    Path counter = Path.of(arguments[0]);
    int launch = Files.exists(counter) ? Files.readString(counter).length() : 0;
    Files.writeString(counter, "x".repeat(launch + 1));
    boolean grafted =
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .anyMatch(option -> option.startsWith("-agentpath:") && option.contains("memgraft"));
    double seconds =
        WANDER[launch % WANDER.length] * (grafted ? Double.parseDouble(arguments[1]) : 1);
    for (int iteration = 0; iteration < 4; iteration++) {
      // Warm-up iterations are slower, and a comparison that did not set them apart would be wrong.
      double warmUp = iteration < 2 ? 3 : 1;
      System.out.printf(
          Locale.ROOT,
          "{\"memgraft_iteration\": %d, \"workload\": \"set\", \"wall_seconds\": %.6f, \"cpu_seconds\": %.6f,"
              + " \"worker_cpu_seconds\": %.6f, \"checksum\": \"%s\"}%n",
          iteration,
          warmUp * seconds,
          warmUp * seconds,
          warmUp * seconds,
          arguments.length > 2 && grafted ? arguments[2] : "same");
    }
  }
}
