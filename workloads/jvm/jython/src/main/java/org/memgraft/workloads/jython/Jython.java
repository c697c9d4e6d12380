package org.memgraft.workloads.jython;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.Size;
import org.memgraft.workloads.harness.Worker;
import org.memgraft.workloads.harness.Workload;
import org.python.core.Py;
import org.python.core.PyCode;
import org.python.core.PyObject;
import org.python.core.PySystemState;
import org.python.util.PythonInterpreter;

/** Runs a Python script, in one interpreter per thread. */
public final class Jython implements Workload {
  private static final String SCRIPT = "accesslog.py";
  private static final int SMALL_ITEMS = 20;
  private static final int DEFAULT_ITEMS = 200;
  private static final int SMALL_LINES = 20;
  private static final int DEFAULT_LINES = 200;

  private int items;
  private int lines;
  private PyCode script;

  @Override
  public String expectedChecksum(Size size) {
    return size.pick("7de977b62722c730", "5f67c98f9bf13590");
  }

  @Override
  public void prepare(Size size) throws IOException {
    items = size.pick(SMALL_ITEMS, DEFAULT_ITEMS);
    lines = size.pick(SMALL_LINES, DEFAULT_LINES);
    Properties properties = new Properties();
    // Jython would write a cache of the packages it finds, into its own folder.
    properties.setProperty("python.cachedir.skip", "true");
    // Nothing of the user's own Python must get in.
    properties.setProperty("python.import.site", "false");
    PythonInterpreter.initialize(System.getProperties(), properties, new String[0]);
    try (InputStream in = Jython.class.getResourceAsStream(SCRIPT);
        PythonInterpreter compiler = new PythonInterpreter()) {
      script = compiler.compile(new String(in.readAllBytes(), StandardCharsets.UTF_8), SCRIPT);
    }
  }

  @Override
  public int items() {
    return items;
  }

  @Override
  public Worker newWorker() {
    PythonInterpreter interpreter = new PythonInterpreter(null, new PySystemState());
    interpreter.exec(script);
    PyObject work = interpreter.get("work");
    PySystemState system = interpreter.getSystemState();
    return item -> {
      Py.setSystemState(system);
      PyObject result = work.__call__(Py.newInteger(item), Py.newInteger(lines));
      return Checksum.of(item, result.asLong());
    };
  }
}
