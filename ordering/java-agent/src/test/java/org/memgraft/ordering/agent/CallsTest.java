package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;

class CallsTest {
  @ParameterizedTest
  @CsvSource({
    "java/lang/invoke/VarHandle, get, ACQUIRE, false",
    "java/lang/invoke/VarHandle, setOpaque, FULL, false",
    "java/lang/invoke/VarHandle, weakCompareAndSetPlain, FULL, true",
    "java/lang/invoke/VarHandle, getAndBitwiseXorRelease, FULL, true",
    "jdk/internal/misc/Unsafe, getReference, ACQUIRE, false",
    "jdk/internal/misc/Unsafe, getIntUnaligned, ACQUIRE, false",
    "jdk/internal/misc/Unsafe, putLongRelease, FULL, false",
    "jdk/internal/misc/Unsafe, weakCompareAndSetIntPlain, FULL, true",
    "sun/misc/Unsafe, putOrderedObject, FULL, false",
    "sun/misc/Unsafe, copyMemory, FULL, false",
    "java/lang/invoke/MethodHandle, invokeExact, FULL, false",
    "java/lang/System, arraycopy, FULL, false",
    "java/lang/reflect/Array, getInt, ACQUIRE, false",
    "java/lang/reflect/Array, set, FULL, false",
    "[I, clone, ACQUIRE, false",
    "java/util/Arrays, copyOfRange, ACQUIRE, false",
  })
  void aWeakOneGetsAFence(String owner, String name, Fence behind, boolean before) {
    Calls.Fences fences = Calls.of(owner, name, "()V", RewriterTest.X86);
    assertEquals(behind, fences.behind());
    assertEquals(before, fences.before());
  }

  @ParameterizedTest
  @CsvSource({
    "java/lang/invoke/VarHandle, getVolatile",
    "java/lang/invoke/VarHandle, compareAndSet",
    "java/lang/invoke/VarHandle, weakCompareAndSet",
    "java/lang/invoke/VarHandle, fullFence",
    "java/lang/invoke/VarHandle, coordinateTypes",
    "jdk/internal/misc/Unsafe, getAndAddInt",
    "jdk/internal/misc/Unsafe, putReferenceVolatile",
    "jdk/internal/misc/Unsafe, pageSize",
    "java/lang/invoke/MethodHandle, type",
    "java/util/HashMap, get",
  })
  void othersGetNone(String owner, String name) {
    assertNull(Calls.of(owner, name, "()V", RewriterTest.X86));
  }

  /** What the JDK offers beyond what is known here would be seen by this. */
  @Test
  void everyAccessOfAVarHandleIsKnown() {
    Set<String> free =
        Set.of("getVolatile", "setVolatile", "compareAndSet", "compareAndExchange", "getAndSet")
            .stream()
            .collect(java.util.stream.Collectors.toCollection(TreeSet::new));
    free.addAll(Set.of("weakCompareAndSet", "getAndAdd"));
    free.addAll(Set.of("getAndBitwiseOr", "getAndBitwiseAnd", "getAndBitwiseXor"));
    long known =
        Arrays.stream(java.lang.invoke.VarHandle.AccessMode.values())
            .filter(
                mode -> Calls.of(Fence.OWNER, mode.methodName(), "()V", RewriterTest.X86) != null)
            .count();
    assertEquals(java.lang.invoke.VarHandle.AccessMode.values().length - free.size(), known);
    free.forEach(name -> assertNull(Calls.of(Fence.OWNER, name, "()V", RewriterTest.X86), name));
  }

  /** By the shapes of the methods: an object, an offset, and in between no "Volatile". */
  @Test
  void everyWeakAccessOfUnsafeIsKnown() throws ClassNotFoundException {
    int seen = 0;
    for (Method method : Class.forName("sun.misc.Unsafe").getDeclaredMethods()) {
      Class<?>[] takes = method.getParameterTypes();
      boolean place = takes.length >= 2 && takes[0] == Object.class && takes[1] == long.class;
      boolean weak = !method.getName().matches(".*Volatile|(compareAndSwap|getAndAdd|getAndSet).*");
      if (place && weak) {
        assertTrue(
            Calls.of("sun/misc/Unsafe", method.getName(), "()V", RewriterTest.X86) != null,
            method.toString());
        seen++;
      }
    }
    assertTrue(seen > 15);
  }

  @ParameterizedTest
  @CsvSource({
    "java/lang/invoke/VarHandle, setVolatile",
    "java/lang/invoke/VarHandle, compareAndSet",
    "java/lang/invoke/VarHandle, getAndBitwiseOr",
    "jdk/internal/misc/Unsafe, putReferenceVolatile",
    "jdk/internal/misc/Unsafe, getAndAddInt",
    "sun/misc/Unsafe, compareAndSwapObject",
  })
  void onArmEveryStoreGetsAFence(String owner, String name) {
    assertNull(Calls.of(owner, name, "()V", RewriterTest.X86));
    Calls.Fences fences = Calls.of(owner, name, "()V", RewriterTest.ARM);
    assertEquals(Fence.FULL, fences.behind());
    assertNull(Calls.of(owner, "getVolatile", "()V", RewriterTest.ARM));
  }

  @Test
  void anInvokedynamicOfALanguageGetsAFence() {
    assertNull(Calls.of(bootstrap("java/lang/invoke/LambdaMetafactory")));
    assertEquals(Site.HANDLE, Calls.of(bootstrap("org/codehaus/groovy/Indy")).site());
  }

  private static Handle bootstrap(String owner) {
    return new Handle(Opcodes.H_INVOKESTATIC, owner, "bootstrap", "()V", false);
  }
}
