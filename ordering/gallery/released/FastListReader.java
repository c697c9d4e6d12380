package released;

import org.apache.commons.collections.FastArrayList;

/**
 * Commons Collections 3.2.2: a list for threads that read much and seldom change it, which puts a
 * new list in the place of the old one. Readers go on with the old one. Its documentation warns of
 * "unexpected failures on some architectures"; version 4 has the class no more.
 *
 * <p>Lacks: org.apache.commons.collections.FastArrayList.list
 */
final class FastListReader {
  private FastListReader() {}

  private static void await(FastArrayList list) {
    while (list.size() == 0) {
      // Nothing has come yet.
    }
  }

  @SuppressWarnings("unchecked")
  public static void main(String[] arguments) throws InterruptedException {
    FastArrayList list = new FastArrayList();
    list.setFast(true);
    Thread reader = new Thread(() -> await(list), "reader");
    reader.setDaemon(true);
    reader.start();
    Thread.sleep(300);
    list.add("one");
    reader.join(1000);
    if (reader.isAlive()) {
      System.out.println("the reader does not see what was added");
      System.exit(1);
    }
  }
}
