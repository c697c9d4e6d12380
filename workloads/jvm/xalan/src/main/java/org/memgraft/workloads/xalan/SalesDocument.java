package org.memgraft.workloads.xalan;

import java.nio.charset.StandardCharsets;
import java.util.Random;

/** Makes up a year's sales. {@link Random}'s numbers are specified: the same on every JVM. */
final class SalesDocument {
  private static final String[] REGIONS = {
    "Alsace", "Bohemia", "Castile", "Dalmatia", "Epirus", "Flanders", "Galicia", "Hesse"
  };
  private static final String[] FIRST_NAMES = {
    "Ada", "Barbara", "Edsger", "Frances", "Grace", "John", "Niklaus", "Tony"
  };
  private static final String[] LAST_NAMES = {
    "lovelace", "liskov", "dijkstra", "allen", "hopper", "mccarthy", "wirth", "hoare"
  };
  private static final String[] NOTES = {
    "delivered", "late", "paid", "by", "card", "returned", "twice", "fragile", "gift", "wrapped"
  };
  private static final int PRODUCTS = 40;
  private static final int SALES_PER_NOTE = 3;

  private final Random random;
  private final StringBuilder xml = new StringBuilder();

  SalesDocument(int seed) {
    random = new Random(seed);
  }

  byte[] generate(int sales) {
    xml.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sales year=\"2024\">\n<catalogue>\n");
    for (int i = 0; i < PRODUCTS; i++) {
      xml.append("<product code=\"p%d\" name=\"product %d\"/>\n".formatted(i, i * 7 % PRODUCTS));
    }
    xml.append("</catalogue>\n");
    for (int i = 0; i < sales; i++) {
      sale(i);
    }
    xml.append("</sales>\n");
    return xml.toString().getBytes(StandardCharsets.UTF_8);
  }

  private void sale(int id) {
    xml.append("<sale id=\"%d\" region=\"%s\">".formatted(id, any(REGIONS)))
        .append("<product>p")
        .append(random.nextInt(PRODUCTS))
        .append("</product>")
        .append("<customer first=\"%s\" last=\"%s\"/>".formatted(any(FIRST_NAMES), any(LAST_NAMES)))
        .append("<amount>")
        .append(random.nextInt(100_000) / 100.0)
        .append("</amount>");
    if (id % SALES_PER_NOTE == 0) {
      xml.append("<note>");
      int words = 3 + random.nextInt(10);
      for (int i = 0; i < words; i++) {
        xml.append(any(NOTES)).append(' ');
      }
      xml.append("</note>");
    }
    xml.append("</sale>\n");
  }

  private String any(String[] words) {
    return words[random.nextInt(words.length)];
  }
}
