package org.memgraft.ordering.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WeakCodeTest {
  @ParameterizedTest
  @CsvSource({
    "java/lang/Math, max, (II)I, false",
    "java/lang/Math, random, ()D, true",
    "java/lang/StrictMath, random, ()D, true",
    "java/lang/Integer, parseInt, (Ljava/lang/String;)I, false",
    "java/lang/Integer, getInteger, (Ljava/lang/String;)Ljava/lang/Integer;, true",
    "java/lang/Boolean, getBoolean, (Ljava/lang/String;)Z, true",
    "java/lang/String, getBytes, ()[B, false",
    "java/lang/StringBuilder, append, (Ljava/lang/Object;)Ljava/lang/StringBuilder;, true",
    "java/lang/Thread, sleep, (J)V, false",
    "java/lang/Thread, join, ()V, true",
    "java/lang/System, nanoTime, ()J, false",
    "java/lang/System, getProperty, (Ljava/lang/String;)Ljava/lang/String;, true",
  })
  void whatOfTheJdkMaySynchronize(String owner, String method, String shape, boolean orders) {
    assertEquals(orders, WeakCode.orders(owner, method, shape));
  }
}
