package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import org.junit.jupiter.api.Test;

class CoverageTest {
  private final List<Class<?>> loaded =
      new ArrayList<>(List.of(HashMap.class, int[].class, Rewriter.class));
  private final List<Class<?>> retransformed = new ArrayList<>();

  /** A JVM that loads one class more while it retransforms the others. */
  private final Instrumentation instrumentation =
      (Instrumentation)
          Proxy.newProxyInstance(
              getClass().getClassLoader(),
              new Class<?>[] {Instrumentation.class},
              (self, method, arguments) ->
                  switch (method.getName()) {
                    case "getAllLoadedClasses" -> loaded.toArray(Class<?>[]::new);
                    case "isModifiableClass" -> !((Class<?>) arguments[0]).isArray();
                    case "retransformClasses" -> retransform((Class<?>[]) arguments[0]);
                    default -> throw new AssertionError(method);
                  });

  private final Coverage coverage = new Coverage(instrumentation, true);

  private Object retransform(Class<?>[] classes) {
    retransformed.addAll(List.of(classes));
    if (!loaded.contains(Thread.class)) {
      loaded.add(Thread.class);
    }
    return null;
  }

  @Test
  void rewritesWhatIsThereAndWhatComesMeanwhile() throws UnmodifiableClassException {
    coverage.rewriteLoaded();
    assertEquals(List.of(HashMap.class, Thread.class), retransformed);
  }

  @Test
  void namesWhatWasNeverOffered() {
    Transformer transformer = TransformerTest.everything(false);
    assertEquals(List.of("java.util.HashMap"), coverage.missed(transformer));
    byte[] bytes = RewriterTest.bytesOf(HashMap.class);
    transformer.transform(null, "java/util/HashMap", null, null, bytes);
    assertEquals(List.of(), coverage.missed(transformer));
  }

  @Test
  void leavesTheJdkAloneWhereItIsNotMeant() throws UnmodifiableClassException {
    loaded.add(org.junit.jupiter.api.Assertions.class);
    Coverage ofTheProgram = new Coverage(instrumentation, false);
    ofTheProgram.rewriteLoaded();
    assertEquals(List.of(org.junit.jupiter.api.Assertions.class), retransformed);
    assertEquals(List.of("java.lang.Thread", "java.util.HashMap"), ofTheProgram.ofTheJdk());
  }
}
