package org.memgraft.workloads.churn;

import java.util.Arrays;
import java.util.Random;
import org.memgraft.workloads.harness.WorkloadFailure;

/**
 * One thread's long-lived data: chains of nodes, some of which are replaced all the time, so that
 * collections copy and promote them and old ones point at young ones. What a node holds follows
 * from its number; whatever hands out memory that is still in use, destroys some node.
 */
final class Survivors {
  private static final int CHAINS = 512;
  private static final int NODES_PER_CHAIN = 4;
  private static final int LARGEST_PAYLOAD = 400;

  /** One node of a chain. */
  static final class Node {
    private final Node next;
    private final int number;
    private final byte[] payload;

    Node(Node next, int number, byte[] payload) {
      this.next = next;
      this.number = number;
      this.payload = payload;
    }

    byte[] payload() {
      return payload;
    }
  }

  private final Node[] chains = new Node[CHAINS];
  private int numbers;

  /** Replaces a chain that the random number chooses. */
  void replaceOne(Random random) {
    Node chain = null;
    for (int i = 0; i < NODES_PER_CHAIN; i++) {
      int number = numbers++;
      byte[] payload = new byte[random.nextInt(LARGEST_PAYLOAD)];
      Arrays.fill(payload, patternOf(number));
      chain = new Node(chain, number, payload);
    }
    chains[random.nextInt(CHAINS)] = chain;
  }

  /** Verifies all chains. */
  void verify() throws WorkloadFailure {
    for (int i = 0; i < CHAINS; i++) {
      if (chains[i] != null) {
        verify(chains[i]);
      }
    }
  }

  private static void verify(Node chain) throws WorkloadFailure {
    int nodes = 0;
    for (Node node = chain; node != null; node = node.next, nodes++) {
      if (node.next != null && node.next.number != node.number - 1) {
        throw new WorkloadFailure(
            "live node %d is followed by node %d, expected node %d: memory in use was overwritten"
                .formatted(node.number, node.next.number, node.number - 1));
      }
      verifyPayload(node);
    }
    if (nodes != NODES_PER_CHAIN) {
      throw new WorkloadFailure(
          "a live chain has %d nodes, expected %d: memory in use was overwritten"
              .formatted(nodes, NODES_PER_CHAIN));
    }
  }

  private static void verifyPayload(Node node) throws WorkloadFailure {
    byte expected = patternOf(node.number);
    for (int i = 0; i < node.payload.length; i++) {
      if (node.payload[i] != expected) {
        throw new WorkloadFailure(
            ("live node %d holds %d at index %d of its byte[%d], expected %d:"
                    + " memory in use was overwritten")
                .formatted(node.number, node.payload[i], i, node.payload.length, expected));
      }
    }
  }

  private static byte patternOf(int number) {
    return (byte) (number | 1);
  }

  /** Any node, for a test to damage. */
  Node any() {
    return Arrays.stream(chains).filter(chain -> chain != null).findFirst().orElseThrow();
  }
}
