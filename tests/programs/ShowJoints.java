import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Prints every trace of Memgraft that a program can see of itself: mapped files, environment,
 * flags.
 */
final class ShowJoints {
  private ShowJoints() {}

  public static void main(String[] arguments) throws Exception {
    try (var maps = Files.lines(Path.of("/proc/self/maps"))) {
      maps.filter(line -> line.contains("memgraft"))
          .forEach(line -> System.out.println("mapped: " + line));
    }
    System.getenv()
        .forEach(
            (name, value) -> {
              if (value.contains("libmemgraft") || name.startsWith("MEMGRAFT")) {
                System.out.println("environment: " + name + "=" + value);
              }
            });
    java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(option -> option.contains("TLAB") || option.contains("memgraft"))
        .forEach(option -> System.out.println("option: " + option));
    System.out.println("started " + String.join(" ", arguments));
  }
}
