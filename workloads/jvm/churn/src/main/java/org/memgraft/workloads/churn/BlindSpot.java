package org.memgraft.workloads.churn;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Where the JIT loses sight of a fresh object.
 *
 * <p>C2 knows that what {@code new} returns is zero. A load that it can trace back to the
 * allocation becomes the constant zero, and an object that nobody else sees is not allocated at all
 * (MemNode::can_see_stored_value in HotSpot's memnode.cpp; escape analysis). A check written right
 * behind the allocation so checks nothing: with TLABs made dirty on purpose, checks of that kind
 * found none of it in 30 million objects and arrays of known length.
 *
 * <p>Both need the load's base to be the allocation's own result. Here the fresh object goes into
 * one of several slots that other threads could reach, so it escapes and must be whole in memory;
 * and what comes back is read from the slot whose number contains {@link #detour}, a volatile field
 * that is always 0 but that a compiler must read each time. Which slot that is can only be known at
 * run time; hence not that the two objects are one, hence nothing about what the object holds.
 *
 * <p>BlindSpotTest changes the detour under compiled code, and the check finds the older object.
 */
final class BlindSpot {
  private static final int SLOTS = 16;

  private final AtomicReferenceArray<Object> slots = new AtomicReferenceArray<>(SLOTS);
  private int next;

  /** Flips bits of the slot's number; only a test makes it anything but 0. */
  volatile int detour;

  /** Returns its argument, which stays alive until {@value #SLOTS} calls later. */
  Object pass(Object fresh) {
    int slot = next++ & (SLOTS - 1);
    slots.set(slot, fresh);
    return slots.get((slot ^ detour) & (SLOTS - 1));
  }
}
