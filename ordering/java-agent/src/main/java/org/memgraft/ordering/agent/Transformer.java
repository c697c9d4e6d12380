package org.memgraft.ordering.agent;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.objectweb.asm.ClassReader;

/** Rewrites each class when the JVM loads or retransforms it, and keeps what could not be. */
final class Transformer implements ClassFileTransformer {
  /** Reads a rewritten class and names the methods with accesses that are not in order. */
  interface Checks {
    List<String> unfenced(Offer rewritten);
  }

  private static final String OURS = "org/memgraft/ordering/agent/";
  private static final int MOST_NAMED = 20;

  /** In code of the program's own loaders. */
  private static final List<String> OF_A_JDK = List.of("java/", "jdk/", "sun/", "com/sun/");

  private final Checks check;
  private final boolean ofTheJdk;
  private final Treatment treatment;
  private final KnownClasses knownClasses = new KnownClasses(PrivateStores::keeps, true);
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
   * @param check reads each one again; null: nothing does
   * @param ofTheJdk whether the JVM's own are treated too
   */
  Transformer(Checks check, boolean ofTheJdk, Treatment treatment) {
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
    Offer.Origin origin = known == null ? Offer.Origin.LOADED : Offer.Origin.AGAIN;
    return rewritten(new Offer(loader, original, origin), shown);
  }

  /** Whether classes of a loader may name those of a program: it is none of the JVM's own. */
  static boolean mayNamePrograms(ClassLoader loader) {
    return loader != null && loader != ClassLoader.getPlatformClassLoader();
  }

  /** Whether the class comes with the JVM. */
  static boolean isOfTheJdk(ClassLoader loader, String name) {
    return !mayNamePrograms(loader) || Names.begins(name, OF_A_JDK);
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
    Offer offer = new Offer(null, original, Offer.Origin.HIDDEN);
    byte[] rewritten = rewritten(offer, "a hidden class");
    if (rewritten == null) {
      return original;
    }
    hidden.incrementAndGet();
    return rewritten;
  }

  private byte[] rewritten(Offer offer, String shown) {
    try {
      KnownClasses.Read read = knownClasses.read(offer);
      byte[] rewritten = treatment.of(offer, read, sites);
      List<String> found = check == null ? List.of() : check.unfenced(offer.with(rewritten));
      // The check must know it when others count on it.
      read.publish();
      classes.incrementAndGet();
      if (check != null) {
        checked.incrementAndGet();
      }
      for (String method : found) {
        unfenced.add(method, "an access without a fence");
      }
      return rewritten;
    } catch (Throwable e) {
      // The JVM would drop it, and take the class as it was without a word.
      failed.add(shown, e.toString());
      return null;
    }
  }

  /**
   * Its own classes share nothing with the program's; those of the bridge have their own fences.
   */
  static boolean isOurs(String name) {
    return name.startsWith(OURS) || name.startsWith(Bridge.NAME);
  }

  /** Whether a class of this name was offered, as Class.getName has it. */
  boolean hasSeen(String name) {
    return seen.contains(name);
  }

  /** Whether each class is read again. */
  boolean checks() {
    return check != null;
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
