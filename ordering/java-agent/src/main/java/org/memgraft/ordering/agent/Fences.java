package org.memgraft.ordering.agent;

import java.util.Set;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Makes the accesses of one method sequentially consistent: an acquire fence behind each load, a
 * full fence behind each store. (No later access passes a load; and no load passes a store.)
 */
final class Fences extends MethodVisitor {
  private final String owner;
  private final Set<String> volatiles;
  private final Sites sites;
  private final Machine machine;

  /**
   * @param owner the class
   * @param volatiles its own volatile fields, each as its name followed by its descriptor
   */
  Fences(MethodVisitor next, String owner, Set<String> volatiles, Sites sites, Machine machine) {
    super(Rewriter.API, next);
    this.owner = owner;
    this.volatiles = volatiles;
    this.sites = sites;
    this.machine = machine;
  }

  @Override
  public void visitFieldInsn(int instruction, String of, String name, String shape) {
    super.visitFieldInsn(instruction, of, name, shape);
    // Of other classes' fields nothing is known here; a fence too many does no harm.
    boolean isVolatile = of.equals(owner) && volatiles.contains(name + shape);
    boolean loads = instruction == Opcodes.GETFIELD || instruction == Opcodes.GETSTATIC;
    if (isVolatile && (loads || machine.fencesVolatileStores())) {
      return;
    }
    switch (instruction) {
      case Opcodes.GETFIELD -> put(Fence.ACQUIRE, Site.FIELD_LOAD);
      case Opcodes.GETSTATIC -> put(Fence.ACQUIRE, Site.STATIC_LOAD);
      case Opcodes.PUTFIELD -> put(Fence.FULL, Site.FIELD_STORE);
      default -> put(Fence.FULL, Site.STATIC_STORE);
    }
  }

  @Override
  public void visitInsn(int instruction) {
    super.visitInsn(instruction);
    if (instruction >= Opcodes.IALOAD && instruction <= Opcodes.SALOAD) {
      put(Fence.ACQUIRE, Site.ELEMENT_LOAD);
    } else if (instruction >= Opcodes.IASTORE && instruction <= Opcodes.SASTORE) {
      put(Fence.FULL, Site.ELEMENT_STORE);
    }
  }

  @Override
  public void visitMethodInsn(
      int instruction, String of, String name, String shape, boolean isInterface) {
    Calls.Fences fences = Calls.of(of, name, shape, machine);
    if (fences != null && fences.before()) {
      Fence.FULL.into(mv);
    }
    super.visitMethodInsn(instruction, of, name, shape, isInterface);
    if (fences != null) {
      put(fences.behind(), fences.site());
    }
  }

  @Override
  public void visitInvokeDynamicInsn(
      String name, String shape, Handle bootstrap, Object... arguments) {
    super.visitInvokeDynamicInsn(name, shape, bootstrap, arguments);
    Calls.Fences fences = Calls.of(bootstrap);
    if (fences != null) {
      put(fences.behind(), fences.site());
    }
  }

  private void put(Fence fence, Site site) {
    fence.into(mv);
    sites.add(site);
  }
}
