package org.memgraft.workloads.churn;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.memgraft.workloads.harness.WorkloadFailure;

class SurvivorsTest {
  private final Survivors survivors = new Survivors();

  SurvivorsTest() {
    Random random = new Random(1);
    for (int i = 0; i < 1000; i++) {
      survivors.replaceOne(random);
    }
  }

  @Test
  void verifiesWhatItHolds() {
    assertDoesNotThrow(survivors::verify);
  }

  @Test
  void findsOneOverwrittenByte() {
    byte[] payload = survivors.any().payload();
    payload[payload.length - 1] ^= 2;
    WorkloadFailure found = assertThrows(WorkloadFailure.class, survivors::verify);
    assertTrue(found.getMessage().contains("memory in use was overwritten"), found.getMessage());
  }
}
