package org.memgraft.ordering.agent;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The summary of this JVM (docs/formats.md, section 2), replaced as a whole each time. It is
 * written while the JVM starts, where each class that it loads of the JDK would have to be
 * rewritten first.
 */
final class Summary {
  /** Linux's USER_HZ, on each machine that it and a JVM run on. */
  private static final long NANOS_OF_A_TICK = 10_000_000;

  private final File file;
  private final long pid;
  private final long began = System.nanoTime();

  Summary(Path folder) {
    String[] stat = stat();
    pid = stat == null ? ProcessHandle.current().pid() : Long.parseLong(stat[0]);
    file =
        new File(
            folder.toFile(), "jvm-" + pid + "-" + System.currentTimeMillis() * 1_000_000 + ".json");
  }

  /** What proc(5) says of this process, without the name of its program; null: it says nothing. */
  private static String[] stat() {
    try (FileInputStream stat = new FileInputStream("/proc/self/stat")) {
      String text = new String(stat.readAllBytes(), StandardCharsets.ISO_8859_1);
      int open = text.indexOf('(');
      return (text.substring(0, open) + text.substring(text.lastIndexOf(')') + 2)).split(" ");
    } catch (IOException e) {
      return null;
    }
  }

  private static long cpuNanos() {
    String[] stat = stat();
    if (stat == null) {
      return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
    }
    // Fields 14 and 15 of proc(5): user and system time.
    return (Long.parseLong(stat[12]) + Long.parseLong(stat[13])) * NANOS_OF_A_TICK;
  }

  private record Seconds(long nanos) {
    @Override
    public String toString() {
      String text = Long.toString(nanos % 1_000_000_000 + 1_000_000_000);
      return nanos / 1_000_000_000 + "." + text.substring(1);
    }
  }

  /** Written at the start and at the end; `done` is what the agent did. */
  void write(String state, Map<String, Object> done) throws IOException {
    Map<String, Object> all = head(state);
    all.put("program", System.getProperty("sun.java.command", ""));
    all.put("wall_seconds", new Seconds(System.nanoTime() - began));
    // The JDK, where it has to be asked, does not tell them apart.
    all.put("user_seconds", new Seconds(cpuNanos()));
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

  private Map<String, Object> head(String state) {
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
    all.put("pid", pid);
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
    File draft = new File(file.getPath() + ".draft");
    try {
      try (FileOutputStream stream = new FileOutputStream(draft)) {
        stream.write((json(all) + "\n").getBytes(StandardCharsets.UTF_8));
      }
      if (!draft.renameTo(file)) {
        throw new IOException(draft + " cannot be renamed to " + file);
      }
    } catch (IOException e) {
      // What of it there is on a full disk is of no use to anybody.
      draft.delete();
      throw e;
    }
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
