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
 * What is known of the classes that were offered so far, for those that are offered later: which
 * constructors give the object that they make to nobody, and which fields are final.
 *
 * <p>A class is only trusted in where it is certain that another one which names it will have this
 * one, and no other of its name: the JVM asks the other one's loader for it, which may have one of
 * its own.
 */
final class KnownClasses {
  /** What a class may trust in. */
  interface Facts {
    /** Nothing. */
    Facts NONE =
        new Facts() {
          @Override
          public boolean keeps(String owner, String shape) {
            return false;
          }

          @Override
          public boolean isFinal(String owner, String name, String shape) {
            return false;
          }
        };

    /** Whether a constructor that one calls for the same object gives that to nobody. */
    boolean keeps(String owner, String shape);

    /** Whether a field is final, and of another class. */
    boolean isFinal(String owner, String name, String shape);
  }

  /** Whether a constructor gives its object to nobody. */
  interface Judge {
    boolean keeps(String owner, MethodNode constructor, Facts others);
  }

  /**
   * A class.
   *
   * @param facts the descriptors of constructors, and the names of fields with their descriptors
   * @param trusted those of the facts that others have counted on
   */
  private record Known(Set<String> facts, Set<String> trusted) {
    boolean has(String fact) {
      boolean has = facts.contains(fact);
      if (has) {
        trusted.add(fact);
      }
      return has;
    }
  }

  private static final String OBJECT = "java/lang/Object";

  private final Judge judge;
  private final Map<ClassLoader, Map<String, Known>> classes =
      Collections.synchronizedMap(new WeakHashMap<>());

  KnownClasses(Judge judge) {
    this.judge = judge;
  }

  /** A class that has been read. */
  final class Read {
    private final Offer offer;
    private final Own own;

    private Read(Offer offer, Own own) {
      this.offer = offer;
      this.own = own;
    }

    /** What this class may trust in. */
    Facts facts() {
      return own;
    }

    /**
     * From now on others may count on this class.
     *
     * @throws IllegalStateException where they have counted on what is not so any more
     */
    void publish() {
      if (offer.origin() == Offer.Origin.HIDDEN) {
        return;
      }
      Known before = of(offer.loader()).get(own.name);
      Set<String> trusted = before == null ? ConcurrentHashMap.newKeySet() : before.trusted();
      Known known = new Known(own.facts(), trusted);
      of(offer.loader()).put(own.name, known);
      if (!known.facts().containsAll(trusted)) {
        throw new IllegalStateException(
            "others have counted on what one of its constructors, or final fields, was before");
      }
    }
  }

  /** Reads a class. */
  Read read(Offer offer) {
    ClassReader reader = new ClassReader(offer.bytes());
    String parent = reader.getSuperName();
    // Which loader a hidden class has is not known.
    boolean hidden = offer.origin() == Offer.Origin.HIDDEN;
    Known above = hidden || parent == null ? null : find(offer.loader(), parent);
    Own own = new Own(reader, above, hidden ? null : offer);
    if (above != null || OBJECT.equals(parent)) {
      reader.accept(own, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    }
    return new Read(offer, own);
  }

  private Map<String, Known> of(ClassLoader loader) {
    return classes.computeIfAbsent(loader, any -> new ConcurrentHashMap<>());
  }

  /** The class of a name that a loader will give to the JVM; null: that is not certain. */
  private Known find(ClassLoader loader, String name) {
    Known known = of(loader).get(name);
    // No other loader may define classes of these packages.
    boolean unique = name.startsWith("java/");
    if (known == null && (unique || isBuiltIn(loader))) {
      known = of(null).get(name);
    }
    if (known == null && (unique || isBuiltIn(loader) && loader != null)) {
      known = of(ClassLoader.getPlatformClassLoader()).get(name);
    }
    return known;
  }

  /** Whether a loader is one of the JDK's three, which ask their parents first. */
  private static boolean isBuiltIn(ClassLoader loader) {
    return loader == null
        || loader == ClassLoader.getPlatformClassLoader()
        || loader.getClass().getName().equals("jdk.internal.loader.ClassLoaders$AppClassLoader");
  }

  /** One class, whose constructors may call each other. */
  private final class Own extends ClassVisitor implements Facts {
    private final String name;
    private final String parent;
    private final Known above;
    private final Offer offer;
    private final Set<String> finals;
    private final Map<String, MethodNode> unread = new HashMap<>();
    private final Map<String, Boolean> judged = new HashMap<>();

    /** The offer is null where its loader is not known. */
    Own(ClassReader reader, Known above, Offer offer) {
      super(Rewriter.API);
      this.above = above;
      this.offer = offer;
      name = reader.getClassName();
      parent = reader.getSuperName();
      finals = OwnFields.of(reader).finals();
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

    Set<String> facts() {
      Set<String> facts = new HashSet<>();
      for (String shape : Set.copyOf(unread.keySet())) {
        ownKeeps(shape);
      }
      for (Map.Entry<String, Boolean> one : judged.entrySet()) {
        if (one.getValue()) {
          facts.add(one.getKey());
        }
      }
      facts.addAll(finals);
      return facts;
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
      return owner.equals(name)
          ? ownKeeps(shape)
          : owner.equals(parent) && above != null && above.has(shape);
    }

    /** Where the class that is named declares it: an interface might have one of that name, too. */
    @Override
    public boolean isFinal(String owner, String field, String shape) {
      Known other = offer == null || owner.equals(name) ? null : find(offer.loader(), owner);
      return other != null && other.has(OwnFields.of(field, shape));
    }
  }
}
