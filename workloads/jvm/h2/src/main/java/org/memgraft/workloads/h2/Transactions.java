package org.memgraft.workloads.h2;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Random;
import org.memgraft.workloads.harness.Checksum;

/**
 * The transactions, in about the proportions of TPC-C. What a transaction does depends on its
 * number only; what it returns depends on nothing that another transaction changes.
 */
final class Transactions {
  private static final int NEW_ORDERS_PER_CENT = 45;
  private static final int PAYMENTS_PER_CENT = 43;
  private static final int STATUS_PER_CENT = 8;
  private static final int ORDERS_PER_ROLLBACK = 100;
  private static final int LOW_STOCK = 1200;

  private final Connection connection;
  private final Company company;
  private final PreparedStatement lockDistrict;
  private final PreparedStatement takeOrderNumber;
  private final PreparedStatement price;
  private final PreparedStatement takeFromStock;
  private final PreparedStatement addLine;
  private final PreparedStatement addOrder;
  private final PreparedStatement charge;
  private final PreparedStatement receive;
  private final PreparedStatement pay;
  private final PreparedStatement addPayment;
  private final PreparedStatement ordersOfCustomer;
  private final PreparedStatement customersByName;
  private final PreparedStatement lowStock;

  Transactions(Connection connection, Company company) throws SQLException {
    this.connection = connection;
    this.company = company;
    lockDistrict = prepare("SELECT next_order FROM district WHERE id = ? FOR UPDATE");
    takeOrderNumber = prepare("UPDATE district SET next_order = next_order + 1 WHERE id = ?");
    price = prepare("SELECT name, price FROM item WHERE id = ?");
    takeFromStock =
        prepare("UPDATE stock SET quantity = quantity - ?, ordered = ordered + 1 WHERE item = ?");
    addLine = prepare("INSERT INTO order_line VALUES(?, ?, ?, ?, ?, ?)");
    addOrder = prepare("INSERT INTO orders VALUES(?, ?, ?, ?)");
    charge = prepare("UPDATE customer SET balance = balance - ? WHERE id = ?");
    receive = prepare("UPDATE district SET received = received + ? WHERE id = ?");
    pay =
        prepare("UPDATE customer SET balance = balance + ?, payments = payments + 1 WHERE id = ?");
    addPayment = prepare("INSERT INTO payment(customer, district, amount) VALUES(?, ?, ?)");
    ordersOfCustomer =
        prepare(
            "SELECT o.number, o.total, SUM(l.amount) FROM orders o JOIN order_line l"
                + " ON l.district = o.district AND l.number = o.number"
                + " WHERE o.customer = ? GROUP BY o.number, o.total ORDER BY o.number DESC");
    customersByName =
        prepare("SELECT id, notes FROM customer WHERE district = ? AND last_name = ? ORDER BY id");
    lowStock = prepare("SELECT COUNT(*) FROM stock WHERE item BETWEEN ? AND ? AND quantity < ?");
  }

  private PreparedStatement prepare(String sql) throws SQLException {
    return connection.prepareStatement(sql);
  }

  long run(int number) throws SQLException {
    Random random = new Random(number);
    int kind = random.nextInt(100);
    if (kind < NEW_ORDERS_PER_CENT) {
      return newOrder(number, random);
    }
    if (kind < NEW_ORDERS_PER_CENT + PAYMENTS_PER_CENT) {
      return payment(random);
    }
    if (kind < NEW_ORDERS_PER_CENT + PAYMENTS_PER_CENT + STATUS_PER_CENT) {
      return orderStatus(random);
    }
    return stockLevel(random);
  }

  private long newOrder(int transaction, Random random) throws SQLException {
    int customer = random.nextInt(company.customers());
    int district = company.districtOf(customer);
    int order;
    try (ResultSet row = query(lockDistrict, district)) {
      row.next();
      order = row.getInt(1);
    }
    update(takeOrderNumber, district);

    // In ascending order, as a careful program would: most deadlocks do not come about.
    int[] items =
        random.ints(5 + random.nextInt(11), 0, company.items()).sorted().distinct().toArray();
    BigDecimal total = Company.cents(0);
    for (int line = 0; line < items.length; line++) {
      int quantity = 1 + random.nextInt(10);
      BigDecimal amount = priceOf(items[line]).multiply(BigDecimal.valueOf(quantity));
      update(takeFromStock, quantity, items[line]);
      update(addLine, district, order, line, items[line], quantity, amount);
      total = total.add(amount);
    }
    update(addOrder, district, order, customer, total);
    update(charge, total, customer);

    if (transaction % ORDERS_PER_ROLLBACK == 0) {
      connection.rollback();
    } else {
      connection.commit();
    }
    return Checksum.of(transaction, items.length, total.unscaledValue().longValueExact());
  }

  private BigDecimal priceOf(int item) throws SQLException {
    try (ResultSet row = query(price, item)) {
      row.next();
      return row.getBigDecimal(2);
    }
  }

  private long payment(Random random) throws SQLException {
    int customer = customer(random);
    BigDecimal amount = Company.cents(100 + random.nextInt(500_000));
    update(receive, amount, company.districtOf(customer));
    update(pay, amount, customer);
    update(addPayment, customer, company.districtOf(customer), amount);
    connection.commit();
    return Checksum.of(customer, amount.unscaledValue().longValueExact());
  }

  /** Found by last name, as most customers who pay are in TPC-C: the first of that name. */
  private int customer(Random random) throws SQLException {
    int district = random.nextInt(company.districts());
    String name = company.lastName(random.nextInt(company.customers()));
    try (ResultSet rows = query(customersByName, district, name)) {
      rows.next();
      return rows.getInt(1);
    }
  }

  /** Reads what others are just adding: it returns only whether it was consistent. */
  private long orderStatus(Random random) throws SQLException {
    long inconsistent = 0;
    try (ResultSet rows = query(ordersOfCustomer, customer(random))) {
      while (rows.next()) {
        if (rows.getBigDecimal(2).compareTo(rows.getBigDecimal(3)) != 0) {
          inconsistent++;
        }
      }
    }
    connection.commit();
    return inconsistent;
  }

  private long stockLevel(Random random) throws SQLException {
    int first = random.nextInt(company.items());
    try (ResultSet row = query(lowStock, first, first + company.items() / 10, LOW_STOCK)) {
      row.next();
      row.getInt(1);
    }
    connection.commit();
    return first;
  }

  private static ResultSet query(PreparedStatement statement, Object... values)
      throws SQLException {
    set(statement, values);
    return statement.executeQuery();
  }

  private static void update(PreparedStatement statement, Object... values) throws SQLException {
    set(statement, values);
    statement.executeUpdate();
  }

  private static void set(PreparedStatement statement, Object... values) throws SQLException {
    for (int i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i]);
    }
  }
}
