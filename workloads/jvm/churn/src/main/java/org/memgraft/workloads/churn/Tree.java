package org.memgraft.workloads.churn;

/** A binary tree, which lives while a storm lasts. Its nodes' fields are set by the constructor. */
final class Tree {
  private final Tree left;
  private final Tree right;
  private final int value;

  private Tree(Tree left, Tree right, int value) {
    this.left = left;
    this.right = right;
    this.value = value;
  }

  /** A full tree whose values are numbered as in a heap: the root has {@code value}. */
  static Tree grow(int depth, int value) {
    return depth == 0
        ? null
        : new Tree(grow(depth - 1, 2 * value), grow(depth - 1, 2 * value + 1), value);
  }

  long sum() {
    return value + (left == null ? 0 : left.sum()) + (right == null ? 0 : right.sum());
  }
}
