package org.memgraft.ordering.agent;

import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Makes the accesses of one method sequentially consistent: an acquire fence behind each load, a
 * full fence behind each store. (No later access passes a load; and no load passes a store.) A
 * store to a private object has a release fence: it is done before the store that publishes the
 * object ({@link PrivateStores}). Of a run of such stores, the last one has it ({@link Runs}).
 *
 * <p>Where only some accesses get fences, each one gets all that a volatile access has: what is
 * before it may be without.
 */
class Fences extends MethodVisitor {
  private final Rewriter.Work work;
  private final String owner;
  private final OwnFields own;
  private final boolean elements;
  private final boolean calls;
  private final Sites sites;
  private boolean toPrivate;
  private boolean inRun;

  /**
   * @param owner the class
   * @param own its fields
   */
  Fences(
      MethodVisitor next,
      Rewriter.Work work,
      String owner,
      String method,
      OwnFields own,
      Sites sites) {
    super(Rewriter.API, next);
    this.work = work;
    this.owner = owner;
    this.own = own;
    this.sites = sites;
    elements = work.subset().hasElements(owner, method);
    calls = work.subset().hasCalls(owner, method);
  }

  /**
   * Of a store to a field of an object, or to an element.
   *
   * @param inRun whether the fence of a later one is enough for it
   */
  void nextStoreIsPrivate(boolean toPrivate, boolean inRun) {
    // Where only some accesses have an order, each needs one to all others.
    this.toPrivate = toPrivate && work.subset().isAll();
    this.inRun = inRun;
  }

  boolean isToPrivate() {
    return toPrivate;
  }

  @Override
  public void visitFieldInsn(int instruction, String of, String name, String shape) {
    // Of other classes' fields this is not known here; a fence too many does no harm.
    boolean isVolatile = of.equals(owner) && own.volatiles().contains(OwnFields.of(name, shape));
    boolean loads = instruction == Opcodes.GETFIELD || instruction == Opcodes.GETSTATIC;
    boolean inOrder = isVolatile && (loads || work.machine().fencesVolatileStores());
    inOrder |= loads && isFinal(of, name, shape);
    if (inOrder || !work.subset().hasField(work.loader(), of, name, shape)) {
      super.visitFieldInsn(instruction, of, name, shape);
      return;
    }
    putBefore(loads);
    super.visitFieldInsn(instruction, of, name, shape);
    switch (instruction) {
      case Opcodes.GETFIELD -> put(Fence.ACQUIRE, Site.FIELD_LOAD);
      case Opcodes.GETSTATIC -> put(Fence.ACQUIRE, Site.STATIC_LOAD);
      case Opcodes.PUTFIELD -> putBehindStore(Site.FIELD_STORE);
      default -> put(Fence.FULL, Site.STATIC_STORE);
    }
  }

  /** Where only some accesses have an order, a final field may be one of them. */
  private boolean isFinal(String of, String name, String shape) {
    if (!work.subset().isAll()) {
      return false;
    }
    return of.equals(owner)
        ? own.finals().contains(OwnFields.of(name, shape))
        : work.facts().isFinal(of, name, shape);
  }

  @Override
  public void visitInsn(int instruction) {
    boolean loads = instruction >= Opcodes.IALOAD && instruction <= Opcodes.SALOAD;
    boolean stores = instruction >= Opcodes.IASTORE && instruction <= Opcodes.SASTORE;
    if (!elements || !(loads || stores)) {
      super.visitInsn(instruction);
      return;
    }
    putBefore(loads);
    super.visitInsn(instruction);
    if (loads) {
      put(Fence.ACQUIRE, Site.ELEMENT_LOAD);
    } else {
      putBehindStore(Site.ELEMENT_STORE);
    }
  }

  private void putBehindStore(Site site) {
    if (toPrivate && inRun) {
      sites.add(Site.PRIVATE_STORE);
    } else if (toPrivate) {
      put(Fence.RELEASE, Site.PRIVATE_STORE);
    } else {
      put(Fence.FULL, site);
    }
  }

  /** Elsewhere the access before has its own fence behind it. */
  private void putBefore(boolean loads) {
    if (work.subset().isAll()) {
      return;
    }
    if (!loads) {
      into(Fence.RELEASE);
    } else if (!work.machine().fencesVolatileStores()) {
      into(Fence.FULL);
    }
  }

  @Override
  public void visitMethodInsn(
      int instruction, String of, String name, String shape, boolean isInterface) {
    Calls.Fences fences = calls ? Calls.of(of, name, shape, work.machine()) : null;
    if (fences != null && (fences.before() || !work.subset().isAll())) {
      into(Fence.FULL);
    }
    super.visitMethodInsn(instruction, of, name, shape, isInterface);
    if (fences != null) {
      put(fences.behind(), fences.site());
    }
  }

  @Override
  public void visitInvokeDynamicInsn(
      String name, String shape, Handle bootstrap, Object... arguments) {
    Calls.Fences fences = calls ? Calls.of(bootstrap) : null;
    if (fences != null && !work.subset().isAll()) {
      into(Fence.FULL);
    }
    super.visitInvokeDynamicInsn(name, shape, bootstrap, arguments);
    if (fences != null) {
      put(fences.behind(), fences.site());
    }
  }

  private void put(Fence fence, Site site) {
    into(fence);
    sites.add(site);
  }

  private void into(Fence fence) {
    if (!work.delays()) {
      fence.into(mv);
    } else if (fence == Fence.FULL) {
      Bridge.callDelay(mv);
    }
  }
}
