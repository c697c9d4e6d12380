package org.memgraft.ordering.agent;

import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * Makes sure that no class is left as it was: neither those that were there before the agent, nor
 * others.
 */
final class Coverage {
  private static final int BATCH = 500;

  private final Instrumentation instrumentation;
  private final boolean ofTheJdk;
  private final Set<Class<?>> retransformed = Collections.newSetFromMap(new WeakHashMap<>());

  /**
   * Of the classes that this JVM has loaded.
   *
   * @param ofTheJdk whether the JVM's own are among those to rewrite
   */
  Coverage(Instrumentation instrumentation, boolean ofTheJdk) {
    this.instrumentation = instrumentation;
    this.ofTheJdk = ofTheJdk;
  }

  /**
   * Retransforms all that are loaded. Doing so loads others, which the transformer has seen; they
   * are done again, until there are none left.
   */
  void rewriteLoaded() throws UnmodifiableClassException {
    for (List<Class<?>> some = missing(); !some.isEmpty(); some = missing()) {
      List<Class<?>> missing = superclassesFirst(some);
      for (int from = 0; from < missing.size(); from += BATCH) {
        List<Class<?>> batch = missing.subList(from, Math.min(from + BATCH, missing.size()));
        instrumentation.retransformClasses(batch.toArray(Class<?>[]::new));
      }
      retransformed.addAll(missing);
    }
  }

  /** What is known of their constructors counts in those of their subclasses. */
  private static List<Class<?>> superclassesFirst(List<Class<?>> classes) {
    List<List<Class<?>>> byDepth = new ArrayList<>();
    for (Class<?> one : classes) {
      int depth = 0;
      for (Class<?> above = one.getSuperclass(); above != null; above = above.getSuperclass()) {
        depth++;
      }
      while (byDepth.size() <= depth) {
        byDepth.add(new ArrayList<>());
      }
      byDepth.get(depth).add(one);
    }
    List<Class<?>> sorted = new ArrayList<>();
    for (List<Class<?>> ofADepth : byDepth) {
      sorted.addAll(ofADepth);
    }
    return sorted;
  }

  private List<Class<?>> missing() {
    List<Class<?>> missing = new ArrayList<>();
    for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
      if (hasCode(loaded) && !retransformed.contains(loaded)) {
        missing.add(loaded);
      }
    }
    return missing;
  }

  /** Arrays have none; hidden ones are rewritten elsewhere ({@link HiddenClasses}). */
  private boolean hasCode(Class<?> loaded) {
    return instrumentation.isModifiableClass(loaded)
        && !loaded.isHidden()
        && !Transformer.isOurs(loaded.getName().replace('.', '/'))
        && (ofTheJdk || !isOfTheJdk(loaded));
  }

  private static boolean isOfTheJdk(Class<?> loaded) {
    return Transformer.isOfTheJdk(loaded.getClassLoader(), loaded.getName().replace('.', '/'));
  }

  /** The JVM's own classes that are loaded now, by name. */
  List<String> ofTheJdk() {
    List<String> names = new ArrayList<>();
    for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
      if (instrumentation.isModifiableClass(loaded) && !loaded.isHidden() && isOfTheJdk(loaded)) {
        names.add(loaded.getName());
      }
    }
    Collections.sort(names);
    return names;
  }

  /** The program's own classes that are loaded now, by internal name. */
  List<String> ofPrograms() {
    List<String> names = new ArrayList<>();
    for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
      if (!loaded.isArray() && Transformer.mayNamePrograms(loaded.getClassLoader())) {
        names.add(loaded.getName().replace('.', '/'));
      }
    }
    return names;
  }

  /** The classes that are loaded now, and that the transformer has never seen. */
  List<String> missed(Transformer transformer) {
    List<String> missed = new ArrayList<>();
    for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
      if (hasCode(loaded) && !transformer.hasSeen(loaded.getName())) {
        missed.add(loaded.getName());
      }
    }
    return missed;
  }

  /** How many hidden classes are loaded now. */
  long hidden() {
    long hidden = 0;
    for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
      if (loaded.isHidden()) {
        hidden++;
      }
    }
    return hidden;
  }
}
