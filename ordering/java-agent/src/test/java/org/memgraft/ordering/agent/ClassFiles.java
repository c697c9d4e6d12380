package org.memgraft.ordering.agent;

import java.util.function.BiConsumer;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;

/** Class files, looked into and spoilt by tests. */
final class ClassFiles {
  private ClassFiles() {}

  /** A call in a class file. */
  record Call(int instruction, String owner, String name, String shape, boolean isInterface) {
    /** The same call of another method. */
    Call named(String other) {
      return new Call(instruction, owner, other, shape, isInterface);
    }

    void writeTo(MethodVisitor method) {
      method.visitMethodInsn(instruction, owner, name, shape, isInterface);
    }
  }

  /** Shows the visitor the instructions of each method of that name. */
  static void read(byte[] bytes, String method, MethodVisitor visitor) {
    ClassVisitor methods =
        new ClassVisitor(Rewriter.API) {
          @Override
          public MethodVisitor visitMethod(
              int access, String name, String shape, String signature, String[] exceptions) {
            return name.equals(method) ? visitor : null;
          }
        };
    new ClassReader(bytes).accept(methods, 0);
  }

  /**
   * The class with other calls. The change is given every call in turn, and writes what shall stand
   * in its place.
   */
  static byte[] withCalls(byte[] bytes, BiConsumer<Call, MethodVisitor> change) {
    ClassReader reader = new ClassReader(bytes);
    ClassWriter writer = new ClassWriter(reader, 0);
    ClassVisitor methods =
        new ClassVisitor(Rewriter.API, writer) {
          @Override
          public MethodVisitor visitMethod(
              int access, String name, String shape, String signature, String[] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, shape, signature, exceptions);
            return new MethodVisitor(Rewriter.API, next) {
              @Override
              public void visitMethodInsn(
                  int instruction, String owner, String name, String shape, boolean isInterface) {
                change.accept(new Call(instruction, owner, name, shape, isInterface), next);
              }
            };
          }
        };
    reader.accept(methods, 0);
    return writer.toByteArray();
  }
}
