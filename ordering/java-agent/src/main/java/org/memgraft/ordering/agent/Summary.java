package org.memgraft.ordering.agent;

import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The summary of this JVM (docs/formats.md, section 2), replaced as a whole each time. */
final class Summary {
  private static final double SECONDS = 1e-9;

  private final Path file;
  private final long began = System.nanoTime();

  Summary(Path folder) {
    String name =
        "jvm-" + ProcessHandle.current().pid() + "-" + System.currentTimeMillis() * 1_000_000;
    file = folder.resolve(name + ".json");
  }

  /** Written at the start and at the end; `done` is what the agent did. */
  void write(String state, Map<String, Object> done) throws IOException {
    Map<String, Object> all = head(state);
    Duration cpu = ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
    all.put("program", System.getProperty("sun.java.command", ""));
    all.put("wall_seconds", (System.nanoTime() - began) * SECONDS);
    // The JDK does not tell them apart.
    all.put("user_seconds", cpu.toNanos() * SECONDS);
    all.put("grafts", Map.of("bytecode", done));
    replace(all);
  }

  /** Why this JVM does not take the graft. */
  void refuse(String message, int exitCode) throws IOException {
    Map<String, Object> all = head("refused");
    Map<String, Object> refusal = new LinkedHashMap<>();
    refusal.put("message", message);
    refusal.put("exit_code", exitCode);
    all.put("refusal", refusal);
    replace(all);
  }

  private static Map<String, Object> head(String state) {
    Map<String, Object> jvm = new LinkedHashMap<>();
    jvm.put("version", System.getProperty("java.vm.version", ""));
    jvm.put("feature", Runtime.version().feature());
    jvm.put("vendor", System.getProperty("java.vendor", ""));
    jvm.put("name", System.getProperty("java.vm.name", ""));
    // Finding out loads a good part of the JDK, which a start must not wait for.
    jvm.put("collector", state.equals("ended") ? collector() : null);
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("schema", 1);
    all.put("kind", "jvm-summary");
    all.put("state", state);
    all.put("pid", ProcessHandle.current().pid());
    all.put("jvm", jvm);
    return all;
  }

  /** By the name of the bean that collects the young generation, or the only one: "G1", "ZGC". */
  private static String collector() {
    try {
      List<GarbageCollectorMXBean> beans = ManagementFactory.getGarbageCollectorMXBeans();
      return beans.isEmpty() ? null : nameOf(beans.get(0).getName());
    } catch (LinkageError e) {
      // A runtime image without the module java.management.
      return null;
    }
  }

  private static String nameOf(String bean) {
    return switch (bean) {
      case "Copy" -> "Serial";
      case "PS Scavenge" -> "Parallel";
      default -> bean.split(" ")[0];
    };
  }

  private void replace(Map<String, Object> all) throws IOException {
    Path draft = file.resolveSibling(file.getFileName() + ".draft");
    Files.writeString(draft, json(all) + "\n");
    Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Of maps, lists, strings, numbers and null. */
  static String json(Object value) {
    StringBuilder text = new StringBuilder();
    append(text, value);
    return text.toString();
  }

  private static void append(StringBuilder text, Object value) {
    if (value instanceof Map<?, ?> map) {
      text.append('{');
      for (Iterator<? extends Map.Entry<?, ?>> i = map.entrySet().iterator(); i.hasNext(); ) {
        Map.Entry<?, ?> entry = i.next();
        append(text, entry.getKey().toString());
        text.append(": ");
        append(text, entry.getValue());
        text.append(i.hasNext() ? ", " : "");
      }
      text.append('}');
    } else if (value instanceof List<?> list) {
      text.append('[');
      for (Iterator<?> i = list.iterator(); i.hasNext(); ) {
        append(text, i.next());
        text.append(i.hasNext() ? ", " : "");
      }
      text.append(']');
    } else if (value instanceof String string) {
      quote(text, string);
    } else {
      text.append(value);
    }
  }

  private static void quote(StringBuilder text, String string) {
    text.append('"');
    for (int i = 0; i < string.length(); i++) {
      char character = string.charAt(i);
      if (character == '"' || character == '\\') {
        text.append('\\').append(character);
      } else if (character < ' ' || Character.isSurrogate(character)) {
        text.append(String.format("\\u%04x", (int) character));
      } else {
        text.append(character);
      }
    }
    text.append('"');
  }
}
