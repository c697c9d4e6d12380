package bugs;

import java.util.concurrent.CyclicBarrier;

/**
 * One thread stores a result and then says that it is there; another one sees that it is there and
 * reads it. On a machine that reorders loads, or stores, the result may be older.
 *
 * <p>Shows with: --weak
 *
 * <p>Lacks: bugs.MessagePassing$Mail.there
 */
final class MessagePassing {
  private static final class Mail {
    private int letter;
    private boolean there;

    void send() {
      letter = 42;
      there = true;
    }

    /** What was read; 42 where nothing came in time. */
    int receive() {
      for (int looks = 0; looks < 100; looks++) {
        if (there) {
          return letter;
        }
      }
      return 42;
    }
  }

  public static void main(String[] arguments) throws Exception {
    CyclicBarrier together = new CyclicBarrier(2);
    Mail[] mails = new Mail[500];
    for (int i = 0; i < mails.length; i++) {
      mails[i] = new Mail();
    }
    Thread sender =
        new Thread(
            () -> {
              for (Mail mail : mails) {
                Rounds.await(together);
                mail.send();
              }
            },
            "sender");
    sender.start();
    int wrong = 0;
    for (Mail mail : mails) {
      Rounds.await(together);
      wrong += mail.receive() == 42 ? 0 : 1;
    }
    sender.join();
    if (wrong > 0) {
      System.out.println(wrong + " letters were read before they were written");
      System.exit(1);
    }
  }
}
