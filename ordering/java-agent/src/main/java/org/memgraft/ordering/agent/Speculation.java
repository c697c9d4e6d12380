package org.memgraft.ordering.agent;

import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Member;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.objectweb.asm.Opcodes;

/**
 * Takes it that objects stay with the threads that made them, their *owners*, class by class. When
 * one does not, its class is *switched*: from there on all accesses to its fields have fences
 * (docs/speculative.md).
 *
 * <p>A class here stands for the fields that it declares, in objects of its subclasses too. Classes
 * of one name from several loaders are switched together.
 */
final class Speculation {
  /** Of the fields with owners, which reflection may come across. */
  private static final String OWNER = "$memgraft$owner$";

  private static final int EXEMPT = Opcodes.ACC_STATIC | Opcodes.ACC_FINAL | Opcodes.ACC_VOLATILE;
  private static final int MOST_NAMED = 50;
  private static final double SECONDS = 1e-9;

  private static final String NOT_THE_OWNER = "another thread than the owner";
  private static final String REFLECTION = "reflection, or a handle, knows a field";

  /** A class whose fields are speculated on. */
  static final class Speculated {
    private final String name;
    private final int number;
    private Class<?> holder;

    /** Why it is switched; null: it is not. */
    private volatile String why;

    /** With checks alone: how often one failed. Threads may lose some of each other's. */
    private long failed;

    private Speculated(String name, int number) {
      this.name = name;
      this.number = number;
    }

    int number() {
      return number;
    }

    /** The field of the class that says who made an object. */
    String ownerField() {
      return Speculation.ownerField(name);
    }
  }

  /** Whether a class has an owner, and how to get it of an object. */
  private record Owner(Speculated speculated, MethodHandle field) {}

  private final boolean checksOnly;
  private final Hierarchy hierarchy;
  private final ClassValue<List<Owner>> owners =
      new ClassValue<>() {
        @Override
        protected List<Owner> computeValue(Class<?> type) {
          return ownersOf(type);
        }
      };

  /** By internal name; those that are not speculated on have none. */
  private final Map<String, Speculated> classes = new ConcurrentHashMap<>();

  private final Set<String> leftAlone = ConcurrentHashMap.newKeySet();

  /** By number. */
  private final List<Speculated> all = new ArrayList<>();

  private Instrumentation instrumentation;
  private MethodHandles.Lookup ofTheJdk;
  private MethodHandle me;

  /** Why nothing is speculated on any more; null: it is. */
  private volatile String ended;

  /** Held while the JVM redefines holders. */
  private final Object switching = new Object();

  private long nanoseconds;

  /**
   * Begins with no class.
   *
   * @param checksOnly whether no class is ever switched: a measure of what checks cost
   */
  Speculation(boolean checksOnly, Hierarchy hierarchy) {
    this.checksOnly = checksOnly;
    this.hierarchy = hierarchy;
  }

  /**
   * Before the first class is rewritten.
   *
   * @param ofTheJdk defines classes of the package java.lang
   * @return by name: what the bridge calls
   */
  Map<String, Object> open(
      MethodHandles.Lookup ofTheJdk, Class<?> bridge, Instrumentation instrumentation)
      throws ReflectiveOperationException {
    this.instrumentation = instrumentation;
    this.ofTheJdk = ofTheJdk;
    me = ofTheJdk.findStatic(bridge, "me", MethodType.methodType(long.class));
    IntConsumer foreign = this::foreign;
    Consumer<Object> touched = this::touched;
    BiConsumer<Object, Object> reached = this::reached;
    BiConsumer<Object, Object> nativeCode = this::nativeCode;
    return Map.of(
        "foreign", foreign, "touched", touched, "reached", reached, "nativeCode", nativeCode);
  }

  /** The class was there before the agent, and cannot get a field. */
  void leaveAlone(String name) {
    leftAlone.add(name);
  }

  static String ownerField(String name) {
    return OWNER + name.replace('/', '$');
  }

  /** Whether a field that is declared so is speculated on, in a class that is. */
  static boolean isPlain(int access) {
    return (access & EXEMPT) == 0;
  }

  /** A call that may make a copy of an object, all its fields included. */
  static boolean isClone(String owner, String name, String shape) {
    return name.equals("clone") && shape.equals("()Ljava/lang/Object;") && !owner.startsWith("[");
  }

  /**
   * Whether objects of classes with this name have owners. It goes by the name alone, because code
   * that accesses their fields may be rewritten before they are loaded.
   */
  boolean speculates(String name) {
    return !leftAlone.contains(name) && !hierarchy.isOfThePlatform(name);
  }

  /** The class of this name, which is speculated on from now on; null: it is not. */
  Speculated of(String name) {
    Speculated known = classes.get(name);
    if (known != null || !speculates(name)) {
      return known;
    }
    synchronized (all) {
      known = classes.get(name);
      if (known != null) {
        return known;
      }
      Speculated made = new Speculated(name, all.size());
      try {
        // Code that is rewritten before the bridge is open never runs.
        byte[] holder = Holder.bytes(made.number, ended != null);
        made.holder = ofTheJdk == null ? null : ofTheJdk.defineClass(holder);
      } catch (IllegalAccessException e) {
        throw new IllegalStateException("no class of java.lang can be made: " + e, e);
      }
      made.why = ended;
      all.add(made);
      classes.put(name, made);
      return made;
    }
  }

  // What code calls through the bridge. --------------------------------------------------------

  /** A check failed. */
  void foreign(int number) {
    Speculated speculated;
    synchronized (all) {
      speculated = all.get(number);
    }
    speculated.failed++;
    change(speculated, NOT_THE_OWNER);
  }

  /** Something is about to be done to all fields of an object. */
  void touched(Object object) {
    if (object == null) {
      return;
    }
    for (Owner owner : owners.get(object.getClass())) {
      if (owner.speculated.why == null && !isMine(owner, object)) {
        change(owner.speculated, NOT_THE_OWNER);
      }
    }
  }

  private boolean isMine(Owner owner, Object object) {
    try {
      return (long) owner.field.invokeExact(object) == (long) me.invokeExact();
    } catch (Throwable e) {
      throw new IllegalStateException("the owner of an object cannot be read", e);
    }
  }

  /**
   * Somebody gets to know where a field lies.
   *
   * @param member the field, or its class; null where the JDK will refuse it
   * @param name of the field, with a class
   */
  void reached(Object member, Object name) {
    if (member instanceof Member field) {
      reached(field.getDeclaringClass(), field.getName(), field.getModifiers());
    } else if (member instanceof Class<?> type) {
      reached(type, String.valueOf(name), 0);
    }
  }

  private void reached(Class<?> type, String name, int modifiers) {
    boolean inOrder = Modifier.isFinal(modifiers) || Modifier.isVolatile(modifiers);
    Speculated speculated = classes.get(internal(type));
    if (speculated != null && !inOrder && !name.startsWith(OWNER)) {
      change(speculated, REFLECTION);
    }
  }

  /**
   * A library is about to be loaded, and nothing shows what it will access.
   *
   * @param from the class that asks for it
   */
  void nativeCode(Object from, Object library) {
    if (from instanceof Class<?> type && Transformer.mayNamePrograms(type.getClassLoader())) {
      end("native code in " + library);
    }
  }

  // --------------------------------------------------------------------------------------------

  private static String internal(Class<?> type) {
    return type.getName().replace('.', '/');
  }

  /**
   * Makes all accesses to the fields of a class ordered. The JVM redefines the holder at a
   * safepoint: every thread stands still, with all that it did before seen by all others, and what
   * compilers made of the old holder is thrown away (JVM TI, RedefineClasses).
   */
  private void change(Speculated speculated, String why) {
    if (checksOnly) {
      return;
    }
    // Whoever comes second waits until it is done.
    synchronized (switching) {
      if (speculated.why == null) {
        redefine(List.of(speculated), why);
      }
    }
  }

  private void end(String why) {
    if (checksOnly) {
      return;
    }
    synchronized (switching) {
      List<Speculated> left = new ArrayList<>();
      synchronized (all) {
        ended = ended == null ? why : ended;
        for (Speculated one : all) {
          if (one.why == null) {
            left.add(one);
          }
        }
      }
      if (!left.isEmpty()) {
        redefine(left, why);
      }
    }
  }

  private void redefine(List<Speculated> these, String why) {
    long began = System.nanoTime();
    ClassDefinition[] definitions = new ClassDefinition[these.size()];
    for (int i = 0; i < definitions.length; i++) {
      Speculated one = these.get(i);
      definitions[i] = new ClassDefinition(one.holder, Holder.bytes(one.number, true));
    }
    try {
      instrumentation.redefineClasses(definitions);
    } catch (ClassNotFoundException | UnmodifiableClassException e) {
      // Nothing may go on that has seen another's object.
      throw new IllegalStateException(e);
    }
    for (Speculated one : these) {
      one.why = why;
    }
    nanoseconds += System.nanoTime() - began;
  }

  /** Of an object's class and those it extends, what is speculated on. */
  private List<Owner> ownersOf(Class<?> type) {
    List<Owner> found = new ArrayList<>();
    for (Class<?> at = type; at != null; at = at.getSuperclass()) {
      Speculated speculated = classes.get(internal(at));
      if (speculated != null) {
        Optional<MethodHandle> field = owner(at, speculated.ownerField());
        if (field.isPresent()) {
          found.add(new Owner(speculated, field.get()));
        }
      }
    }
    return List.copyOf(found);
  }

  /** Empty: this class of that name has no field to speculate on. */
  private Optional<MethodHandle> owner(Class<?> type, String field) {
    Module module = type.getModule();
    Module mine = Speculation.class.getModule();
    if (!module.isOpen(type.getPackageName(), mine)) {
      instrumentation.redefineModule(
          module,
          Set.of(),
          Map.of(),
          Map.of(type.getPackageName(), Set.of(mine)),
          Set.of(),
          Map.of());
    }
    try {
      MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
      MethodHandle getter = lookup.findGetter(type, field, long.class);
      return Optional.of(getter.asType(MethodType.methodType(long.class, Object.class)));
    } catch (NoSuchFieldException e) {
      return Optional.empty();
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("the owner of a " + type + " cannot be read", e);
    }
  }

  /** For the summary. */
  Map<String, Object> done() {
    Map<String, String> switched = new TreeMap<>();
    Map<String, Long> failed = new TreeMap<>();
    int count = 0;
    int made;
    synchronized (all) {
      made = all.size();
      for (Speculated one : all) {
        String name = one.name.replace('/', '.');
        if (one.why != null) {
          count++;
          if (switched.size() < MOST_NAMED) {
            switched.put(name, one.why);
          }
        } else if (one.failed > 0 && failed.size() < MOST_NAMED) {
          failed.put(name, one.failed);
        }
      }
    }
    Map<String, Object> done = new LinkedHashMap<>();
    done.put("classes", made);
    done.put("switched", count);
    done.put("switched_classes", switched);
    done.put("seconds", nanoseconds * SECONDS);
    done.put("ended", ended);
    done.put("failed_checks", checksOnly ? failed : null);
    return done;
  }
}
