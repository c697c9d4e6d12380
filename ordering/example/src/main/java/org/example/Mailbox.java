package org.example;

/**
 * One thread puts a letter in, another one looks for it. It lacks a {@code volatile}: the receiver
 * may see that there is a letter, and not yet the letter.
 */
public final class Mailbox {
  private String letter;
  private boolean there;

  /** Of one thread, once. */
  public void put(String text) {
    letter = text;
    there = true;
  }

  /** The letter, or null as long as there is none. */
  public String look() {
    if (!there) {
      return null;
    }
    if (letter == null) {
      throw new IllegalStateException("there is a letter, and it is not there");
    }
    return letter;
  }
}
