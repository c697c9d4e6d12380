package org.memgraft.workloads.tomcat;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** {@code POST /cart}, a form with {@code product} and {@code pieces}: puts them aside. */
final class CartServlet extends HttpServlet {
  private static final long serialVersionUID = 1;

  @Override
  protected void doPost(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    Cart cart = Cart.of(request.getSession());
    cart.add(
        Integer.parseInt(request.getParameter("product")),
        Integer.parseInt(request.getParameter("pieces")));
    response.setContentType("application/json");
    response.setCharacterEncoding("UTF-8");
    response.getWriter().print("{\"pieces\": " + cart.pieces() + "}");
  }
}
