package org.memgraft.workloads.tomcat;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Comparator;

/** {@code GET /catalogue?department=N}: a department's products as a web page, cheapest first. */
final class CatalogueServlet extends HttpServlet {
  private static final long serialVersionUID = 1;

  private final transient Shop shop;

  CatalogueServlet(Shop shop) {
    this.shop = shop;
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    int department = Integer.parseInt(request.getParameter("department"));
    Cart cart = Cart.of(request.getSession());
    response.setContentType("text/html");
    response.setCharacterEncoding("UTF-8");
    PrintWriter page = response.getWriter();
    page.printf("<html><body><h1>Department %d</h1><p>%d in cart</p>", department, cart.pieces());
    page.print("<table>");
    shop.of(department).stream()
        .sorted(Comparator.comparingInt(Shop.Product::cents).thenComparing(Shop.Product::name))
        .forEach(product -> row(page, product));
    page.print("</table></body></html>");
  }

  private static void row(PrintWriter page, Shop.Product product) {
    page.print("<tr><td>");
    page.print(product.number());
    page.print("</td><td>");
    page.print(product.name());
    page.print("</td><td>");
    page.print(Money.text(product.cents()));
    page.println("</td></tr>");
  }
}
