package org.memgraft.ordering.compilers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** Loads the classes of a folder, in which each access to a field or an element is noted before. */
final class Watched extends ClassLoader {
  private final Path folder;

  Watched(Path folder) {
    super(Watched.class.getClassLoader());
    this.folder = folder;
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    Path file = folder.resolve(name.replace('.', '/') + ".class");
    try {
      ClassReader reader = new ClassReader(Files.readAllBytes(file));
      ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
      reader.accept(new Notes(writer), 0);
      byte[] bytes = writer.toByteArray();
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException missing) {
      throw new ClassNotFoundException(name, missing);
    }
  }

  private static final class Notes extends ClassVisitor {
    Notes(ClassVisitor next) {
      super(Opcodes.ASM9, next);
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String name, String descriptor, String signature, String[] exceptions) {
      MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
      return new MethodVisitor(Opcodes.ASM9, next) {
        private int line;

        @Override
        public void visitLineNumber(int number, Label start) {
          line = number;
          super.visitLineNumber(number, start);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String field, String type) {
          // The programs' own names have one letter; what compilers add has more.
          if (field.length() == 1) {
            boolean stores = opcode == Opcodes.PUTFIELD || opcode == Opcodes.PUTSTATIC;
            note(stores ? "=" + field : field);
          }
          super.visitFieldInsn(opcode, owner, field, type);
        }

        @Override
        public void visitInsn(int opcode) {
          if (Opcodes.IALOAD <= opcode && opcode <= Opcodes.SALOAD) {
            note("[]");
          } else if (Opcodes.IASTORE <= opcode && opcode <= Opcodes.SASTORE) {
            note("=[]");
          }
          super.visitInsn(opcode);
        }

        private void note(String what) {
          visitLdcInsn(line);
          visitLdcInsn(what);
          String seen = Type.getInternalName(Seen.class);
          visitMethodInsn(Opcodes.INVOKESTATIC, seen, "note", "(ILjava/lang/String;)V", false);
        }
      };
    }
  }
}
