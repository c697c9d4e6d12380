package org.memgraft.ordering.agent;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Puts the fences of {@link Fences} into every method of a class. Fields stay as they are: a
 * volatile one has another serialVersionUID and other modifiers for reflection to see.
 */
final class Rewriter extends ClassVisitor {
  static final int API = Opcodes.ASM9;

  /**
   * What is to be done to a class.
   *
   * @param delays whether code waits for as long as a full fence takes instead of having fences
   * @param loader that defines it; null: the JVM's own
   * @param doors whether those of the JDK tell of what passes through them ({@link Doors})
   * @param facts what it may trust in
   */
  record Work(
      Subset subset,
      boolean delays,
      Machine machine,
      ClassLoader loader,
      boolean doors,
      KnownClasses.Facts facts) {
    /** Whose constructors trust in nothing. */
    Work(Subset subset, boolean delays, Machine machine, ClassLoader loader, boolean doors) {
      this(subset, delays, machine, loader, doors, KnownClasses.Facts.NONE);
    }

    static Work everything(Machine machine) {
      return new Work(Subset.ALL, false, machine, null, false);
    }

    /** The same with something to trust in. */
    Work trusting(KnownClasses.Facts facts) {
      return new Work(subset, delays, machine, loader, doors, facts);
    }
  }

  private final Work work;
  private final Sites sites;
  private final OwnFields own;
  private final CodeScan scan;
  private final String name;
  private int methods;

  private Rewriter(
      String name, ClassVisitor next, Work work, OwnFields own, CodeScan scan, Sites sites) {
    super(API, next);
    this.name = name;
    this.work = work;
    this.own = own;
    this.scan = scan;
    this.sites = sites;
  }

  /**
   * The class with its fences, which are added to the sites.
   *
   * @throws RuntimeException where ASM cannot read it, or a method grew too large for a class file
   */
  static byte[] rewrite(byte[] original, Work work, Sites sites) {
    ClassReader reader = new ClassReader(original);
    // Where there was nothing, something may be added.
    CodeScan scan =
        HiddenClasses.mayBeIn(reader.getClassName())
            ? CodeScan.UNKNOWN
            : CodeScan.of(reader, work.machine());
    return scan.hasNothing() && !work.doors() ? original : rewrite(reader, work, sites, scan);
  }

  /** The same, by what is known of its methods. */
  static byte[] rewrite(ClassReader reader, Work work, Sites sites, CodeScan scan) {
    String name = reader.getClassName();
    // Calls without operands need no new frames and no deeper stack.
    ClassWriter writer = new ClassWriter(reader, 0);
    Sites mine = new Sites();
    // First, so that what they add gets fences too.
    Rewriter rewriter = new Rewriter(name, writer, work, work.facts().fields(reader), scan, mine);
    ClassVisitor first = HiddenClasses.before(rewriter, name);
    reader.accept(work.doors() ? Doors.before(first, name) : first, 0);
    byte[] rewritten = writer.toByteArray();
    sites.add(mine);
    return rewritten;
  }

  @Override
  public MethodVisitor visitMethod(
      int access, String method, String shape, String signature, String[] exceptions) {
    MethodVisitor next = super.visitMethod(access, method, shape, signature, exceptions);
    CodeScan.Content content = scan.of(methods++);
    if (content == CodeScan.Content.NOTHING || isFence(name, method)) {
      // ASM copies it as it is.
      return next;
    }
    Fences fences = new Fences(next, work, name, method, own, sites);
    return content == CodeScan.Content.PRIVATE_STORES && work.subset().isAll()
        ? new WholeMethod(access, method, shape, signature, exceptions, name, work.facts(), fences)
        : fences;
  }

  /** A fence that had fences in it would call itself without end. */
  static boolean isFence(String owner, String method) {
    return owner.equals(Fence.OWNER) && method.endsWith("Fence");
  }
}
