package org.memgraft.workloads.spark;

import java.io.IOException;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.master.Master;
import org.apache.spark.deploy.worker.Worker;
import org.apache.spark.rpc.RpcEnv;

/**
 * Spark's master or a worker, in a JVM that lives as long as the one that started it: until its
 * standard input ends.
 *
 * <p>{@code Daemon master} prints its address; {@code Daemon worker ARGUMENT...} hands its
 * arguments to Spark's own worker.
 */
final class Daemon {
  private static final int ANY_PORT = 0;

  private Daemon() {}

  public static void main(String[] arguments) {
    Thread end = new Thread(Daemon::exitAtEndOfInput, "end-of-input");
    end.setDaemon(true);
    end.start();
    if (arguments[0].equals("master")) {
      RpcEnv environment =
          Master.startRpcEnvAndEndpoint(
                  StandaloneCluster.LOOPBACK, ANY_PORT, ANY_PORT, new SparkConf())
              ._1();
      System.out.println(environment.address().toSparkURL());
      environment.awaitTermination();
    } else {
      String[] rest = new String[arguments.length - 1];
      System.arraycopy(arguments, 1, rest, 0, rest.length);
      Worker.main(rest);
    }
  }

  private static void exitAtEndOfInput() {
    try {
      System.in.transferTo(java.io.OutputStream.nullOutputStream());
    } catch (IOException e) {
      // As good as its end.
    }
    // Not halt: Spark's shutdown hooks end the executors and remove folders.
    System.exit(0);
  }
}
