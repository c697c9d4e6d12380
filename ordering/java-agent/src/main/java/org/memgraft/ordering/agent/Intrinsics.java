package org.memgraft.ordering.agent;

import java.util.List;
import java.util.Set;

/**
 * Methods of the JDK that HotSpot's compilers replace by code of their own, without the fences in
 * their bytecode. Those that touch memory which other threads may write get a fence behind each
 * call.
 */
final class Intrinsics {
  /** Packages whose ciphers and digests read and write their callers' arrays. */
  private static final List<String> CRYPTOGRAPHY =
      List.of(
          "com/sun/crypto/provider/", "sun/security/provider/", "sun/security/util/math/intpoly/");

  /** Classes that write to arrays which may be others'. */
  private static final Set<String> WRITERS =
      Set.of(
          "java/math/BigInteger",
          "java/util/Base64$Decoder",
          "java/util/Base64$Encoder",
          "jdk/internal/vm/vector/VectorSupport",
          "sun/nio/cs/ISO_8859_1$Encoder");

  /** Classes that only read arrays. */
  private static final Set<String> READERS =
      Set.of(
          "java/util/zip/Adler32",
          "java/util/zip/CRC32",
          "java/util/zip/CRC32C",
          "jdk/internal/util/ArraysSupport");

  private static final Set<String> STRINGS =
      Set.of("java/lang/StringCoding", "java/lang/StringLatin1", "java/lang/StringUTF16");

  /** Of strings: what writes to an array that the caller brings; and what encodes. */
  private static final Set<String> STRING_WRITERS =
      Set.of("compress", "getChars", "inflate", "toBytes");

  private Intrinsics() {}

  /** What a call needs behind it, or null. */
  static Fence of(String owner, String name, String shape) {
    if (name.equals("get") && shape.equals("()Ljava/lang/Object;")) {
      // Reference.get, whose callers name their own subclass of Reference.
      return Fence.ACQUIRE;
    }
    if (owner.startsWith("java/lang/ref/")) {
      return switch (name) {
        case "refersTo0" -> Fence.ACQUIRE;
        case "clear0" -> Fence.FULL;
        default -> null;
      };
    }
    if (owner.equals("java/util/Arrays")) {
      return name.equals("equals") || name.startsWith("copyOf") ? Fence.ACQUIRE : null;
    }
    if (STRINGS.contains(owner)) {
      return STRING_WRITERS.contains(name) || name.contains("ncode") ? Fence.FULL : Fence.ACQUIRE;
    }
    if (READERS.contains(owner)) {
      return Fence.ACQUIRE;
    }
    boolean writes = WRITERS.contains(owner) || Names.begins(owner, CRYPTOGRAPHY);
    // Most methods of these classes take no array, and are compiled as they are.
    return writes && (shape.indexOf('[') > 0 || owner.endsWith("VectorSupport"))
        ? Fence.FULL
        : null;
  }
}
