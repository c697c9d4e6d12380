package org.memgraft.ordering.agent;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Rewrites a class that may access fields of the program's: each method gets its {@link
 * SpeculativeFences}. Where the class itself declares fields that are speculated on, its objects
 * get a further one with the thread that made them.
 */
final class Speculator extends ClassVisitor {
  private final Rewriter.Work work;
  private final SpeculativeFences.In in;
  private final Receivers receivers;
  private final Sites sites;
  private final OwnFields own;

  private Speculator(
      ClassVisitor next,
      Rewriter.Work work,
      SpeculativeFences.In in,
      Receivers receivers,
      OwnFields own,
      Sites sites) {
    super(Rewriter.API, next);
    this.work = work;
    this.in = in;
    this.receivers = receivers;
    this.own = own;
    this.sites = sites;
  }

  /**
   * The class with its checks, guards and fences.
   *
   * @throws RuntimeException where ASM cannot read it, or a method grew too large for a class file
   */
  static byte[] rewrite(
      Offer offer, Rewriter.Work work, Speculation speculation, Hierarchy hierarchy, Sites sites) {
    ClassReader reader = new ClassReader(offer.bytes());
    String name = reader.getClassName();
    boolean hidden = offer.origin() == Offer.Origin.HIDDEN;
    if (!hidden) {
      hierarchy.add(offer.loader(), reader);
    }
    boolean owned = !hidden && hasPlainFields(reader) && speculation.of(name) != null;
    var in = new SpeculativeFences.In(name, offer.loader(), hidden, owned, speculation, hierarchy);
    ClassWriter writer = new ClassWriter(reader, 0);
    Sites mine = new Sites();
    Receivers receivers = Receivers.of(reader, !hidden);
    ClassVisitor first =
        Doors.before(
            new Speculator(writer, work, in, receivers, work.facts().fields(reader), mine), name);
    if (owned && hierarchy.maybeSerializable(offer.loader(), name)) {
      // One more field would change its default.
      first = new SerialVersion(first);
    }
    reader.accept(first, 0);
    byte[] rewritten = writer.toByteArray();
    sites.add(mine);
    return rewritten;
  }

  /** Whether the class itself declares any that can be speculated on. */
  private static boolean hasPlainFields(ClassReader reader) {
    boolean[] has = {false};
    reader.accept(
        new ClassVisitor(Rewriter.API) {
          @Override
          public FieldVisitor visitField(
              int access, String name, String shape, String signature, Object value) {
            has[0] |= Speculation.isPlain(access);
            return null;
          }
        },
        ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    return has[0];
  }

  @Override
  public MethodVisitor visitMethod(
      int access, String method, String shape, String signature, String[] exceptions) {
    MethodVisitor next = super.visitMethod(access, method, shape, signature, exceptions);
    Fences fences =
        new SpeculativeFences(next, work, in, method, own, receivers.in(method, shape), sites);
    return new WholeMethod(
        access, method, shape, signature, exceptions, in.name(), work.facts(), fences);
  }

  @Override
  public void visitEnd() {
    if (in.owned()) {
      int access = Opcodes.ACC_PUBLIC | Opcodes.ACC_TRANSIENT | Opcodes.ACC_SYNTHETIC;
      super.visitField(access, Speculation.ownerField(in.name()), "J", null, null).visitEnd();
    }
    super.visitEnd();
  }
}
