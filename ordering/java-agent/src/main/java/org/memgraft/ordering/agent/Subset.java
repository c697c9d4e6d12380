package org.memgraft.ordering.agent;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * Which accesses get fences: all of them, or those that the lines of a file name. A line names one
 * field ("org.example.Server.stopped"), the array elements that a method accesses
 * ("org.example.Ring.take[]"), the calls in a method that get fences ("org.example.Ring.take()"),
 * or all whose names begin like it ("org.example.Server.*"). What is behind "#" is a comment.
 */
final class Subset {
  /** Everything. */
  static final Subset ALL = new Subset(null, List.of(), null);

  static final String ELEMENTS = "[]";
  static final String CALLS = "()";

  /**
   * In a class of its own: a regular expression loads classes of the JDK, and only an agent with a
   * file to read needs one.
   */
  private static final class Form {
    private static final String PART = "[^\\s.;/\\[\\]()*]+";
    static final Pattern ENTRY =
        Pattern.compile(PART + "(\\." + PART + ")*\\.(" + PART + "(\\[]|\\(\\))?|\\*)");
  }

  private final Set<String> entries;
  private final List<String> prefixes;
  private final Hierarchy hierarchy;
  private final Set<String> fields = new HashSet<>();
  private final Set<String> matched = ConcurrentHashMap.newKeySet();

  private Subset(Set<String> entries, List<String> prefixes, Hierarchy hierarchy) {
    this.entries = entries;
    this.prefixes = prefixes;
    this.hierarchy = hierarchy;
    if (entries != null) {
      for (String entry : entries) {
        fields.add(entry.substring(entry.lastIndexOf('.') + 1));
      }
    }
  }

  /**
   * The subset that a file names.
   *
   * @throws IllegalArgumentException with one line for the user
   */
  static Subset read(Path file, Hierarchy hierarchy) {
    try {
      return of(Files.readAllLines(file), file.toString(), hierarchy);
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("only=" + file + ": expected a text file in UTF-8");
    } catch (IOException e) {
      throw new IllegalArgumentException("only=" + file + ": expected a file that can be read");
    }
  }

  static Subset of(List<String> lines, String source, Hierarchy hierarchy) {
    Set<String> entries = new HashSet<>();
    List<String> prefixes = new ArrayList<>();
    int number = 0;
    for (String line : lines) {
      number++;
      String entry = line.replaceFirst("#.*", "").strip();
      if (entry.isEmpty()) {
        continue;
      }
      if (!Form.ENTRY.matcher(entry).matches()) {
        throw new IllegalArgumentException(
            "only="
                + source
                + ": expected a field such as org.example.Server.stopped, "
                + "org.example.Ring.take[], org.example.Ring.take() or org.example.* in line "
                + number
                + "; found '"
                + entry
                + "'");
      }
      if (entry.endsWith(".*")) {
        prefixes.add(entry.substring(0, entry.length() - 1));
      } else {
        entries.add(entry);
      }
    }
    return new Subset(entries, List.copyOf(prefixes), hierarchy);
  }

  boolean isAll() {
    return entries == null;
  }

  /** Whether it may name something of the JVM's own classes. */
  boolean reachesTheJdk() {
    return isAll()
        || entries.stream().anyMatch(entry -> Names.isOfAJdk(entry.replace('.', '/')))
        || prefixes.stream().anyMatch(prefix -> Names.isOfAJdk(prefix.replace('.', '/')));
  }

  /**
   * Whether accesses of a field are in it.
   *
   * @param loader of the class with the access
   * @param owner the class by which the access names the field: it, or a subclass of it
   */
  boolean hasField(ClassLoader loader, String owner, String name, String shape) {
    if (isAll()) {
      return true;
    }
    if (prefixes.isEmpty() && !fields.contains(name)) {
      return false;
    }
    return has(hierarchy.declaring(loader, owner, name, shape).owner(), name);
  }

  boolean hasElements(String owner, String method) {
    return isAll() || has(owner, method + ELEMENTS);
  }

  boolean hasCalls(String owner, String method) {
    return isAll() || has(owner, method + CALLS);
  }

  private boolean has(String owner, String member) {
    String name = nameOf(owner, member);
    boolean found = entries.contains(name);
    if (found) {
      matched.add(name);
    }
    for (String prefix : prefixes) {
      if (name.startsWith(prefix)) {
        matched.add(prefix + "*");
        found = true;
      }
    }
    return found;
  }

  /** As a line of the file has it. */
  static String nameOf(String owner, String member) {
    return owner.replace('/', '.') + '.' + member;
  }

  /** The lines that named nothing in any class so far. */
  List<String> unmatched() {
    Set<String> unmatched = new TreeSet<>();
    if (!isAll()) {
      unmatched.addAll(entries);
      prefixes.forEach(prefix -> unmatched.add(prefix + "*"));
      unmatched.removeAll(matched);
    }
    return List.copyOf(unmatched);
  }
}
