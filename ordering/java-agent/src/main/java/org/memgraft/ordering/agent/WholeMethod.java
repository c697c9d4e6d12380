package org.memgraft.ordering.agent;

import java.util.BitSet;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.tree.MethodNode;

/**
 * Reads a method to its end, and then hands it on to {@link Fences}, which it tells of each store
 * whether that goes to a private object.
 */
final class WholeMethod extends MethodNode {
  private final String owner;
  private final KnownClasses.Keeping facts;
  private final Fences next;

  /**
   * The parameters of ClassVisitor.visitMethod, and what the method is for.
   *
   * @param owner the internal name of its class
   * @param facts what it may trust in of other classes
   */
  WholeMethod(
      int access,
      String name,
      String shape,
      String signature,
      String[] exceptions,
      String owner,
      KnownClasses.Keeping facts,
      Fences next) {
    super(Rewriter.API, access, name, shape, signature, exceptions);
    this.owner = owner;
    this.facts = facts;
    this.next = next;
  }

  @Override
  public void visitEnd() {
    super.visitEnd();
    BitSet privates = PrivateStores.of(owner, this, facts);
    accept(new Telling(privates, Runs.of(this, privates)));
  }

  private final class Telling extends MethodVisitor {
    private final BitSet privates;
    private final BitSet inRun;
    private int stores;

    Telling(BitSet privates, BitSet inRun) {
      super(Rewriter.API, next);
      this.privates = privates;
      this.inRun = inRun;
    }

    @Override
    public void visitFieldInsn(int instruction, String of, String name, String shape) {
      tell(instruction);
      super.visitFieldInsn(instruction, of, name, shape);
    }

    @Override
    public void visitInsn(int instruction) {
      tell(instruction);
      super.visitInsn(instruction);
    }

    private void tell(int instruction) {
      if (PrivateStores.isStore(instruction)) {
        next.nextStoreIsPrivate(privates.get(stores), inRun.get(stores));
        stores++;
      }
    }
  }
}
