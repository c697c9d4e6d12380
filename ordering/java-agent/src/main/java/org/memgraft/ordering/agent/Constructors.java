package org.memgraft.ordering.agent;

import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.tree.MethodNode;

/**
 * Which constructors give the object that they make to nobody, of the classes that were offered so
 * far. What a constructor stores into its object behind the call of such a one goes to an object
 * that nobody else has.
 *
 * <p>A class is only trusted in where it is certain that a subclass will have this one, and no
 * other of its name: the JVM asks the subclass's loader for it, which may have one of its own.
 */
final class Constructors {
  /** What a constructor may trust in. */
  interface Kept {
    /** Nothing. */
    Kept NONE = (owner, shape) -> false;

    /** Whether a constructor that it calls for the same object gives that to nobody. */
    boolean keeps(String owner, String shape);
  }

  /** Whether a constructor gives its object to nobody. */
  interface Judge {
    boolean keeps(String owner, MethodNode constructor, Kept others);
  }

  /**
   * The constructors of a class by their shapes.
   *
   * @param keeping those that give their object to nobody
   * @param trusted those of them that others have counted on
   */
  private record Known(Set<String> keeping, Set<String> trusted) {}

  private static final String OBJECT = "java/lang/Object";

  private final Judge judge;
  private final Map<ClassLoader, Map<String, Known>> classes =
      Collections.synchronizedMap(new WeakHashMap<>());

  Constructors(Judge judge) {
    this.judge = judge;
  }

  /** A class whose constructors have been read. */
  final class Read {
    private final Offer offer;
    private final String name;
    private final Set<String> keeping;
    private final Kept kept;

    private Read(Offer offer, String name, Set<String> keeping, Kept kept) {
      this.offer = offer;
      this.name = name;
      this.keeping = keeping;
      this.kept = kept;
    }

    /** What the constructors of this class may trust in. */
    Kept kept() {
      return kept;
    }

    /**
     * From now on others may count on this class.
     *
     * @throws IllegalStateException where they have counted on a constructor that, being another
     *     one now, gives its object away
     */
    void publish() {
      if (offer.origin() == Offer.Origin.HIDDEN) {
        return;
      }
      Known before = of(offer.loader()).get(name);
      Set<String> trusted = before == null ? ConcurrentHashMap.newKeySet() : before.trusted();
      of(offer.loader()).put(name, new Known(keeping, trusted));
      if (!keeping.containsAll(trusted)) {
        throw new IllegalStateException(
            "subclasses were loaded before one of its constructors gave its object away");
      }
    }
  }

  /** Reads the constructors of a class. */
  Read read(Offer offer) {
    ClassReader reader = new ClassReader(offer.bytes());
    String name = reader.getClassName();
    String parent = reader.getSuperName();
    // Nobody can extend a hidden class, and which loader it has is not known.
    boolean hidden = offer.origin() == Offer.Origin.HIDDEN;
    Known above = hidden || parent == null ? null : find(offer.loader(), parent);
    boolean nothing = above == null || above.keeping().isEmpty();
    if (nothing && !OBJECT.equals(parent)) {
      return new Read(offer, name, Set.of(), Kept.NONE);
    }
    Own own = new Own(name, parent, above);
    reader.accept(own, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    return new Read(offer, name, own.keeping(), own);
  }

  private Map<String, Known> of(ClassLoader loader) {
    return classes.computeIfAbsent(loader, any -> new ConcurrentHashMap<>());
  }

  /** The class of a name that a loader will give to the JVM; null: that is not certain. */
  private Known find(ClassLoader loader, String name) {
    Known known = of(loader).get(name);
    ClassLoader platform = ClassLoader.getPlatformClassLoader();
    // No other loader may define classes of these packages.
    boolean unique = name.startsWith("java/");
    if (known == null && (unique || isBuiltIn(loader))) {
      known = of(null).get(name);
    }
    if (known == null && (unique || isBuiltIn(loader) && loader != null)) {
      known = of(platform).get(name);
    }
    return known;
  }

  /** Whether a loader is one of the JDK's three, which ask their parents first. */
  private static boolean isBuiltIn(ClassLoader loader) {
    return loader == null
        || loader == ClassLoader.getPlatformClassLoader()
        || loader.getClass().getName().equals("jdk.internal.loader.ClassLoaders$AppClassLoader");
  }

  /** The constructors of one class, each of which may call another. */
  private final class Own extends ClassVisitor implements Kept {
    private final String name;
    private final String parent;
    private final Known above;
    private final Map<String, MethodNode> unread = new HashMap<>();
    private final Map<String, Boolean> judged = new HashMap<>();

    Own(String name, String parent, Known above) {
      super(Rewriter.API);
      this.name = name;
      this.parent = parent;
      this.above = above;
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String method, String shape, String signature, String[] exceptions) {
      if (!method.equals("<init>")) {
        return null;
      }
      MethodNode constructor =
          new MethodNode(Rewriter.API, access, method, shape, signature, exceptions);
      unread.put(shape, constructor);
      return constructor;
    }

    Set<String> keeping() {
      Set<String> keeping = new HashSet<>();
      for (String shape : Set.copyOf(unread.keySet())) {
        if (ownKeeps(shape)) {
          keeping.add(shape);
        }
      }
      return keeping;
    }

    private boolean ownKeeps(String shape) {
      MethodNode constructor = unread.remove(shape);
      if (constructor != null) {
        judged.put(shape, judge.keeps(name, constructor, this));
      }
      // One that calls itself is not judged yet.
      return judged.getOrDefault(shape, false);
    }

    @Override
    public boolean keeps(String owner, String shape) {
      if (owner.equals(name)) {
        return ownKeeps(shape);
      }
      boolean keeps = owner.equals(parent) && above != null && above.keeping().contains(shape);
      if (keeps) {
        above.trusted().add(shape);
      }
      return keeps;
    }
  }
}
