package org.memgraft.ordering.junit;

import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Runs a {@link WeakMemoryTest}: in the JVM of the build, each of its invocations starts another
 * JVM, and in that one the method itself runs.
 */
final class WeakMemoryExtension implements TestTemplateInvocationContextProvider {
  @Override
  public boolean supportsTestTemplate(ExtensionContext context) {
    return AnnotationSupport.isAnnotated(context.getElement(), WeakMemoryTest.class);
  }

  @Override
  public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(
      ExtensionContext context) {
    if (ForkedMain.runsHere()) {
      return Stream.of(new Here());
    }
    WeakMemoryTest asked =
        AnnotationSupport.findAnnotation(context.getElement(), WeakMemoryTest.class).orElseThrow();
    if (asked.launches() < 1 || asked.seconds() < 1) {
      throw new IllegalArgumentException(
          "@WeakMemoryTest(launches = %d, seconds = %d): expected 1 or more of each"
              .formatted(asked.launches(), asked.seconds()));
    }
    return LongStream.range(0, asked.launches())
        .mapToObj(
            number ->
                new Elsewhere(new ForkedTest(context.getUniqueId(), asked, asked.seed() + number)));
  }

  /** The method, in this JVM. */
  private record Here() implements TestTemplateInvocationContext {}

  /** The method, in another JVM. */
  private record Elsewhere(ForkedTest test) implements TestTemplateInvocationContext {
    @Override
    public String getDisplayName(int invocation) {
      return "weak memory, seed " + test.seed();
    }

    @Override
    public List<Extension> getAdditionalExtensions() {
      return List.of(new Interceptor(test));
    }
  }

  /** Skips the method and what stands around it, which the other JVM runs. */
  private record Interceptor(ForkedTest test) implements InvocationInterceptor {
    @Override
    public void interceptBeforeEachMethod(
        Invocation<Void> invocation,
        ReflectiveInvocationContext<Method> method,
        ExtensionContext context) {
      invocation.skip();
    }

    @Override
    public void interceptAfterEachMethod(
        Invocation<Void> invocation,
        ReflectiveInvocationContext<Method> method,
        ExtensionContext context) {
      invocation.skip();
    }

    @Override
    public void interceptTestTemplateMethod(
        Invocation<Void> invocation,
        ReflectiveInvocationContext<Method> method,
        ExtensionContext context)
        throws Throwable {
      invocation.skip();
      test.run();
    }
  }
}
