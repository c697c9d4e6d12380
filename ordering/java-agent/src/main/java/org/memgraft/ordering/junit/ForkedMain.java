package org.memgraft.ordering.junit;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectUniqueId;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * The other JVM's main: runs one test, by its unique id. Exit code 0: it passed; 1: it failed, with
 * the stack trace on standard error; 2: there is no such test.
 */
public final class ForkedMain {
  static final int FAILED = 1;
  private static final int NONE = 2;

  private static volatile boolean here;

  private ForkedMain() {}

  /** Whether this JVM was started for one test. */
  static boolean runsHere() {
    return here;
  }

  /**
   * @param arguments the test's unique id
   */
  public static void main(String[] arguments) {
    here = true;
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(selectUniqueId(arguments[0]))
                .build(),
            listener);
    TestExecutionSummary summary = listener.getSummary();
    PrintWriter out = new PrintWriter(System.err, false, StandardCharsets.UTF_8);
    summary.getFailures().forEach(failure -> failure.getException().printStackTrace(out));
    out.flush();
    // Threads that the test left behind do not keep the JVM.
    if (summary.getTotalFailureCount() > 0) {
      System.exit(FAILED);
    }
    System.exit(summary.getTestsSucceededCount() + summary.getTestsAbortedCount() > 0 ? 0 : NONE);
  }
}
