package org.memgraft.ordering.agent;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.VarHandle;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarFile;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;

/** The agent, where {@link Premain} has found a JVM that is new enough. */
public final class Agent {
  private static final int WRONG_USAGE = 2;
  private static final int CANNOT = 3;

  private static final int FIRST_WITH_VIRTUAL_THREADS = 21;

  /**
   * What JDK 21 loads when a virtual thread first waits: for a time, when it is about to leave its
   * carrier, or because another thread is in the agent, when it transforms a class itself.
   */
  private static final List<String> FOR_WAITING_VIRTUAL_THREADS =
      List.of(
          "java.lang.invoke.VarHandleInts$FieldInstanceReadOnly",
          "java.lang.invoke.VarHandleInts$FieldInstanceReadWrite",
          "java.util.concurrent.Executors$RunnableAdapter",
          "java.util.concurrent.FutureTask",
          "java.util.concurrent.FutureTask$WaitNode",
          "java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask",
          "java.util.concurrent.ThreadPoolExecutor$Worker",
          "jdk.internal.event.VirtualThreadPinnedEvent");

  /**
   * What maps of the JDK load when many of their keys have one hash, when they grow, or when two
   * threads put something into one at the same time.
   */
  private static final List<String> FOR_MAPS =
      List.of(
          "java.util.HashMap$TreeNode",
          "java.util.concurrent.ConcurrentHashMap$CounterCell",
          "java.util.concurrent.ConcurrentHashMap$ForwardingNode",
          "java.util.concurrent.ConcurrentHashMap$TreeBin",
          "java.util.concurrent.ConcurrentHashMap$TreeNode",
          "java.util.concurrent.ThreadLocalRandom",
          "jdk.internal.util.random.RandomSupport");

  private static boolean joined;

  private final Hierarchy hierarchy = new Hierarchy();
  private final Touches touches = new Touches();
  private final boolean observe;
  private final Subset subset;
  private final WeakMemory weak;
  private final Speculation speculation;
  private final boolean ofTheJdk;
  private final Transformer transformer;
  private final Coverage coverage;
  private final Summary summary;
  private long earlyHidden;

  private Agent(AgentOptions options, Instrumentation instrumentation) {
    observe = options.observe();
    subset = options.only() == null ? Subset.ALL : Subset.read(options.only(), hierarchy);
    weak = options.weak() == null ? null : new WeakMemory(options.weak());
    speculation = speculation(options);
    ofTheJdk = weak == null && !observe && subset.reachesTheJdk();
    transformer = new Transformer(checks(options), ofTheJdk, treatment(options));
    coverage = new Coverage(instrumentation, ofTheJdk);
    summary = options.summary() == null ? null : new Summary(options.summary());
  }

  private Speculation speculation(AgentOptions options) {
    return switch (options.speculate()) {
      case NO -> null;
      case SWITCHING -> new Speculation(false, hierarchy);
      case NEVER_SWITCHING -> new Speculation(true, hierarchy);
    };
  }

  private Transformer.Checks checks(AgentOptions options) {
    if (!options.check()) {
      return null;
    }
    Machine machine = Machine.here();
    KnownClasses known = new KnownClasses(EscapeSearch::keeps, false);
    return rewritten -> {
      KnownClasses.Read read = known.read(rewritten);
      read.publish();
      return speculation == null
          ? Checker.unfenced(rewritten.bytes(), machine, read)
          : SpeculationChecker.unordered(rewritten.bytes(), machine, read);
    };
  }

  private Treatment treatment(AgentOptions options) {
    if (speculation != null) {
      return Treatment.speculating(speculation, hierarchy);
    }
    if (weak != null) {
      return Treatment.weakening(subset, hierarchy, weak);
    }
    return observe
        ? Treatment.watching(hierarchy, touches)
        : Treatment.fences(subset, options.delay(), hierarchy);
  }

  /**
   * Called by the JVM before the program's main. Whatever goes wrong ends the JVM. A program may
   * hand its own options on to JVMs that it starts, which then have this agent twice: the first one
   * counts.
   */
  public static void premain(String text, Instrumentation instrumentation) {
    if (joined) {
      return;
    }
    joined = true;
    AgentOptions options = null;
    Agent agent;
    try {
      options = AgentOptions.parse(text);
      agent = new Agent(options, instrumentation);
    } catch (IllegalArgumentException e) {
      Path folder = options == null ? null : options.summary();
      Summary summary = folder == null ? null : new Summary(folder);
      end(summary, "the ordering agent's " + e.getMessage(), WRONG_USAGE);
      return;
    }
    try {
      agent.start(instrumentation);
    } catch (IllegalStateException e) {
      end(agent.summary, "this JVM's classes cannot be rewritten: " + e.getMessage(), CANNOT);
    } catch (Throwable e) {
      end(agent.summary, "this JVM's classes cannot be rewritten: " + e, CANNOT);
    }
  }

  private void start(Instrumentation instrumentation) throws Exception {
    if (!instrumentation.isRetransformClassesSupported()) {
      throw new IllegalStateException("it does not let agents retransform classes");
    }
    Machine machine = Machine.here();
    if (!machine.isKnown()) {
      String known = String.join(", ", Machine.KNOWN);
      throw new IllegalStateException(
          "its fences are enough on " + known + ", and this is " + machine.name());
    }
    if (speculation != null && !Machine.isHotSpot()) {
      throw new IllegalStateException(
          "speculation stops threads as HotSpot does, and this is "
              + System.getProperty("java.vm.name"));
    }
    prepare();
    earlyHidden = coverage.hidden();
    Bridge.open(transformer::hidden, touches, weak, speculation, instrumentation);
    if (speculation != null) {
      coverage.ofPrograms().forEach(speculation::leaveAlone);
    }
    instrumentation.addTransformer(transformer, true);
    coverage.rewriteLoaded();
    if (ofTheJdk && !HiddenClasses.joined()) {
      throw new IllegalStateException(
          "looked for the method of java.lang.System's own classes that defines hidden ones, and found none");
    }
    if (speculation != null && !Doors.missing().isEmpty()) {
      throw new IllegalStateException(
          "looked for where the JDK tells offsets of fields and loads native code, and did not find "
              + Doors.missing());
    }
    write("running");
    Runtime.getRuntime().addShutdownHook(new Thread(this::finish, "memgraft summary"));
  }

  /**
   * Loads and initializes what a transformation needs, and tries the rewriter on a class of its
   * own. A transformation that had to wait for a class which itself waits to be transformed would
   * never end, and fences are called before their class says that it is ready. What is not needed
   * is left alone: what it loads of the JDK would have to be rewritten.
   */
  private void prepare() throws IOException {
    VarHandle.fullFence();
    VarHandle.acquireFence();
    VarHandle.releaseFence();
    loadBoxes();
    load(FOR_MAPS);
    if (Runtime.version().feature() >= FIRST_WITH_VIRTUAL_THREADS) {
      load(FOR_WAITING_VIRTUAL_THREADS);
    }
    byte[] own = bytesOf(Rewriter.class);
    Rewriter.Work everything = Rewriter.Work.everything(Machine.here());
    byte[] rewritten = Rewriter.rewrite(own, everything, new Sites());
    if (!Checker.unfenced(rewritten, Machine.here()).isEmpty()) {
      throw new IllegalStateException("the rewriter left an access without a fence");
    }
    Hierarchy others = new Hierarchy();
    if (observe || weak != null || speculation != null || !subset.isAll()) {
      others.prepare();
    }
    if (observe) {
      Touches nobodys = new Touches();
      Watcher.rewrite(own, null, others, nobodys, Machine.here());
      nobodys.accept(nobodys.number("", false));
    }
    if (weak != null) {
      Treatment.weakening(Subset.ALL, others, weak)
          .of(Offer.loaded(null, own), KnownClasses.Facts.NONE, new Sites());
    }
    if (speculation != null) {
      prepareSpeculation(everything, others);
    }
    Offer offer = Offer.loaded(Agent.class.getClassLoader(), bytesOf(Agent.class));
    new KnownClasses(PrivateStores::keeps, true).read(offer).publish();
    if (transformer.checks()) {
      new KnownClasses(EscapeSearch::keeps, false).read(offer).publish();
    }
  }

  /**
   * Loads the caches of the boxes. ASM boxes a constant and what an annotation says, such as a
   * char. No agent is offered a class that is loaded while the same thread transforms another one.
   */
  private static void loadBoxes() {
    Byte.valueOf((byte) 0);
    Short.valueOf((short) 0);
    Character.valueOf((char) 0);
    Integer.valueOf(0);
    Long.valueOf(0);
  }

  /**
   * Loads classes of the JDK which a thread may else load while it transforms another one, or
   * leaves its carrier: no agent is offered those. None is initialized: what a program sets for it
   * before it is needed, such as for the scheduler of virtual threads, has to count.
   */
  private static void load(List<String> names) {
    for (String name : names) {
      try {
        Class.forName(name, false, null);
      } catch (ClassNotFoundException e) {
        // Then this JDK does not need it.
        continue;
      }
    }
  }

  /** The JDK's own classes are not speculated on, and so do not try this out. */
  private static void prepareSpeculation(Rewriter.Work everything, Hierarchy others)
      throws IOException {
    ClassLoader loader = Agent.class.getClassLoader();
    for (Class<?> some : List.of(Agent.class, EscapeSearch.class, PrivateStores.class)) {
      byte[] own = bytesOf(some);
      Speculation nobodys = new Speculation(false, others);
      byte[] speculated =
          Speculator.rewrite(Offer.loaded(loader, own), everything, nobodys, others, new Sites());
      if (!SpeculationChecker.unordered(speculated, Machine.here(), KnownClasses.Facts.NONE)
          .isEmpty()) {
        throw new IllegalStateException("the rewriter left an access without a check");
      }
      // As for a class that is serializable and does not say which version it is.
      new ClassReader(own).accept(new SerialVersion(new ClassWriter(0)), 0);
    }
  }

  /** From the agent's own file: to look for it by its loader would load more of the JDK. */
  private static byte[] bytesOf(Class<?> own) throws IOException {
    String name = own.getName().replace('.', '/') + ".class";
    URL place = own.getProtectionDomain().getCodeSource().getLocation();
    try (JarFile jar = new JarFile(new File(place.toURI()));
        InputStream bytes = jar.getInputStream(jar.getEntry(name))) {
      return bytes.readAllBytes();
    } catch (URISyntaxException e) {
      throw new IllegalStateException("its own file cannot be found at " + place);
    }
  }

  private void finish() {
    coverage.missed(transformer).forEach(name -> transformer.failed().add(name, "not offered"));
    List<String> wrong = wrong();
    wrong.forEach(line -> System.err.println("memgraft: " + line));
    write("ended");
  }

  /** A full disk does not stop the program. */
  private void write(String state) {
    try {
      if (summary != null) {
        summary.write(state, done());
      }
    } catch (IOException e) {
      System.err.println("memgraft: the summary cannot be written: " + e);
    }
  }

  private List<String> wrong() {
    List<String> lines = new ArrayList<>();
    transformer
        .failed()
        .some()
        .forEach((name, why) -> lines.add(name + " could not be rewritten: " + why));
    transformer.unfenced().some().forEach((name, why) -> lines.add(name + " has " + why));
    return lines;
  }

  private Map<String, Object> done() {
    Map<String, Object> sites = new LinkedHashMap<>();
    for (Site site : Site.values()) {
      sites.put(site.key, transformer.sites().of(site));
    }
    Map<String, Object> bytecode = new LinkedHashMap<>();
    bytecode.put("classes", transformer.classes());
    bytecode.put("fences", sites);
    bytecode.put("hidden_classes", transformer.hidden());
    bytecode.put("early_hidden_classes", earlyHidden);
    bytecode.put("checked_classes", transformer.checked());
    bytecode.put("unfenced", transformer.unfenced().count());
    bytecode.put("unfenced_methods", List.copyOf(transformer.unfenced().some().keySet()));
    bytecode.put("failed", transformer.failed().count());
    bytecode.put("failed_classes", transformer.failed().some());
    if (!subset.isAll()) {
      bytecode.put("only", Map.of("unmatched", subset.unmatched()));
    }
    if (weak != null) {
      Map<String, Object> loads = new LinkedHashMap<>();
      loads.put("loads", weak.loads());
      loads.put("stale_loads", weak.stale());
      bytecode.put("weak", loads);
    }
    if (speculation != null) {
      bytecode.put("speculation", speculation.done());
    }
    if (observe) {
      Map<String, Object> observed = new LinkedHashMap<>();
      observed.put("accesses", touches.done());
      observed.put("jdk_classes", coverage.ofTheJdk());
      bytecode.put("observed", observed);
    }
    return bytecode;
  }

  private static void end(Summary summary, String message, int exitCode) {
    System.err.println("memgraft: " + message);
    try {
      if (summary != null) {
        summary.refuse(message, exitCode);
      }
    } catch (IOException e) {
      System.err.println("memgraft: the summary cannot be written: " + e);
    }
    Runtime.getRuntime().halt(exitCode);
  }
}
