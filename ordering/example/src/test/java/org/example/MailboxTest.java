package org.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.memgraft.ordering.junit.WeakMemoryTest;

class MailboxTest {
  private static final int LETTERS = 1000;

  /** Passes on an x86 machine, however often it runs. */
  @Test
  void aLetterIsWholeWhenItIsThere() {
    for (int i = 0; i < LETTERS; i++) {
      deliver("letter " + i);
    }
  }

  /** The same, as an Arm server may run it. */
  @WeakMemoryTest
  void aLetterIsWholeWhenItIsThereOnAnyMachine() {
    aLetterIsWholeWhenItIsThere();
  }

  private static void deliver(String text) {
    Mailbox mailbox = new Mailbox();
    CompletableFuture<Void> sender = CompletableFuture.runAsync(() -> mailbox.put(text));
    String letter;
    do {
      letter = mailbox.look();
    } while (letter == null && !sender.isDone());
    sender.join();
    assertEquals(text, letter == null ? mailbox.look() : letter);
  }
}
