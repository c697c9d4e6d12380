package org.memgraft.workloads.tomcat;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.TreeMap;

/** {@code POST /order}: the bill of what was put aside; the session ends. */
final class OrderServlet extends HttpServlet {
  private static final long serialVersionUID = 1;

  private final transient Shop shop;

  OrderServlet(Shop shop) {
    this.shop = shop;
  }

  @Override
  protected void doPost(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    HttpSession session = request.getSession();
    response.setContentType("text/plain");
    response.setCharacterEncoding("UTF-8");
    PrintWriter bill = response.getWriter();
    long total = 0;
    for (Map.Entry<Integer, Integer> line : new TreeMap<>(Cart.of(session).all()).entrySet()) {
      Shop.Product product = shop.product(line.getKey());
      long cents = (long) line.getValue() * product.cents();
      bill.printf("%4d %-30s %12s%n", line.getValue(), product.name(), Money.text(cents));
      total += cents;
    }
    bill.printf("%48s%n", Money.text(total));
    session.invalidate();
  }
}
