package org.memgraft.ordering.agent;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.objectweb.asm.ClassReader;

/** Rewrites each class when the JVM loads or retransforms it, and keeps what could not be. */
final class Transformer implements ClassFileTransformer {
  private static final String OURS = "org/memgraft/ordering/agent/";
  private static final int MOST_NAMED = 20;

  /** In code of the program's own loaders. */
  private static final Pattern OF_A_JDK = Pattern.compile("(java|jdk|sun|com/sun)/.*");

  private final Machine machine = Machine.here();
  private final boolean check;
  private final Subset subset;
  private final boolean delays;
  private final Hierarchy hierarchy;
  private final Touches touches;
  private final Sites sites = new Sites();
  private final AtomicLong classes = new AtomicLong();
  private final AtomicLong hidden = new AtomicLong();
  private final Set<String> seen = ConcurrentHashMap.newKeySet();
  private final AtomicLong checked = new AtomicLong();
  private final Failures failed = new Failures();
  private final Failures unfenced = new Failures();

  /**
   * Puts fences into code, or, where touches are given, has its accesses told to these.
   *
   * @param check whether each rewritten class is read again
   * @param delays whether delays are put instead of fences
   * @param touches null: nothing is told
   */
  Transformer(boolean check, Subset subset, boolean delays, Hierarchy hierarchy, Touches touches) {
    this.check = check;
    this.subset = subset;
    this.delays = delays;
    this.hierarchy = hierarchy;
    this.touches = touches;
  }

  /** Whether the JVM's own classes are rewritten too. */
  boolean reachesTheJdk() {
    return touches == null && subset.reachesTheJdk();
  }

  @Override
  public byte[] transform(
      ClassLoader loader, String name, Class<?> known, ProtectionDomain domain, byte[] original) {
    // A program that defines a class need not say its name beforehand.
    String itsName = name != null ? name : nameIn(original);
    if (isOurs(itsName) || !reachesTheJdk() && isOfTheJdk(loader, itsName)) {
      return null;
    }
    String shown = itsName.replace('/', '.');
    seen.add(shown);
    return rewritten(loader, shown, original);
  }

  /** Whether the class comes with the JVM. */
  static boolean isOfTheJdk(ClassLoader loader, String name) {
    return loader == null
        || loader == ClassLoader.getPlatformClassLoader()
        || OF_A_JDK.matcher(name).matches();
  }

  private static String nameIn(byte[] original) {
    try {
      return new ClassReader(original).getClassName();
    } catch (RuntimeException e) {
      // The JVM will refuse it.
      return "?";
    }
  }

  /** A hidden class as it was where it cannot be rewritten: whoever makes it must get one. */
  byte[] hidden(byte[] original) {
    byte[] rewritten = rewritten(null, "a hidden class", original);
    if (rewritten == null) {
      return original;
    }
    hidden.incrementAndGet();
    return rewritten;
  }

  private byte[] rewritten(ClassLoader loader, String shown, byte[] original) {
    try {
      if (touches != null || !subset.isAll()) {
        hierarchy.add(new ClassReader(original));
      }
      if (touches != null) {
        byte[] watched = Watcher.rewrite(original, loader, hierarchy, touches, machine);
        classes.incrementAndGet();
        return watched;
      }
      var work = new Rewriter.Work(subset, delays, machine, loader);
      byte[] rewritten = Rewriter.rewrite(original, work, sites);
      classes.incrementAndGet();
      if (check) {
        List<String> found = Checker.unfenced(rewritten, machine);
        checked.incrementAndGet();
        found.forEach(method -> unfenced.add(method, "an access without a fence"));
      }
      return rewritten;
    } catch (Throwable e) {
      // The JVM would drop it, and take the class as it was without a word.
      failed.add(shown, e.toString());
      return null;
    }
  }

  /** Its own classes share nothing with the program's. */
  static boolean isOurs(String name) {
    return name.startsWith(OURS);
  }

  /** Whether a class of this name was offered, as Class.getName has it. */
  boolean hasSeen(String name) {
    return seen.contains(name);
  }

  Sites sites() {
    return sites;
  }

  long classes() {
    return classes.get();
  }

  /** Of the classes: hidden ones. */
  long hidden() {
    return hidden.get();
  }

  long checked() {
    return checked.get();
  }

  Failures failed() {
    return failed;
  }

  Failures unfenced() {
    return unfenced;
  }

  /** What went wrong: how often, and some of it by name. */
  static final class Failures {
    private long count;
    private final Map<String, String> some = new TreeMap<>();

    synchronized void add(String name, String why) {
      count++;
      if (some.size() < MOST_NAMED) {
        some.putIfAbsent(name, why);
      }
    }

    synchronized long count() {
      return count;
    }

    synchronized Map<String, String> some() {
      return new TreeMap<>(some);
    }
  }
}
