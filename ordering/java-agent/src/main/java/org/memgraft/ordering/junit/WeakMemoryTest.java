package org.memgraft.ordering.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A JUnit test that runs in JVMs of its own, whose loads may get old values as far as the Java
 * memory model allows. It stands in place of {@code @Test}:
 *
 * <pre>
 * &#64;WeakMemoryTest(launches = 20)
 * void aLetterIsWholeWhenItIsThere() throws Exception { ... }
 * </pre>
 *
 * <p>What stands around each test ({@code @BeforeEach}, {@code @AfterEach}) runs in these JVMs
 * alone; {@code @BeforeAll} and {@code @AfterAll} run in the build's JVM, too.
 *
 * <p>So a test on an x86 machine finds a missing {@code volatile} that only an Arm server shows. A
 * test that passes shows nothing for certain. Where one fails, its message has the command that
 * finds the field.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@TestTemplate
@ExtendWith(WeakMemoryExtension.class)
public @interface WeakMemoryTest {
  /** In how many JVMs, one after the other, each with another seed. */
  int launches() default 10;

  /** The seed of the first one. The same seed throws the same dice. */
  long seed() default 1;

  /** How long each may take before it has failed. */
  int seconds() default 60;

  /** Further options for these JVMs, such as {@code -Xint}. */
  String[] jvm() default {};
}
