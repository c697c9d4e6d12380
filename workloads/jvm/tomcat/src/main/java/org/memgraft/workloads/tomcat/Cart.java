package org.memgraft.workloads.tomcat;

import jakarta.servlet.http.HttpSession;
import java.io.Serializable;
import java.util.Map;
import java.util.TreeMap;

/** What one session has put aside: how many pieces of which product. */
final class Cart implements Serializable {
  private static final long serialVersionUID = 1;
  private static final String NAME = "cart";

  private final TreeMap<Integer, Integer> piecesOf = new TreeMap<>();

  private Cart() {}

  static Cart of(HttpSession session) {
    Cart cart = (Cart) session.getAttribute(NAME);
    if (cart == null) {
      cart = new Cart();
      session.setAttribute(NAME, cart);
    }
    return cart;
  }

  // A session's requests come one after the other, but on any of the server's threads.
  synchronized void add(int product, int pieces) {
    piecesOf.merge(product, pieces, Integer::sum);
  }

  synchronized int pieces() {
    return piecesOf.values().stream().mapToInt(Integer::intValue).sum();
  }

  synchronized Map<Integer, Integer> all() {
    return Map.copyOf(piecesOf);
  }
}
