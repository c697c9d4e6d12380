package org.memgraft.ordering.litmus;

import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/** Makes what reaches a field of the class that a lookup is from, for generated classes. */
public final class Maker {
  private Maker() {}

  /** The field may be static. */
  public static VarHandle handle(Lookup lookup, String field) throws ReflectiveOperationException {
    return lookup.unreflectVarHandle(lookup.lookupClass().getDeclaredField(field));
  }

  /** Accessible, as it is where a framework injects into private fields. */
  public static Field field(Lookup lookup, String field) throws ReflectiveOperationException {
    Field found = lookup.lookupClass().getDeclaredField(field);
    found.setAccessible(true);
    return found;
  }

  /** The field must be public, and an int: the updater looks at what its maker may reach. */
  public static AtomicIntegerFieldUpdater<?> updater(Lookup lookup, String field) {
    return AtomicIntegerFieldUpdater.newUpdater(lookup.lookupClass(), field);
  }
}
