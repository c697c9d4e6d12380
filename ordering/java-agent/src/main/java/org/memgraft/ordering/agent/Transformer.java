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
  private final boolean ofTheJdk;
  private final Treatment treatment;
  private final Sites sites = new Sites();
  private final AtomicLong classes = new AtomicLong();
  private final AtomicLong hidden = new AtomicLong();
  private final Set<String> seen = ConcurrentHashMap.newKeySet();
  private final AtomicLong checked = new AtomicLong();
  private final Failures failed = new Failures();
  private final Failures unfenced = new Failures();

  /**
   * Treats each class that is loaded.
   *
   * @param check whether each one is read again
   * @param ofTheJdk whether the JVM's own are treated too
   */
  Transformer(boolean check, boolean ofTheJdk, Treatment treatment) {
    this.check = check;
    this.ofTheJdk = ofTheJdk;
    this.treatment = treatment;
  }

  @Override
  public byte[] transform(
      ClassLoader loader, String name, Class<?> known, ProtectionDomain domain, byte[] original) {
    // A program that defines a class need not say its name beforehand.
    String itsName = name != null ? name : nameIn(original);
    if (isOurs(itsName) || !ofTheJdk && isOfTheJdk(loader, itsName)) {
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
      byte[] rewritten = treatment.of(loader, original, sites);
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
