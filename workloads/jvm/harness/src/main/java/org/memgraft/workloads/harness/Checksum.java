package org.memgraft.workloads.harness;

import java.util.Locale;

/** 64-bit checksums that are the same on every JVM; for comparing results, not for security. */
public final class Checksum {
  // FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/
  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private Checksum() {}

  /** A checksum of the values in this order. */
  public static long of(long... values) {
    long hash = FNV_OFFSET;
    for (long value : values) {
      hash = mix(hash ^ value);
    }
    return hash;
  }

  /** A checksum of the UTF-16 units. */
  public static long of(CharSequence text) {
    long hash = FNV_OFFSET;
    for (int i = 0; i < text.length(); i++) {
      hash = (hash ^ text.charAt(i)) * FNV_PRIME;
    }
    return mix(hash);
  }

  /** A checksum of the first {@code length} bytes. */
  public static long of(byte[] bytes, int length) {
    long hash = FNV_OFFSET;
    for (int i = 0; i < length; i++) {
      hash = (hash ^ (bytes[i] & 0xff)) * FNV_PRIME;
    }
    return mix(hash);
  }

  /** The checksum as it is printed: 16 hexadecimal digits. */
  public static String text(long checksum) {
    return String.format(Locale.ROOT, "%016x", checksum);
  }

  /**
   * Spreads every bit over all others, so that sums of checksums do not cancel out. The constants
   * are variant 13 of David Stafford, "Better Bit Mixing".
   */
  private static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
