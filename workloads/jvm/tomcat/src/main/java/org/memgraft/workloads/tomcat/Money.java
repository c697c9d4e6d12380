package org.memgraft.workloads.tomcat;

/** Cents as people read them. */
final class Money {
  private static final int CENTS = 100;
  private static final int TEN = 10;

  private Money() {}

  static String text(long cents) {
    long rest = cents % CENTS;
    return cents / CENTS + (rest < TEN ? ".0" : ".") + rest;
  }
}
