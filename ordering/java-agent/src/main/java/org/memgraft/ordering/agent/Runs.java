package org.memgraft.ordering.agent;

import java.util.BitSet;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Runs of stores to elements of private arrays, as they fill an array that source code lists. One
 * fence behind the last store is enough for all: nothing between them publishes an array, or leaves
 * the method other than by an exception, which nobody catches who has the array. A list of some
 * thousand numbers, each with a fence of its own, would be too large for a class file.
 */
final class Runs {
  private Runs() {}

  /**
   * Of all stores to fields of objects and to elements, in their order, those that need no fence of
   * their own.
   *
   * @param privates those to private objects ({@link PrivateStores})
   */
  static BitSet of(MethodNode method, BitSet privates) {
    BitSet found = new BitSet();
    if (privates.isEmpty() || !method.tryCatchBlocks.isEmpty()) {
      return found;
    }
    int store = 0;
    int before = -1;
    for (AbstractInsnNode instruction : method.instructions) {
      int code = instruction.getOpcode();
      if (PrivateStores.isStore(code)) {
        boolean runs = code != Opcodes.PUTFIELD && privates.get(store);
        if (runs && before >= 0) {
          found.set(before);
        }
        before = runs ? store : -1;
        store++;
      } else if (code >= 0 && !isHarmless(code)) {
        before = -1;
      }
    }
    return found;
  }

  /** Constants, copies on the stack, local variables, and arrays that nobody has yet. */
  private static boolean isHarmless(int code) {
    return code >= Opcodes.NOP && code <= Opcodes.ALOAD
        || code >= Opcodes.POP && code <= Opcodes.SWAP
        || code == Opcodes.NEWARRAY
        || code == Opcodes.ANEWARRAY;
  }
}
