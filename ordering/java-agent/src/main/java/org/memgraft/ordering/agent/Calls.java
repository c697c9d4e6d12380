package org.memgraft.ordering.agent;

import java.util.Set;
import java.util.regex.Pattern;
import org.objectweb.asm.Handle;

/**
 * Calls of methods that access shared memory, and not by an instruction of theirs that could get a
 * fence: natives, and methods that compilers replace by code of their own.
 */
final class Calls {
  /** What a call gets. Null: nothing. */
  record Fences(Site site, boolean before, Fence behind) {}

  private static final Fences LOAD = new Fences(Site.WEAK_ACCESS, false, Fence.ACQUIRE);
  private static final Fences STORE = new Fences(Site.WEAK_ACCESS, false, Fence.FULL);
  private static final Fences UPDATE = new Fences(Site.WEAK_ACCESS, true, Fence.FULL);
  private static final Fences HANDLE = new Fences(Site.HANDLE, false, Fence.FULL);
  private static final Fences COPY = new Fences(Site.COPY, false, Fence.FULL);
  private static final Fences FRESH_COPY = new Fences(Site.COPY, false, Fence.ACQUIRE);
  private static final Fences READER = new Fences(Site.INTRINSIC, false, Fence.ACQUIRE);
  private static final Fences WRITER = new Fences(Site.INTRINSIC, false, Fence.FULL);

  private static final String VAR_HANDLE = "java/lang/invoke/VarHandle";
  private static final String METHOD_HANDLE = "java/lang/invoke/MethodHandle";
  private static final Set<String> UNSAFE = Set.of("sun/misc/Unsafe", "jdk/internal/misc/Unsafe");

  /** The weaker forms of updates; those without such an end are sequentially consistent. */
  private static final Pattern WEAK_UPDATE =
      Pattern.compile(
          "(weakCompareAndSet|weakCompareAndSwap|compareAndExchange|getAndSet|getAndAdd"
              + "|getAndBitwise(Or|And|Xor)).*(Plain|Acquire|Release)");

  /** What stores with the order of a volatile. */
  private static final Pattern VOLATILE_STORE =
      Pattern.compile(
          "setVolatile|put.*Volatile|weakCompareAndSet|compareAnd|getAndSet|getAndAdd|getAndBitwise");

  /** `getInt`, `putReferenceRelease`, `getLongUnaligned`, `putOrderedInt`; not `getIntVolatile`. */
  private static final Pattern UNSAFE_ACCESS =
      Pattern.compile(
          "(get|put)(Ordered)?(Boolean|Byte|Short|Char|Int|Long|Float|Double|Object|Reference|Address)"
              + "(Unaligned)?(Opaque|Acquire|Release)?");

  private static final Set<String> UNSAFE_COPIES =
      Set.of("copyMemory", "copySwapMemory", "setMemory");

  /** Makers of what touches nothing that other threads write: functions, strings, switches. */
  private static final Set<String> HARMLESS_BOOTSTRAPS =
      Set.of(
          "java/lang/invoke/LambdaMetafactory",
          "java/lang/invoke/StringConcatFactory",
          "java/lang/invoke/ConstantBootstraps",
          "java/lang/runtime/ObjectMethods",
          "java/lang/runtime/SwitchBootstraps",
          "java/lang/runtime/TemplateRuntime");

  private Calls() {}

  /** What a call of this method gets, or null. */
  static Fences of(String owner, String name, String shape, Machine machine) {
    if (owner.equals(VAR_HANDLE) || UNSAFE.contains(owner)) {
      Fences weak = owner.equals(VAR_HANDLE) ? ofVarHandle(name) : ofUnsafe(name);
      boolean fenced = weak != null || machine.fencesVolatileStores();
      return !fenced && VOLATILE_STORE.matcher(name).lookingAt() ? STORE : weak;
    }
    if (owner.equals(METHOD_HANDLE)) {
      return name.startsWith("invoke") && !name.equals("invokeWithArguments") ? HANDLE : null;
    }
    if (owner.equals("java/lang/System") && name.equals("arraycopy")) {
      return COPY;
    }
    if (owner.equals("java/lang/reflect/Array")) {
      // Natives.
      return name.startsWith("get") ? LOAD : name.startsWith("set") ? STORE : null;
    }
    if (name.equals("clone") && (owner.startsWith("[") || owner.equals("java/lang/Object"))) {
      return FRESH_COPY;
    }
    Fence fence = Intrinsics.of(owner, name, shape);
    return fence == null ? null : fence == Fence.FULL ? WRITER : READER;
  }

  /** What an invokedynamic with this bootstrap method gets, or null. */
  static Fences of(Handle bootstrap) {
    return HARMLESS_BOOTSTRAPS.contains(bootstrap.getOwner()) ? null : HANDLE;
  }

  private static Fences ofVarHandle(String name) {
    return switch (name) {
      case "get", "getOpaque", "getAcquire" -> LOAD;
      case "set", "setOpaque", "setRelease" -> STORE;
      default -> WEAK_UPDATE.matcher(name).matches() ? UPDATE : null;
    };
  }

  private static Fences ofUnsafe(String name) {
    if (UNSAFE_COPIES.contains(name)) {
      return COPY;
    }
    if (WEAK_UPDATE.matcher(name).matches()) {
      return UPDATE;
    }
    if (UNSAFE_ACCESS.matcher(name).matches()) {
      return name.startsWith("get") ? LOAD : STORE;
    }
    return null;
  }
}
