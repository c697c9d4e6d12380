package org.memgraft.ordering.agent;

import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;

/**
 * Has hidden classes rewritten too. The JVM offers them to no agent, but all of them come through
 * one method of the JDK, which gets their bytes: it hands them on to the rewriter first ({@link
 * Bridge}).
 */
final class HiddenClasses extends ClassVisitor {
  /** The nameless classes of System, one of which reaches into java.lang for other packages. */
  private static final String OWNER = "java/lang/System$";

  private static final String METHOD = "defineClass";
  private static final String SHAPE =
      "(Ljava/lang/ClassLoader;Ljava/lang/Class;Ljava/lang/String;[BLjava/security/ProtectionDomain;"
          + "ZILjava/lang/Object;)Ljava/lang/Class;";

  /** The parameter with the bytes; 0 is the object itself. */
  private static final int BYTES = 4;

  private static volatile boolean joined;

  private HiddenClasses(ClassVisitor next) {
    super(Rewriter.API, next);
  }

  /** Whether the method was found. */
  static boolean joined() {
    return joined;
  }

  /** Whether a class may have the method. */
  static boolean mayBeIn(String owner) {
    return owner.startsWith(OWNER);
  }

  /** The visitor with this one in front of it where a class may have the method. */
  static ClassVisitor before(ClassVisitor next, String owner) {
    return mayBeIn(owner) ? new HiddenClasses(next) : next;
  }

  @Override
  public MethodVisitor visitMethod(
      int access, String name, String shape, String signature, String[] exceptions) {
    MethodVisitor next = super.visitMethod(access, name, shape, signature, exceptions);
    if (!name.equals(METHOD) || !shape.equals(SHAPE)) {
      return next;
    }
    joined = true;
    return new MethodVisitor(Rewriter.API, next) {
      // No jump, so no new frame; and the method's own call of defineClass0 has a deeper stack.
      @Override
      public void visitCode() {
        super.visitCode();
        Bridge.callRewriter(this, BYTES);
      }
    };
  }
}
