package bugs;

/**
 * A loop asks the nodes of a cluster for their votes until somebody tells it to stop. The pattern
 * of ARTEMIS-1842.
 *
 * <p>Lacks: bugs.VoteLoop$Quorum.stopped
 */
final class VoteLoop {
  private static final class Quorum extends Thread {
    private final int[] nodes = {3, 1, 4, 1, 5};
    private boolean stopped;
    private int majority;

    @Override
    public void run() {
      while (!stopped) {
        int votes = 0;
        for (int node : nodes) {
          votes += node & 1;
        }
        majority = Math.max(majority, votes);
      }
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    Quorum quorum = new Quorum();
    quorum.setDaemon(true);
    quorum.start();
    Thread.sleep(300);
    quorum.stopped = true;
    quorum.join(1000);
    if (quorum.isAlive()) {
      System.out.println("the vote goes on");
      System.exit(1);
    }
  }
}
