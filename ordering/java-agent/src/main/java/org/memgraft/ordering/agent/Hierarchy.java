package org.memgraft.ordering.agent;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Which class declares a field or a method. Bytecode names it by any class that has it, be it
 * inherited. What a class of a name declares is looked up by the loader of the class with the
 * access; where that finds no file, the last class of that name counts which was loaded.
 */
final class Hierarchy {
  /**
   * A field where it is declared.
   *
   * @param owner the internal name of its class
   * @param access its modifiers; 0 where they are not known
   * @param known whether the class that declares it could be read
   */
  record Field(String owner, int access, boolean known) {}

  private record Known(
      String parent, List<String> interfaces, Map<String, Integer> fields, Set<String> methods) {
    static final Known NOTHING = new Known(null, List.of(), Map.of(), Set.of());
  }

  private static final int DECLARATIONS_ONLY =
      ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES;

  /** Nobody waits longer for a loader: it may wait for the thread that asks. */
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  /**
   * On threads of their own, loaders are asked for files. What they load meanwhile would not be
   * offered to this agent if they were asked by the thread that is transforming a class.
   */
  private static final class Asking implements ThreadFactory {
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(new Asking());

    /**
     * The one thread of this executor, which is there before the program is, makes the others. So
     * they take nothing over from the program's threads. A thread that makes another one may load
     * classes (within Subject.doAs), and run code of the program's (if its class is the program's).
     */
    private static final ExecutorService MAKER = Executors.newFixedThreadPool(1, new Asking());

    private final ThreadGroup group = Thread.currentThread().getThreadGroup();

    @Override
    public Thread newThread(Runnable work) {
      Thread thread = new Thread(group, work, "memgraft class files", 0, false);
      thread.setDaemon(true);
      return thread;
    }

    static <T> Future<T> submit(Callable<T> question) {
      FutureTask<T> answer = new FutureTask<>(question);
      MAKER.execute(new Passed(answer));
      return answer;
    }
  }

  /** A question on its way to a thread of its own. */
  private record Passed(Runnable question) implements Runnable {
    @Override
    public void run() {
      Asking.THREADS.execute(question);
    }
  }

  /** Whether a loader finds the file of a class. */
  private record Finds(ClassLoader loader, String name) implements Callable<Boolean> {
    @Override
    public Boolean call() {
      return loader.getResource(name + ".class") != null;
    }
  }

  /** What is in the file of a class. */
  private record Reads(ClassLoader loader, String name) implements Callable<Known> {
    @Override
    public Known call() {
      return fromFile(loader, name);
    }
  }

  /** Those that did not answer. */
  private final Set<ClassLoader> silent =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  private final Map<ClassLoader, Map<String, Known>> classes =
      Collections.synchronizedMap(new WeakHashMap<>());

  /** By name alone. */
  private final Map<String, Known> loaded = new ConcurrentHashMap<>();

  private final Map<String, Boolean> ofThePlatform = new ConcurrentHashMap<>();

  /**
   * Has the JVM load what looking up takes: of what is loaded while a class is transformed, no
   * agent hears.
   */
  void prepare() throws IOException {
    ClassLoader mine = Hierarchy.class.getClassLoader();
    String own = Hierarchy.class.getName().replace('.', '/');
    isOfThePlatform(own);
    isOfThePlatform("org/w3c/dom/Node");
    declaring(mine, own, "", "I");
    maybeSerializable(mine, "java/util/ArrayList");
    // As where classes are in folders.
    Path file = Path.of(System.getProperty("java.home"), "release");
    try (InputStream opened = file.toUri().toURL().openStream()) {
      opened.read();
    }
  }

  /** Keeps what a class declares. */
  void add(ClassLoader loader, ClassReader reader) {
    Known known = read(reader);
    of(loader).put(reader.getClassName(), known);
    loaded.put(reader.getClassName(), known);
  }

  private Map<String, Known> of(ClassLoader loader) {
    synchronized (classes) {
      classes.putIfAbsent(loader, new ConcurrentHashMap<>());
      return classes.get(loader);
    }
  }

  /** Whether the JVM brings a class of this name, be it that a program has one, too. */
  boolean isOfThePlatform(String name) {
    if (Names.isOfAJdk(name)) {
      return true;
    }
    Boolean known = ofThePlatform.get(name);
    if (known == null) {
      // It answers: its code is the JDK's alone.
      known = ask(null, new Finds(ClassLoader.getPlatformClassLoader(), name)).orElse(true);
      ofThePlatform.put(name, known);
    }
    return known;
  }

  /** What a loader says; empty where it does not answer, or fails. */
  private <T> Optional<T> ask(ClassLoader loader, Callable<T> question) {
    if (silent.contains(loader)) {
      return Optional.empty();
    }
    Future<T> answer = Asking.submit(question);
    long end = System.nanoTime() + PATIENCE.toNanos();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return Optional.of(answer.get(end - System.nanoTime(), TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } catch (TimeoutException e) {
      silent.add(loader);
      return Optional.empty();
    } catch (ExecutionException e) {
      return Optional.empty();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Whether a class may be serializable: where one that it extends is not known, it may. */
  boolean maybeSerializable(ClassLoader loader, String name) {
    if (name.equals("java/io/Serializable")) {
      return true;
    }
    if (name.equals("java/lang/Object")) {
      return false;
    }
    Known known = find(loader, name);
    boolean maybe =
        known == Known.NOTHING
            || known.parent() != null && maybeSerializable(loader, known.parent());
    for (String one : known.interfaces()) {
      maybe = maybe || maybeSerializable(loader, one);
    }
    return maybe;
  }

  private static Known read(ClassReader reader) {
    Map<String, Integer> fields = new HashMap<>();
    Set<String> methods = new HashSet<>();
    reader.accept(
        new ClassVisitor(Rewriter.API) {
          @Override
          public FieldVisitor visitField(
              int access, String name, String shape, String signature, Object value) {
            fields.put(name + ' ' + shape, access);
            return null;
          }

          @Override
          public MethodVisitor visitMethod(
              int access, String name, String shape, String signature, String[] exceptions) {
            if ((access & Opcodes.ACC_NATIVE) == 0) {
              methods.add(name + shape);
            }
            return null;
          }
        },
        DECLARATIONS_ONLY);
    return new Known(reader.getSuperName(), List.of(reader.getInterfaces()), fields, methods);
  }

  /**
   * The field that an access means; where its class cannot be found, of the class that it names.
   *
   * @param loader that has the class with the access; null: the JVM's own
   */
  Field declaring(ClassLoader loader, String owner, String name, String shape) {
    String field = name + ' ' + shape;
    for (String at = owner; at != null; ) {
      Known known = find(loader, at);
      Integer access = known.fields().get(field);
      if (access != null) {
        return new Field(at, access, true);
      }
      at = known.parent();
    }
    return new Field(owner, 0, false);
  }

  /**
   * Whether a class, or a superclass of it, declares a method that is in bytecode, up to the first
   * class of the JDK's.
   */
  boolean declares(ClassLoader loader, String owner, String name, String shape) {
    for (String at = owner; at != null && !WeakCode.isOfTheJdk(at); ) {
      Known known = find(loader, at);
      if (known.methods().contains(name + shape)) {
        return true;
      }
      at = known.parent();
    }
    return false;
  }

  private Known find(ClassLoader loader, String name) {
    Map<String, Known> its = of(loader);
    Known known = its.get(name);
    if (known == null) {
      // A superclass is loaded only after the class that is being defined now.
      known = ask(loader, new Reads(loader, name)).orElse(Known.NOTHING);
      Known before = its.putIfAbsent(name, known);
      known = before == null ? known : before;
    }
    return known == Known.NOTHING ? loaded.getOrDefault(name, known) : known;
  }

  private static Known fromFile(ClassLoader loader, String name) {
    String file = name + ".class";
    try (InputStream bytes =
        loader == null
            ? ClassLoader.getSystemResourceAsStream(file)
            : loader.getResourceAsStream(file)) {
      return bytes == null ? Known.NOTHING : read(new ClassReader(bytes));
    } catch (IOException | RuntimeException e) {
      // A class that was made at run time has no file; a newer one cannot be read.
      return Known.NOTHING;
    }
  }
}
