package org.memgraft.ordering.agent;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Makes the accesses of one method sequentially consistent, with checks and guards ({@link Holder})
 * in the place of fences where fields are speculated on. Static fields, array elements and calls
 * keep their fences.
 */
final class SpeculativeFences extends Fences {
  /**
   * The class with the method.
   *
   * @param name internal
   * @param loader of it; with a hidden class the JVM's own, whoever made it
   * @param hidden whether its own fields are no other class's to access
   * @param owned whether its objects get an owner
   */
  record In(
      String name,
      ClassLoader loader,
      boolean hidden,
      boolean owned,
      Speculation speculation,
      Hierarchy hierarchy) {}

  /** What is known of the field of an access. */
  private enum Field {
    /** It is not speculated on. */
    ORDERED,
    /** It is set once, before others have the object. */
    FINAL,
    SPECULATED,
    /** The class that declares it is not known. */
    UNKNOWN
  }

  private record Resolved(Field field, Speculation.Speculated speculated) {
    static final Resolved ORDERED = new Resolved(Field.ORDERED, null);
    static final Resolved FINAL = new Resolved(Field.FINAL, null);
    static final Resolved UNKNOWN = new Resolved(Field.UNKNOWN, null);
  }

  private final In in;
  private final OwnFields own;
  private final Sites sites;
  private final boolean constructs;
  private final List<Receivers.Access> accesses;
  private final List<Resolved> resolved = new ArrayList<>();

  /** Of fields that are accessed of `this` more than once: one check is for all. */
  private final Set<Speculation.Speculated> checkedAtEntry = new HashSet<>();

  private int next;

  SpeculativeFences(
      MethodVisitor next,
      Rewriter.Work work,
      In in,
      String method,
      OwnFields own,
      List<Receivers.Access> accesses,
      Sites sites) {
    super(next, work, in.name, method, own, sites);
    this.in = in;
    this.own = own;
    this.sites = sites;
    this.accesses = accesses;
    constructs = method.equals("<init>");
    Set<Speculation.Speculated> ofThis = new HashSet<>();
    for (Receivers.Access access : accesses) {
      Resolved found = resolve(access);
      resolved.add(found);
      boolean checked = found.speculated != null && access.ofThis() && !constructs;
      if (checked && !ofThis.add(found.speculated)) {
        checkedAtEntry.add(found.speculated);
      }
    }
  }

  private Resolved resolve(Receivers.Access access) {
    if (in.hidden) {
      // Its loader is not known here, and so not the classes that it names.
      boolean known = access.of().equals(in.name) || in.hierarchy.isOfThePlatform(access.of());
      return known ? Resolved.ORDERED : Resolved.UNKNOWN;
    }
    Hierarchy.Field found =
        in.hierarchy.declaring(in.loader, access.of(), access.name(), access.shape());
    if (!found.known()) {
      return in.hierarchy.isOfThePlatform(found.owner()) ? Resolved.ORDERED : Resolved.UNKNOWN;
    }
    if (!Speculation.isPlain(found.access())) {
      boolean isFinal = own.finals().contains(OwnFields.of(access.name(), access.shape()));
      boolean ofObjects = (found.access() & Opcodes.ACC_STATIC) == 0;
      boolean isOwn = found.owner().equals(in.name);
      return isFinal && ofObjects && isOwn ? Resolved.FINAL : Resolved.ORDERED;
    }
    Speculation.Speculated speculated = in.speculation.of(found.owner());
    return speculated == null ? Resolved.ORDERED : new Resolved(Field.SPECULATED, speculated);
  }

  @Override
  public void visitCode() {
    super.visitCode();
    if (constructs && in.owned) {
      // Before anybody else can have the object: a field of its own may be set at once.
      mv.visitVarInsn(Opcodes.ALOAD, 0);
      Bridge.callMe(mv);
      mv.visitFieldInsn(Opcodes.PUTFIELD, in.name, Speculation.ownerField(in.name), "J");
    }
    Set<Speculation.Speculated> left = new HashSet<>(checkedAtEntry);
    for (int i = 0; i < accesses.size(); i++) {
      Speculation.Speculated speculated = resolved.get(i).speculated;
      if (accesses.get(i).ofThis() && left.remove(speculated)) {
        mv.visitVarInsn(Opcodes.ALOAD, 0);
        callCheck(accesses.get(i).of(), speculated);
      }
    }
  }

  /** Of the object on the stack. */
  private void callCheck(String of, Speculation.Speculated speculated) {
    mv.visitFieldInsn(Opcodes.GETFIELD, of, speculated.ownerField(), "J");
    Holder.callCheck(mv, speculated.number());
  }

  @Override
  public void visitFieldInsn(int instruction, String of, String name, String shape) {
    boolean loads = instruction == Opcodes.GETFIELD;
    if (!loads && instruction != Opcodes.PUTFIELD) {
      super.visitFieldInsn(instruction, of, name, shape);
      return;
    }
    Receivers.Access access = accesses.get(next);
    Resolved found = resolved.get(next);
    next++;
    switch (found.field) {
      case ORDERED -> super.visitFieldInsn(instruction, of, name, shape);
      case FINAL -> {
        if (loads || constructs) {
          // The JVM has a fence at the end of the constructor.
          mv.visitFieldInsn(instruction, of, name, shape);
        } else {
          // The JVM will refuse it.
          super.visitFieldInsn(instruction, of, name, shape);
        }
      }
      case UNKNOWN -> {
        pushObject(loads, shape);
        Bridge.callSpeculation(mv, "touched");
        super.visitFieldInsn(instruction, of, name, shape);
      }
      case SPECULATED -> {
        boolean checked =
            access.ofThis() && (constructs || checkedAtEntry.contains(found.speculated));
        if (!checked) {
          pushObject(loads, shape);
          callCheck(of, found.speculated);
        }
        mv.visitFieldInsn(instruction, of, name, shape);
        if (loads) {
          Holder.callLoad(mv, found.speculated.number());
          sites.add(Site.FIELD_LOAD);
        } else {
          Holder.callStore(mv, found.speculated.number(), isToPrivate());
          sites.add(isToPrivate() ? Site.PRIVATE_STORE : Site.FIELD_STORE);
        }
      }
    }
  }

  /** Once more, on top of what the access takes from the stack. */
  private void pushObject(boolean loads, String shape) {
    if (loads) {
      mv.visitInsn(Opcodes.DUP);
    } else if (Type.getType(shape).getSize() == 1) {
      mv.visitInsn(Opcodes.DUP2);
      mv.visitInsn(Opcodes.POP);
    } else {
      mv.visitInsn(Opcodes.DUP2_X1);
      mv.visitInsn(Opcodes.POP2);
      mv.visitInsn(Opcodes.DUP_X2);
    }
  }

  @Override
  public void visitMaxs(int stack, int variables) {
    super.visitMaxs(Math.max(stack + 2, 3), variables);
  }
}
