package org.memgraft.ordering.agent;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.commons.SerialVersionUIDAdder;

/**
 * Writes the default version into a serializable class that says none. One object makes all the
 * digests that this takes: the JDK makes such an object by reflection, for which it loads classes
 * from the sixteenth time on, and of what is loaded while a class is rewritten no agent hears.
 */
final class SerialVersion extends SerialVersionUIDAdder {
  private static final MessageDigest SHA = sha();

  SerialVersion(ClassVisitor next) {
    super(Rewriter.API, next);
  }

  private static MessageDigest sha() {
    try {
      return MessageDigest.getInstance("SHA");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  protected byte[] computeSHAdigest(byte[] declared) {
    synchronized (SHA) {
      return SHA.digest(declared);
    }
  }
}
