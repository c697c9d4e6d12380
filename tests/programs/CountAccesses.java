import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/**
 * One access to shared memory in each method, so that what a compiler fences it with can be
 * counted. Checks that what was stored is what is loaded.
 */
public final class CountAccesses {
  private static final VarHandle ANYWHERE =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final VarHandle ORDERED;

  static {
    try {
      ORDERED = MethodHandles.lookup().findVarHandle(CountAccesses.class, "ordered", int.class);
    } catch (ReflectiveOperationException impossible) {
      throw new AssertionError(impossible);
    }
  }

  int field;
  long wide;
  Object reference;
  final int unchanging;
  volatile int ordered;
  static int shared;

  CountAccesses(int unchanging) {
    this.unchanging = unchanging;
  }

  static int loadField(CountAccesses of) {
    return of.field;
  }

  static long loadWide(CountAccesses of) {
    return of.wide;
  }

  static Object loadReference(CountAccesses of) {
    return of.reference;
  }

  static Object loadReferent(WeakReference<Object> of) {
    return of.get();
  }

  static int loadVolatile(CountAccesses of) {
    return of.ordered;
  }

  static int loadFinal(CountAccesses of) {
    return of.unchanging;
  }

  static int loadStatic() {
    return shared;
  }

  static byte loadElement(byte[] of, int index) {
    return of[index];
  }

  static void storeField(CountAccesses of, int value) {
    of.field = value;
  }

  static void storeWide(CountAccesses of, long value) {
    of.wide = value;
  }

  static void storeReference(CountAccesses of, Object value) {
    of.reference = value;
  }

  static void storeVolatile(CountAccesses of, int value) {
    of.ordered = value;
  }

  static void storeStatic(int value) {
    shared = value;
  }

  static void storeElement(byte[] of, int index, byte value) {
    of[index] = value;
  }

  static long loadUnaligned(byte[] of) {
    return (long) ANYWHERE.get(of, 1);
  }

  static void storeUnaligned(byte[] of, long value) {
    ANYWHERE.set(of, 1, value);
  }

  static boolean exchange(CountAccesses of, int expected, int value) {
    return ORDERED.weakCompareAndSetPlain(of, expected, value)
        || ORDERED.compareAndSet(of, expected, value);
  }

  static void storeTwice(CountAccesses of, int value) {
    of.field = value;
    of.wide = value;
  }

  static long loadTwice(CountAccesses of) {
    return of.field + of.wide;
  }

  static long storeThenLoad(CountAccesses of, int value) {
    of.field = value;
    return of.wide;
  }

  static CountAccesses storePrivate(int value) {
    CountAccesses fresh = new CountAccesses(value);
    fresh.field = value;
    fresh.wide = value;
    return fresh;
  }

  static void copy(byte[] from, byte[] to) {
    System.arraycopy(from, 0, to, 0, from.length);
  }

  static long sum(Checksum checksum, byte[] of) {
    checksum.reset();
    checksum.update(of, 0, of.length);
    return checksum.getValue();
  }

  private static void check(boolean right) {
    if (!right) {
      throw new AssertionError("a load is not of what was stored");
    }
  }

  public static void main(String[] arguments) {
    int rounds = Integer.parseInt(arguments[0]);
    CountAccesses object = new CountAccesses(7);
    byte[] bytes = new byte[64];
    byte[] copies = new byte[64];
    byte[] unaligned = new byte[16];
    byte[] digits = "123456789".getBytes(StandardCharsets.US_ASCII);
    Checksum crc = new CRC32();
    Checksum castagnoli = new CRC32C();
    WeakReference<Object> weak = new WeakReference<>(object);
    for (int i = 0; i < rounds; i++) {
      storeField(object, i);
      check(loadField(object) == i);
      storeWide(object, -i);
      check(loadWide(object) == -i && loadTwice(object) == 0);
      storeReference(object, bytes);
      check(loadReference(object) == bytes && loadReferent(weak) == object);
      storeVolatile(object, i);
      check(loadVolatile(object) == i);
      storeStatic(i);
      check(loadStatic() == i);
      storeElement(bytes, i % 64, (byte) i);
      check(loadElement(bytes, i % 64) == (byte) i);
      storeUnaligned(unaligned, -i);
      check(
          loadUnaligned(unaligned) == -i && exchange(object, i, i + 1) && object.ordered == i + 1);
      storeTwice(object, i);
      check(storeThenLoad(object, i + 1) == i);
      check(storePrivate(i).wide == i && loadFinal(object) == 7);
      copy(bytes, copies);
      check(copies[i % 64] == (byte) i);
      // The check values of the two in the catalogue of parametrised CRC algorithms (G. Cook).
      check(sum(crc, digits) == 0xcbf43926L && sum(castagnoli, digits) == 0xe3069283L);
    }
    System.out.println("checked " + rounds + " rounds");
  }
}
