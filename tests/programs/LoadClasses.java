import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Collections;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** Loads every class of the jars that are its arguments, and prints how many. */
final class LoadClasses {
  private static final String ENDING = ".class";

  private LoadClasses() {}

  public static void main(String[] jars) throws Exception {
    URL[] urls = new URL[jars.length];
    for (int i = 0; i < jars.length; i++) {
      urls[i] = Path.of(jars[i]).toUri().toURL();
    }
    int loaded = 0;
    try (URLClassLoader loader = new URLClassLoader(urls)) {
      for (String jar : jars) {
        try (JarFile file = new JarFile(jar)) {
          for (JarEntry entry : Collections.list(file.entries())) {
            loaded += load(entry.getName(), loader);
          }
        }
      }
    }
    System.out.println(loaded);
  }

  private static int load(String file, ClassLoader loader) throws ClassNotFoundException {
    boolean other = file.startsWith("META-INF/") || file.endsWith("-info.class");
    if (other || !file.endsWith(ENDING)) {
      return 0;
    }
    String name = file.substring(0, file.length() - ENDING.length()).replace('/', '.');
    try {
      Class.forName(name, false, loader);
      return 1;
    } catch (LinkageError e) {
      // It names a class of another library.
      return 0;
    }
  }
}
