import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.util.concurrent.Callable;

/**
 * Does one thing to the fields of each of its classes: their names say what. Tells what came of it,
 * which must not depend on how accesses are ordered.
 */
public class ShareObjects {
  /** Each thread has its own. */
  static class Stays {
    int field;
  }

  static class Passed {
    int field;
  }

  /** What is declared in a superclass alone is accessed by another thread. */
  static class Inherited {
    int field;
  }

  static class Inherits extends Inherited {
    int own;
  }

  static class Reflected {
    int field;
  }

  static class ByHandle {
    int field;
  }

  static class ByVarHandle {
    int field;
  }

  static class Serialized implements Serializable {
    private static final long serialVersionUID = 1;
    int field;
  }

  static class Cloned implements Cloneable {
    int field;

    Cloned copy() throws CloneNotSupportedException {
      return (Cloned) clone();
    }
  }

  /** Set once, before others have it. */
  static class Constant {
    final int field;

    Constant(int field) {
      this.field = field;
    }
  }

  /** Ordered anyway. */
  static class Flag {
    volatile int field;
  }

  static <T> T elsewhere(Callable<T> work) throws Exception {
    Object[] result = new Object[1];
    Thread thread =
        new Thread(
            () -> {
              try {
                result[0] = work.call();
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
    thread.start();
    thread.join();
    @SuppressWarnings("unchecked")
    T got = (T) result[0];
    return got;
  }

  static int staying() {
    Stays mine = new Stays();
    for (int i = 0; i < 100_000; i++) {
      mine.field++;
    }
    return mine.field;
  }

  public static void main(String[] words) throws Exception {
    int sum = staying() + elsewhere(ShareObjects::staying);
    Passed passed = new Passed();
    passed.field = 1;
    sum += elsewhere(() -> passed.field++) + passed.field;
    Inherits inherits = new Inherits();
    inherits.own = 2;
    sum += elsewhere(() -> ++inherits.field) + inherits.own;
    Field reflected = Reflected.class.getDeclaredField("field");
    sum += reflected.getInt(new Reflected());
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    MethodHandle getter = lookup.findGetter(ByHandle.class, "field", int.class);
    sum += (int) getSafely(getter, new ByHandle());
    VarHandle handle = lookup.findVarHandle(ByVarHandle.class, "field", int.class);
    sum += (int) handle.get(new ByVarHandle());
    Serialized serialized = new Serialized();
    serialized.field = 4;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new ObjectOutputStream(bytes).writeObject(serialized);
    ObjectInputStream read = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()));
    sum += ((Serialized) read.readObject()).field;
    Cloned cloned = new Cloned();
    cloned.field = 5;
    Cloned copy = elsewhere(cloned::copy);
    sum += copy.field;
    Constant constant = new Constant(6);
    sum += elsewhere(() -> constant.field);
    Flag flag = new Flag();
    sum += elsewhere(() -> flag.field = 7);
    if (words.length > 0) {
      System.load(words[0]);
    }
    System.out.println(sum);
  }

  private static Object getSafely(MethodHandle getter, ByHandle object) {
    try {
      return (int) getter.invokeExact(object);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}
