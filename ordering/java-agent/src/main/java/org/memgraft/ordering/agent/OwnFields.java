package org.memgraft.ordering.agent;

import java.util.HashSet;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * The fields of a class's own that need no fence, each as its name, a space and its descriptor.
 *
 * @param volatiles those that are in order already
 * @param finals those that only constructors store, or the class's initializer: they do not change
 *     any more when others can have the object, or access the class
 */
record OwnFields(Set<String> volatiles, Set<String> finals) {
  /** The JVM lets nobody else store them since this version of class files. */
  private static final int FINALS_ARE_FINAL = Opcodes.V9;

  private static final int SHORT = 0xffff;

  static OwnFields of(ClassReader reader) {
    OwnFields found = new OwnFields(new HashSet<>(), new HashSet<>());
    boolean isOld = (reader.readInt(4) & SHORT) < FINALS_ARE_FINAL;
    int parts = ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES;
    reader.accept(found.new Search(isOld), isOld ? parts : parts | ClassReader.SKIP_CODE);
    return found;
  }

  /** A field as the sets have it. */
  static String of(String name, String shape) {
    return name + ' ' + shape;
  }

  private final class Search extends ClassVisitor {
    private final boolean isOld;
    private String owner;

    Search(boolean isOld) {
      super(Rewriter.API);
      this.isOld = isOld;
    }

    @Override
    public void visit(
        int version, int access, String name, String signature, String parent, String[] others) {
      owner = name;
    }

    @Override
    public FieldVisitor visitField(
        int access, String name, String shape, String signature, Object value) {
      if ((access & Opcodes.ACC_VOLATILE) != 0) {
        volatiles.add(of(name, shape));
      } else if ((access & Opcodes.ACC_FINAL) != 0) {
        finals.add(of(name, shape));
      }
      return null;
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String method, String shape, String signature, String[] exceptions) {
      if (!isOld || method.startsWith("<")) {
        return null;
      }
      return new MethodVisitor(Rewriter.API) {
        @Override
        public void visitFieldInsn(int instruction, String of, String name, String shape) {
          boolean stores = instruction == Opcodes.PUTFIELD || instruction == Opcodes.PUTSTATIC;
          if (stores && of.equals(owner)) {
            finals.remove(OwnFields.of(name, shape));
          }
        }
      };
    }
  }
}
