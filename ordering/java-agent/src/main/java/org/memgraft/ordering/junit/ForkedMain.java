package org.memgraft.ordering.junit;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectUniqueId;

import java.io.IOException;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * The other JVM's main: runs one test, by its unique id. Exit code 0: it passed; 1: it failed, with
 * the stack trace on standard error; 2: there is no such test. It ends when its standard input
 * does, where that is asked for.
 */
public final class ForkedMain {
  static final String WATCHED = "watched";
  private static final int FAILED = 1;
  private static final int NONE = 2;

  private static volatile boolean here;

  private ForkedMain() {}

  /** Whether this JVM was started for one test. */
  static boolean runsHere() {
    return here;
  }

  /**
   * @param arguments the test's unique id, and {@link #WATCHED} where whoever started this JVM
   *     holds its standard input open
   */
  public static void main(String[] arguments) {
    here = true;
    if (arguments.length > 1 && arguments[1].equals(WATCHED)) {
      Thread watching = new Thread(ForkedMain::endWithTheBuild, "memgraft watching");
      watching.setDaemon(true);
      watching.start();
    }
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(selectUniqueId(arguments[0]))
                .build(),
            listener);
    TestExecutionSummary summary = listener.getSummary();
    summary.getFailures().forEach(failure -> failure.getException().printStackTrace());
    // Threads that the test left behind do not keep the JVM.
    if (summary.getTotalFailureCount() > 0) {
      System.exit(FAILED);
    }
    if (summary.getTestsSucceededCount() + summary.getTestsAbortedCount() == 0) {
      System.err.println("JUnit finds no test " + arguments[0]);
      System.exit(NONE);
    }
    System.exit(0);
  }

  /** A build that was killed leaves no JVM behind. */
  private static void endWithTheBuild() {
    try {
      while (System.in.read() >= 0) {
        // Nobody says anything.
      }
    } catch (IOException e) {
      // It is as good as closed.
    }
    Runtime.getRuntime().halt(NONE);
  }
}
