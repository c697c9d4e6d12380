package org.memgraft.ordering.agent;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
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
  /** What a constructor may trust in. */
  interface Keeping {
    /** Whether another one that it calls for the same object gives that to nobody. */
    boolean keeps(String owner, String shape);
  }

  /** What a class may trust in. */
  interface Facts extends Keeping {
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

    /** Whether a field is final, and of another class. */
    boolean isFinal(String owner, String name, String shape);

    /** Of the class itself, which is read again if it must. */
    default OwnFields fields(ClassReader reader) {
      return OwnFields.of(reader);
    }
  }

  /** Whether a constructor gives its object to nobody. */
  interface Judge {
    boolean keeps(String owner, MethodNode constructor, Keeping others);
  }

  /**
   * A class that others may count on.
   *
   * @param constructors the descriptors of those constructors that others have counted on
   */
  private record Known(Own own, Set<String> constructors) {
    boolean keeps(String shape) {
      boolean keeps = own.ownKeeps(shape);
      if (keeps) {
        constructors.add(shape);
      }
      return keeps;
    }
  }

  private static final String OBJECT = "java/lang/Object";

  private final Judge judge;
  private final boolean atOnce;
  private final Map<ClassLoader, Map<String, Known>> classes =
      Collections.synchronizedMap(new WeakHashMap<>());

  /**
   * Of classes that this judge reads.
   *
   * @param atOnce whether it reads all constructors at once, so that no class file is kept; else
   *     those that somebody asks for
   */
  KnownClasses(Judge judge, boolean atOnce) {
    this.judge = judge;
    this.atOnce = atOnce;
  }

  /** A class that has been read: what it may trust in, and others in it. */
  final class Read implements Facts {
    private final Offer offer;
    private final Own own;

    private Read(Offer offer, Own own) {
      this.offer = offer;
      this.own = own;
    }

    @Override
    public boolean keeps(String owner, String shape) {
      return own.keeps(owner, shape);
    }

    /** Where the class that is named declares it: an interface might have one of that name, too. */
    @Override
    public boolean isFinal(String owner, String field, String shape) {
      if (isHidden() || owner.equals(own.name)) {
        return false;
      }
      Known other = find(offer.loader(), owner);
      return other != null && other.own().fields.finals().contains(OwnFields.of(field, shape));
    }

    @Override
    public OwnFields fields(ClassReader same) {
      return own.fields;
    }

    /** Then it is not known which loader it has. */
    private boolean isHidden() {
      return offer.origin() == Offer.Origin.HIDDEN;
    }

    /**
     * From now on others may count on this class.
     *
     * @throws IllegalStateException where they have counted on what is not so any more
     */
    void publish() {
      if (isHidden()) {
        return;
      }
      if (atOnce) {
        own.readAll();
      }
      Known before = of(offer.loader()).get(own.name);
      Set<String> constructors =
          before == null ? ConcurrentHashMap.newKeySet() : before.constructors();
      of(offer.loader()).put(own.name, new Known(own, constructors));
      if (before != null && !own.fields.finals().containsAll(before.own().fields.finals())) {
        throw new IllegalStateException(
            "others may have counted on a final field that changes now");
      }
      for (String shape : constructors) {
        if (!own.ownKeeps(shape)) {
          throw new IllegalStateException(
              "others have counted on a constructor that gives its object away now");
        }
      }
    }
  }

  /** Reads a class. */
  Read read(Offer offer) {
    ClassReader reader = new ClassReader(offer.bytes());
    String parent = reader.getSuperName();
    boolean hidden = offer.origin() == Offer.Origin.HIDDEN;
    Known above = hidden || parent == null ? null : find(offer.loader(), parent);
    return new Read(offer, new Own(reader, above));
  }

  private Map<String, Known> of(ClassLoader loader) {
    synchronized (classes) {
      classes.putIfAbsent(loader, new ConcurrentHashMap<>());
      return classes.get(loader);
    }
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

  /**
   * One class, whose constructors may call each other. It has no reference to its loader, which
   * would then stay for good.
   */
  private final class Own extends ClassVisitor implements Keeping {
    private final OwnFields fields;
    private final String name;
    private final String parent;
    private final Known above;
    private final boolean mayBeExtended;
    private final Map<String, MethodNode> unread = new HashMap<>();
    private final Map<String, Boolean> judged = new HashMap<>();

    /** Null where all constructors have been read that may keep their objects to themselves. */
    private ClassReader reader;

    Own(ClassReader reader, Known above) {
      super(Rewriter.API);
      this.above = above;
      fields = OwnFields.of(reader);
      name = reader.getClassName();
      parent = reader.getSuperName();
      int never = Opcodes.ACC_FINAL | Opcodes.ACC_INTERFACE;
      mayBeExtended = (reader.getAccess() & never) == 0;
      boolean mayKeep = OBJECT.equals(parent) || above != null && above.own().mayKeep();
      this.reader = mayKeep ? reader : null;
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

    private synchronized boolean mayKeep() {
      return reader != null || judged.containsValue(true);
    }

    /** Where nobody can extend the class, nobody will ask. */
    synchronized void readAll() {
      if (mayBeExtended) {
        readConstructors();
        for (String shape : Set.copyOf(unread.keySet())) {
          ownKeeps(shape);
        }
      }
      reader = null;
    }

    private void readConstructors() {
      if (reader != null && unread.isEmpty() && judged.isEmpty()) {
        reader.accept(this, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
      }
    }

    private synchronized boolean ownKeeps(String shape) {
      readConstructors();
      MethodNode constructor = unread.remove(shape);
      if (constructor != null) {
        // What one that calls itself gets to know.
        judged.put(shape, false);
        judged.put(shape, judge.keeps(name, constructor, this));
      }
      return judged.getOrDefault(shape, false);
    }

    @Override
    public boolean keeps(String owner, String shape) {
      return owner.equals(name)
          ? ownKeeps(shape)
          : owner.equals(parent) && above != null && above.keeps(shape);
    }
  }
}
