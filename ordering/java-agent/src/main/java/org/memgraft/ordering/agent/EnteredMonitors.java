package org.memgraft.ordering.agent;

import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;

/**
 * Lets the handlers that begin behind a {@code monitorenter} begin before what is put in between.
 * C2 does not compile a method that an exception may leave with a monitor held.
 */
final class EnteredMonitors {
  private record Block(Label start, Label end, Label handler, String type) {}

  private final List<Block> blocks = new ArrayList<>();
  private final List<Block> more = new ArrayList<>();

  /** Behind the last instruction, if that was one. */
  private Label entered;

  void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
    blocks.add(new Block(start, end, handler, type));
  }

  /** What comes now, up to the method's next instruction, is in between. */
  void enter(MethodVisitor code) {
    entered = new Label();
    code.visitLabel(entered);
  }

  void visitLabel(Label label) {
    for (Block block : blocks) {
      if (entered != null && block.start() == label) {
        more.add(new Block(entered, label, block.handler(), block.type()));
      }
    }
  }

  void visitInstruction() {
    entered = null;
  }

  /** At the method's end, in the order of the handlers that begin there. */
  void addTo(MethodVisitor code) {
    for (Block block : more) {
      code.visitTryCatchBlock(block.start(), block.end(), block.handler(), block.type());
    }
  }
}
