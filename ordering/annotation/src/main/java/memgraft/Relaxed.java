package memgraft;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Keeps the plain Java memory model under {@code memgraft run --ordering sc}, which makes every
 * other access to a field or an array element sequentially consistent. Without Memgraft it means
 * nothing.
 *
 * <p>For code that is known to be right under the Java memory model (it locks, it uses {@code
 * volatile} or {@code VarHandle} where threads meet, or no two threads meet in it) and whose speed
 * matters.
 *
 * <p>On a method or a constructor it covers the bytecode of that one: not methods that it calls,
 * and not its lambdas, of which the compiler makes methods of their own. On a class it covers all
 * methods, constructors, initialisers and lambdas that stand in it: not nested, local and anonymous
 * classes, unless they are annotated themselves, and not subclasses or inherited methods.
 */
@Documented
// HotSpot keeps only annotations that a running program can ask for.
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD, ElementType.CONSTRUCTOR})
public @interface Relaxed {}
