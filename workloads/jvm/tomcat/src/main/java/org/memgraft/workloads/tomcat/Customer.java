package org.memgraft.workloads.tomcat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.WorkloadFailure;

/** Comes to the shop over HTTP, looks around, puts things aside, and orders them. */
final class Customer {
  private static final int LEAST_THINGS = 2;
  private static final int MORE_THINGS = 4;
  private static final int MOST_PIECES = 9;

  private final String shop;

  /** That of the visit, which the server names with its first answer. */
  private String session;

  Customer(int port) {
    shop = "http://" + Tomcat.LOOPBACK + ":" + port;
  }

  /** One visit; the same number, the same visit. Returns a checksum of all that came back. */
  long visit(int number) throws IOException, WorkloadFailure {
    session = null;
    // Its numbers are specified: the same on every JVM.
    Random random = new Random(number);
    long sum = look(random.nextInt(Shop.DEPARTMENTS));
    for (int things = LEAST_THINGS + random.nextInt(MORE_THINGS); things > 0; things--) {
      int product = random.nextInt(Shop.PRODUCTS);
      int pieces = 1 + random.nextInt(MOST_PIECES);
      sum = Checksum.of(sum, post("/cart", "product=" + product + "&pieces=" + pieces));
    }
    sum = Checksum.of(sum, look(random.nextInt(Shop.DEPARTMENTS)));
    return Checksum.of(number, sum, post("/order", ""));
  }

  private long look(int department) throws IOException, WorkloadFailure {
    return answer(request("/catalogue?department=" + department));
  }

  private long post(String path, String form) throws IOException, WorkloadFailure {
    HttpURLConnection request = request(path);
    request.setRequestMethod("POST");
    request.setRequestProperty("Content-Type", "application/x-www-form-urlencoded");
    request.setDoOutput(true);
    byte[] body = form.getBytes(StandardCharsets.US_ASCII);
    request.setFixedLengthStreamingMode(body.length);
    try (OutputStream stream = request.getOutputStream()) {
      stream.write(body);
    }
    return answer(request);
  }

  private HttpURLConnection request(String path) throws IOException {
    HttpURLConnection request =
        (HttpURLConnection) URI.create(shop + path).toURL().openConnection();
    if (session != null) {
      request.setRequestProperty("Cookie", session);
    }
    return request;
  }

  private long answer(HttpURLConnection request) throws IOException, WorkloadFailure {
    int status = request.getResponseCode();
    if (status != HttpURLConnection.HTTP_OK) {
      throw new WorkloadFailure(request.getURL() + ": HTTP status " + status + ", expected 200");
    }
    String cookie = request.getHeaderField("Set-Cookie");
    if (cookie != null) {
      session = cookie.split(";", 2)[0];
    }
    // To its end, or the connection would not be used again.
    try (InputStream stream = request.getInputStream()) {
      byte[] body = stream.readAllBytes();
      return Checksum.of(body, body.length);
    }
  }
}
