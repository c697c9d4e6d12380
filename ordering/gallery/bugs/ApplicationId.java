package bugs;

/**
 * One thread registers an application and keeps the identifier that it gets; another one waits for
 * it. The pattern of SPARK-3567.
 *
 * <p>Lacks: bugs.ApplicationId.identifier
 */
final class ApplicationId {
  private String identifier;

  private String await() {
    while (identifier == null) {}
    return identifier;
  }

  public static void main(String[] arguments) throws InterruptedException {
    ApplicationId application = new ApplicationId();
    Thread client = new Thread(() -> System.out.println(application.await()), "client");
    client.setDaemon(true);
    client.start();
    Thread.sleep(300);
    application.identifier = "application-1";
    client.join(1000);
    if (client.isAlive()) {
      System.out.println("the client waits");
      System.exit(1);
    }
  }
}
