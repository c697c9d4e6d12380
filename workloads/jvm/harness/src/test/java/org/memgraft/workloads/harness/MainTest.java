package org.memgraft.workloads.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class MainTest {
  private static final Pattern LINE =
      Pattern.compile(
          "\\{\"memgraft_iteration\": (\\d+), \"workload\": \"sums\","
              + " \"wall_seconds\": \\d+\\.\\d+,"
              + " \"cpu_seconds\": \\d+\\.\\d+, \"worker_cpu_seconds\": \\d+\\.\\d+,"
              + " \"allocated_bytes\": (\\d+), \"collections\": (\\d+),"
              + " \"checksum\": \"([0-9a-f]{16})\"}");

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  /** Adds up its items; what it expects and where it fails is up to the test. */
  private static final class Sums implements Workload {
    private static final int ITEMS = 1000;
    private long expected = (long) ITEMS * (ITEMS - 1) / 2;
    private Exception failure;
    private int wrongFromIteration = Integer.MAX_VALUE;
    private int iterations;
    private int bytesPerItem;
    private int collectedItems;
    private boolean repeatable = true;
    private int wrongFromCall = Integer.MAX_VALUE;
    private final AtomicInteger calls = new AtomicInteger();
    private volatile byte[] sink;
    private ExecutorService own;
    private int threads;
    private int closed;
    private boolean closingFails;

    @Override
    public void useThreads(int threads) {
      this.threads = threads;
    }

    @Override
    public Map<Long, Meters.Used> usedByOwnThreads() {
      return own == null ? Map.of() : Meters.usedByThreadsNamed("own thread");
    }

    @Override
    public int defaultIterations(Size size) {
      return 2;
    }

    @Override
    public String expectedChecksum(Size size) {
      return Checksum.text(expected);
    }

    @Override
    public void prepare(Size size) {}

    @Override
    public int items() {
      return ITEMS;
    }

    @Override
    public boolean repeatable() {
      return repeatable;
    }

    @Override
    public void beforeIteration() {
      iterations++;
    }

    @Override
    public Worker newWorker() {
      return item -> {
        if (failure != null && item == ITEMS / 2) {
          throw failure;
        }
        if (item < collectedItems) {
          System.gc();
        }
        if (own == null) {
          sink = new byte[bytesPerItem];
        } else {
          own.submit(() -> sink = new byte[bytesPerItem]).get();
        }
        return calls.incrementAndGet() >= wrongFromCall ? 0 : item;
      };
    }

    @Override
    public void close() {
      closed++;
      if (closingFails) {
        throw new IllegalStateException("not open");
      }
    }

    @Override
    public long checksum(long sumOfItems) {
      return iterations > wrongFromIteration ? 0 : sumOfItems;
    }
  }

  private int run(Sums sums, String... arguments) {
    return Main.run(List.of(sums), arguments, printer(out), printer(err));
  }

  private static PrintStream printer(ByteArrayOutputStream bytes) {
    return new PrintStream(bytes, true, StandardCharsets.UTF_8);
  }

  private List<String> lines(ByteArrayOutputStream bytes) {
    return bytes.toString(StandardCharsets.UTF_8).lines().toList();
  }

  @Test
  void printsOneJsonLinePerIterationAndNothingElse() {
    assertEquals(Main.DONE, run(new Sums(), "sums", "--iterations", "3"));
    List<String> lines = lines(out);
    assertEquals(3, lines.size());
    for (int i = 0; i < lines.size(); i++) {
      var matcher = LINE.matcher(lines.get(i));
      assertTrue(matcher.matches(), lines.get(i));
      assertEquals(Integer.toString(i), matcher.group(1));
    }
    assertEquals(List.of(), lines(err));
  }

  @Test
  void workIsTheSameForAnyNumberOfThreads() {
    for (String threads : List.of("1", "2", "7")) {
      assertEquals(Main.DONE, run(new Sums(), "sums", "--threads", threads));
    }
  }

  @Test
  void itemsAreDoneAgainUntilThereAreEnough() {
    Sums sums = new Sums();
    assertEquals(Main.DONE, run(sums, "sums", "--threads", "5", "--items", "2001"));
    assertEquals(2 * 3 * Sums.ITEMS, sums.calls.get());
    sums = new Sums();
    assertEquals(Main.DONE, run(sums, "sums", "--items", "1000"));
    assertEquals(2 * Sums.ITEMS, sums.calls.get());
  }

  @Test
  void everyRoundIsChecked() {
    Sums sums = new Sums();
    sums.wrongFromCall = 2 * Sums.ITEMS + 1;
    assertEquals(Main.FAILED, run(sums, "sums", "--items", "3000", "--iterations", "1"));
    assertTrue(lines(err).get(0).startsWith("sums: iteration 0: checksum 0"), err::toString);
  }

  @Test
  void itemsThatCannotBeDoneAgainAreNot() {
    Sums sums = new Sums();
    sums.repeatable = false;
    assertEquals(Main.DONE, run(sums, "sums", "--items", "1000"));
    assertEquals(Main.WRONG_USAGE, run(sums, "sums", "--items", "1001"));
    assertEquals(
        List.of(
            "sums: --items 1001: has 1000 items that cannot be done again in one iteration; expected"
                + " at most 1000"),
        lines(err));
  }

  /** That every iteration reports what its items allocated, and a little for all else. */
  private void assertIterationsAllocated(int bytesPerItem) {
    long least = (long) Sums.ITEMS * bytesPerItem;
    for (String line : lines(out)) {
      var matcher = LINE.matcher(line);
      assertTrue(matcher.matches(), line);
      long allocated = Long.parseLong(matcher.group(2));
      assertTrue(allocated >= least && allocated < least + least / 4, line);
    }
  }

  @Test
  void reportsWhatAllWorkersAllocated() {
    Sums sums = new Sums();
    sums.bytesPerItem = 10_000;
    assertEquals(Main.DONE, run(sums, "sums", "--threads", "3", "--iterations", "2"));
    assertIterationsAllocated(sums.bytesPerItem);
  }

  @Test
  void reportsWhatAnOwnThreadAllocatedToo() {
    Sums sums = new Sums();
    sums.bytesPerItem = 100_000;
    sums.own = Executors.newSingleThreadExecutor(task -> new Thread(task, "own thread 1"));
    try {
      assertEquals(Main.DONE, run(sums, "sums", "--threads", "3", "--iterations", "2"));
    } finally {
      sums.own.shutdown();
    }
    assertEquals(3, sums.threads);
    assertIterationsAllocated(sums.bytesPerItem);
  }

  @Test
  void reportsTheCollectionsOfEachIteration() {
    Sums sums = new Sums();
    sums.collectedItems = 10;
    assertEquals(Main.DONE, run(sums, "sums", "--threads", "1", "--iterations", "4"));
    for (String line : lines(out)) {
      var matcher = LINE.matcher(line);
      assertTrue(matcher.matches(), line);
      long collections = Long.parseLong(matcher.group(3));
      // Some collectors count a collection of the young generation for each.
      assertTrue(collections >= 10 && collections < 25, line);
    }
  }

  @Test
  void isClosedOnceWhateverHappened() {
    Sums sums = new Sums();
    assertEquals(Main.DONE, run(sums, "sums"));
    assertEquals(1, sums.closed);
    sums.failure = new WorkloadFailure("two and two is five");
    assertEquals(Main.FAILED, run(sums, "sums"));
    assertEquals(2, sums.closed);
  }

  @Test
  void whatFailedFirstIsSaidAlsoWhereClosingFails() {
    Sums sums = new Sums();
    sums.failure = new WorkloadFailure("two and two is five");
    sums.closingFails = true;
    assertEquals(Main.FAILED, run(sums, "sums"));
    assertTrue(String.join(" ", lines(err)).contains("two and two is five"), lines(err).toString());
    sums.failure = null;
    assertEquals(Main.FAILED, run(sums, "sums"));
    assertTrue(String.join(" ", lines(err)).contains("not open"), lines(err).toString());
  }

  @Test
  void oneProcessHasNoPartsToStandAlone() {
    assertEquals(Main.WRONG_USAGE, run(new Sums(), "sums", "--standalone"));
    assertEquals(
        List.of("sums: --standalone: has one process only; expected a workload of Spark"),
        lines(err));
  }

  @Test
  void wrongChecksumFails() {
    Sums sums = new Sums();
    sums.expected = 1;
    assertEquals(Main.FAILED, run(sums, "sums", "--size", "small"));
    assertEquals(
        List.of(
            "sums: iteration 0: checksum 0000000000079f2c, expected 0000000000000001 for --size"
                + " small: this JVM computed something else"),
        lines(err));
  }

  @Test
  void checksumThatChangesFails() {
    Sums sums = new Sums();
    sums.wrongFromIteration = 2;
    assertEquals(Main.FAILED, run(sums, "sums", "--iterations", "5"));
    assertEquals(3, lines(out).size());
    assertTrue(lines(err).get(0).startsWith("sums: iteration 2: checksum 0"), err::toString);
  }

  @Test
  void wrongWorkIsOneLine() {
    Sums sums = new Sums();
    sums.failure = new WorkloadFailure("two and two is five");
    assertEquals(Main.FAILED, run(sums, "sums", "--threads", "1"));
    assertEquals(List.of("sums: iteration 0: worker-0: two and two is five"), lines(err));
    assertEquals(List.of(), lines(out));
  }

  @Test
  void unforeseenExceptionIsOneLineAndItsTrace() {
    Sums sums = new Sums();
    sums.failure = new IllegalStateException("lost count");
    assertEquals(Main.FAILED, run(sums, "sums", "--threads", "1"));
    assertEquals(
        "sums: iteration 0: worker-0: java.lang.IllegalStateException: lost count",
        lines(err).get(0));
    assertTrue(lines(err).get(2).contains("MainTest"), err::toString);
  }

  @Test
  void unknownWorkloadIsWrongUsage() {
    assertEquals(Main.WRONG_USAGE, run(new Sums(), "products"));
    assertEquals(
        List.of("workload: no workload 'products' on this class path, which has: sums"),
        lines(err));
  }

  @Test
  void wrongOptionIsWrongUsage() {
    assertEquals(Main.WRONG_USAGE, run(new Sums(), "sums", "--threads", "none"));
    assertEquals(1, lines(err).size());
  }

  @Test
  void helpGoesToStandardOutput() {
    assertEquals(Main.DONE, run(new Sums(), "--help"));
    assertTrue(out.toString(StandardCharsets.UTF_8).contains("--iterations"));
    assertEquals(List.of(), lines(err));
  }
}
