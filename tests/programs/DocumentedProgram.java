/** The app.jar of the documents' examples: allocates as many megabytes as MEGABYTES says. */
public final class DocumentedProgram {
  public static void main(String[] arguments) {
    AllocateSteadily.main(new String[] {System.getenv().getOrDefault("MEGABYTES", "100")});
  }
}
