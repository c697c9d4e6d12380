package org.memgraft.ordering.agent;

import java.util.List;
import java.util.Set;
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
  private static final List<String> UPDATES =
      List.of(
          "weakCompareAndSet",
          "weakCompareAndSwap",
          "compareAndExchange",
          "getAndSet",
          "getAndAdd",
          "getAndBitwise");

  private static final List<String> WEAK_ENDS = List.of("Plain", "Acquire", "Release");

  /** What stores with the order of a volatile; `put...Volatile` does, too. */
  private static final List<String> VOLATILE_STORES =
      List.of(
          "setVolatile",
          "weakCompareAndSet",
          "compareAnd",
          "getAndSet",
          "getAndAdd",
          "getAndBitwise");

  private static final List<String> UNSAFE_ENDS = List.of("Opaque", "Acquire", "Release");

  private static final Set<String> UNSAFE_TYPES =
      Set.of(
          "Boolean",
          "Byte",
          "Short",
          "Char",
          "Int",
          "Long",
          "Float",
          "Double",
          "Object",
          "Reference",
          "Address");

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
      return !fenced && storesAsVolatile(name) ? STORE : weak;
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
      default -> isWeakUpdate(name) ? UPDATE : null;
    };
  }

  private static Fences ofUnsafe(String name) {
    if (UNSAFE_COPIES.contains(name)) {
      return COPY;
    }
    if (isWeakUpdate(name)) {
      return UPDATE;
    }
    if (isUnsafeAccess(name)) {
      return name.startsWith("get") ? LOAD : STORE;
    }
    return null;
  }

  private static boolean isWeakUpdate(String name) {
    return Names.begins(name, UPDATES) && !Names.withoutEnd(name, WEAK_ENDS).equals(name);
  }

  private static boolean storesAsVolatile(String name) {
    return Names.begins(name, VOLATILE_STORES)
        || name.startsWith("put") && name.contains("Volatile");
  }

  /** `getInt`, `putReferenceRelease`, `getLongUnaligned`, `putOrderedInt`; not `getIntVolatile`. */
  private static boolean isUnsafeAccess(String name) {
    if (!name.startsWith("get") && !name.startsWith("put")) {
      return false;
    }
    String plain = Names.withoutEnd(Names.withoutEnd(name, UNSAFE_ENDS), List.of("Unaligned"));
    String type = plain.substring("get".length());
    return UNSAFE_TYPES.contains(
        type.startsWith("Ordered") ? type.substring("Ordered".length()) : type);
  }
}
