package org.memgraft.workloads.tomcat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.memgraft.workloads.harness.Meters;
import org.memgraft.workloads.harness.Size;
import org.memgraft.workloads.harness.Worker;
import org.memgraft.workloads.harness.Workload;

/** A small shop on Tomcat, and its customers, who come over HTTP from this JVM. */
public final class Tomcat implements Workload {
  static final String LOOPBACK = "127.0.0.1";

  /** How Tomcat calls the threads of its connector. */
  private static final String SERVERS = "http-nio-";

  private static final int SMALL_VISITS = 60;
  private static final int DEFAULT_VISITS = 1_200;

  private int threads = 1;
  private int visits;
  private final org.apache.catalina.startup.Tomcat server =
      new org.apache.catalina.startup.Tomcat();
  private Path folder;
  private int port;

  @Override
  public String expectedChecksum(Size size) {
    return size.pick("8f2db7e71e7cc88f", "9fe43dc250e1de60");
  }

  @Override
  public void useThreads(int threads) {
    this.threads = threads;
  }

  @Override
  public Map<Long, Meters.Used> usedByOwnThreads() {
    return Meters.usedByThreadsNamed(SERVERS);
  }

  @Override
  public void prepare(Size size) throws IOException, LifecycleException {
    visits = size.pick(SMALL_VISITS, DEFAULT_VISITS);
    // As many connections as customers stay open; Java keeps 5 unless told otherwise.
    System.setProperty("http.maxConnections", Integer.toString(threads));
    folder = Files.createTempDirectory("memgraft-tomcat-");
    server.setBaseDir(folder.toString());
    Connector connector = new Connector("org.apache.coyote.http11.Http11NioProtocol");
    connector.setPort(0);
    connector.setProperty("address", LOOPBACK);
    // All of them from the start, so that none ends and takes its CPU time along.
    connector.setProperty("maxThreads", Integer.toString(threads));
    connector.setProperty("minSpareThreads", Integer.toString(threads));
    connector.setProperty("maxKeepAliveRequests", "-1");
    server.setConnector(connector);
    addShop();
    server.start();
    port = connector.getLocalPort();
  }

  private void addShop() {
    Shop shop = new Shop();
    Context context = server.addContext("", null);
    org.apache.catalina.startup.Tomcat.addServlet(context, "catalogue", new CatalogueServlet(shop));
    org.apache.catalina.startup.Tomcat.addServlet(context, "cart", new CartServlet());
    org.apache.catalina.startup.Tomcat.addServlet(context, "order", new OrderServlet(shop));
    for (String name : List.of("catalogue", "cart", "order")) {
      context.addServletMappingDecoded("/" + name, name);
    }
  }

  @Override
  public int items() {
    return visits;
  }

  @Override
  public Worker newWorker() {
    return new Customer(port)::visit;
  }

  @Override
  public void close() throws IOException, LifecycleException {
    if (folder == null) {
      return; // not even prepared
    }
    server.stop();
    server.destroy();
    // What is left of Tomcat's own folders.
    try (Stream<Path> all = Files.walk(folder)) {
      all.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
    }
  }
}
