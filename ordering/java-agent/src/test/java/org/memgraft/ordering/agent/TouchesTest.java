package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TouchesTest {
  private final Touches touches = new Touches();
  private final int number = touches.number("a.A.x", true);

  private List<Object> storedBy(Thread thread) throws InterruptedException {
    thread.start();
    thread.join();
    Map<String, Object> one = touches.done().get(0);
    return ((List<?>) one.get("stores"))
        .stream().<Object>map(store -> ((Map<?, ?>) store).get("thread")).toList();
  }

  @Test
  void threadsHaveTheirNames() throws InterruptedException {
    assertEquals(List.of("one"), storedBy(new Thread(() -> touches.accept(number), "one")));
    assertEquals(List.of("one", "two"), storedBy(new Thread(() -> touches.accept(number), "two")));
  }

  /** As virtual threads are, unless the program names them. */
  @Test
  void oneWithoutANameHasItsNumber() throws InterruptedException {
    Thread thread = new Thread(() -> touches.accept(number), "");
    assertEquals(List.of("#" + thread.getId()), storedBy(thread));
  }
}
