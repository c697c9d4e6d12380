package org.memgraft.workloads.h2;

import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.Size;
import org.memgraft.workloads.harness.Worker;
import org.memgraft.workloads.harness.Workload;
import org.memgraft.workloads.harness.WorkloadFailure;

/**
 * Transactions of a small wholesale company on an in-memory database. Threads meet on the same rows
 * and wait for each other; every change commutes, so that the sums at the end are always the same.
 */
public final class H2 implements Workload {
  private static final int SMALL_TRANSACTIONS = 400;
  private static final int DEFAULT_TRANSACTIONS = 12000;

  /** Far more than any run has needed; without a limit a broken database would hang. */
  private static final int MOST_TRIES = 100;

  // H2's ErrorCode: https://h2database.com/javadoc/org/h2/api/ErrorCode.html
  private static final int DEADLOCK = 40001;
  private static final int LOCK_TIMEOUT = 50200;
  private static final int CONCURRENT_UPDATE = 90131;

  private static final String URL = "jdbc:h2:mem:company;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=1000";

  private Company company;
  private int transactions;

  @Override
  public String expectedChecksum(Size size) {
    return size.pick("a3e36d7df060207c", "b19a07fe70d19267");
  }

  @Override
  public void prepare(Size size) throws IOException, SQLException {
    transactions = size.pick(SMALL_TRANSACTIONS, DEFAULT_TRANSACTIONS);
    company = new Company(DriverManager.getConnection(URL), size);
    company.create();
  }

  @Override
  public int items() {
    return transactions;
  }

  @Override
  public void beforeIteration() throws SQLException {
    company.fill();
  }

  @Override
  public boolean repeatable() {
    return false;
  }

  @Override
  public Worker newWorker() throws SQLException {
    Connection connection = DriverManager.getConnection(URL);
    connection.setAutoCommit(false);
    Transactions clerk = new Transactions(connection, company);
    return item -> untilItTakes(clerk, connection, item);
  }

  private static long untilItTakes(Transactions clerk, Connection connection, int item)
      throws SQLException, WorkloadFailure {
    for (int tries = 0; tries < MOST_TRIES; tries++) {
      try {
        return clerk.run(item);
      } catch (SQLException e) {
        connection.rollback();
        if (!isCollision(e)) {
          throw e;
        }
      }
    }
    throw new WorkloadFailure(
        "transaction " + item + " collided with others " + MOST_TRIES + " times");
  }

  private static boolean isCollision(SQLException e) {
    int code = e.getErrorCode();
    return code == DEADLOCK || code == LOCK_TIMEOUT || code == CONCURRENT_UPDATE;
  }

  @Override
  public long checksum(long sumOfItems) throws SQLException {
    return Checksum.of(sumOfItems, company.checksum());
  }
}
