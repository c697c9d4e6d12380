package org.memgraft.workloads.h2;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Random;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.Size;

/** The tables: what they hold before an iteration, and what must be true of them after it. */
final class Company {
  private static final int LAST_NAMES = 50;
  private static final int CUSTOMERS_PER_DISTRICT = 100;

  private static final List<String> TABLES =
      List.of("item", "stock", "district", "customer", "orders", "order_line", "payment");

  /** Sums that do not depend on the order in which transactions came. */
  private static final List<String> SUMS =
      List.of(
          "SELECT SUM(quantity), SUM(ordered), SUM(quantity * CAST(item AS BIGINT)) FROM stock",
          "SELECT SUM(received) * 100, SUM(next_order), SUM(next_order * id) FROM district",
          "SELECT SUM(balance) * 100, SUM(payments), SUM(balance * id) * 100 FROM customer",
          "SELECT COUNT(*), SUM(total) * 100, SUM(customer) FROM orders",
          "SELECT COUNT(*), SUM(amount) * 100, SUM(quantity * line) FROM order_line",
          "SELECT COUNT(*), SUM(amount) * 100, SUM(customer) FROM payment");

  private final Connection connection;
  private final int districts;
  private final int items;

  Company(Connection connection, Size size) {
    this.connection = connection;
    this.districts = size.pick(4, 20);
    this.items = size.pick(200, 2000);
  }

  int districts() {
    return districts;
  }

  int items() {
    return items;
  }

  int customers() {
    return districts * CUSTOMERS_PER_DISTRICT;
  }

  int districtOf(int customer) {
    return customer / CUSTOMERS_PER_DISTRICT;
  }

  String lastName(int number) {
    return "name" + number % LAST_NAMES;
  }

  void create() throws IOException, SQLException {
    try (InputStream schema = Company.class.getResourceAsStream("schema.sql");
        Statement statement = connection.createStatement()) {
      statement.execute(new String(schema.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  /** Empties and refills all tables, always with the same rows. */
  void fill() throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET REFERENTIAL_INTEGRITY FALSE");
      for (String table : TABLES) {
        statement.execute("TRUNCATE TABLE " + table);
      }
      statement.execute("SET REFERENTIAL_INTEGRITY TRUE");
    }
    Random random = new Random(11);
    insert(
        "INSERT INTO item VALUES(?, ?, ?)",
        items,
        id -> new Object[] {id, "item" + id, cents(100 + random.nextInt(9900))});
    insert(
        "INSERT INTO stock VALUES(?, ?, ?)",
        items,
        id -> new Object[] {id, 1000 + random.nextInt(1000), 0});
    insert(
        "INSERT INTO district VALUES(?, ?, ?, ?)",
        districts,
        id -> new Object[] {id, "district" + id, cents(0), 1});
    insert(
        "INSERT INTO customer VALUES(?, ?, ?, ?, ?, ?)",
        customers(),
        id ->
            new Object[] {
              id, districtOf(id), lastName(id), "good customer ".repeat(10), cents(100_000), 0
            });
  }

  private interface Row {
    Object[] values(int id);
  }

  private void insert(String sql, int rows, Row row) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int id = 0; id < rows; id++) {
        Object[] values = row.values(id);
        for (int column = 0; column < values.length; column++) {
          statement.setObject(column + 1, values[column]);
        }
        statement.addBatch();
      }
      statement.executeBatch();
    }
  }

  static BigDecimal cents(int amount) {
    return BigDecimal.valueOf(amount, 2);
  }

  long checksum() throws SQLException {
    long checksum = 0;
    try (Statement statement = connection.createStatement()) {
      for (String sql : SUMS) {
        try (ResultSet row = statement.executeQuery(sql)) {
          row.next();
          for (int column = 1; column <= row.getMetaData().getColumnCount(); column++) {
            checksum = Checksum.of(checksum, row.getLong(column));
          }
        }
      }
    }
    return checksum;
  }
}
