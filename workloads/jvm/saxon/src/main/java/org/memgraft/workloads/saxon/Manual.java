package org.memgraft.workloads.saxon;

import java.nio.charset.StandardCharsets;
import java.util.Random;

/** Makes up a manual with chapters, sections, terms, references and pieces of code. */
final class Manual {
  private static final String[] WORDS = {
    "allocation", "barrier", "cache", "a", "the", "fence", "of", "to", "holds", "heap", "load",
    "moves", "node", "order", "page", "reads", "sees", "store", "thread", "with", "writes", "zero"
  };
  private static final String[] TERMS = {
    "acquire",
    "atomic",
    "buffer",
    "coherence",
    "eden",
    "fault",
    "generation",
    "happens-before",
    "interleaving",
    "locality",
    "monitor",
    "nursery",
    "publication",
    "release",
    "safepoint"
  };
  private static final int SECTIONS_PER_CHAPTER = 5;
  private static final int PARAGRAPHS_PER_SECTION = 4;
  private static final int SENTENCES_PER_PARAGRAPH = 5;

  private final Random random;
  private final int chapters;
  private final StringBuilder xml = new StringBuilder();

  /** {@link Random}'s numbers are specified: the same on every JVM. */
  Manual(int seed, int chapters) {
    random = new Random(seed);
    this.chapters = chapters;
  }

  byte[] generate() {
    xml.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<manual title=\"Memory\">\n");
    for (int chapter = 0; chapter < chapters; chapter++) {
      xml.append("<chapter id=\"c%d\" title=\"%s %s\">\n".formatted(chapter, word(), word()));
      for (int section = 0; section < SECTIONS_PER_CHAPTER; section++) {
        section(chapter, section);
      }
      xml.append("</chapter>\n");
    }
    xml.append("</manual>\n");
    return xml.toString().getBytes(StandardCharsets.UTF_8);
  }

  private void section(int chapter, int section) {
    String date = "20%02d-%02d-%02d".formatted(number(25), 1 + number(12), 1 + number(28));
    xml.append("<section id=\"c%ds%d\" title=\"%s\" ".formatted(chapter, section, word()))
        .append("changed=\"%s\">\n".formatted(date));
    for (int paragraph = 0; paragraph < PARAGRAPHS_PER_SECTION; paragraph++) {
      xml.append("<p>");
      for (int sentence = 0; sentence < SENTENCES_PER_PARAGRAPH; sentence++) {
        sentence();
      }
      xml.append("</p>\n");
    }
    xml.append("<code>for (int i = 0; i &lt; ").append(number(100)).append("; i++) { ");
    xml.append("total += \"").append(word()).append("\".length(); }</code>\n</section>\n");
  }

  private void sentence() {
    for (int words = 4 + number(8); words > 0; words--) {
      xml.append(word()).append(' ');
    }
    if (number(2) == 0) {
      xml.append("<term>").append(TERMS[number(TERMS.length)]).append("</term> ");
    } else {
      String to = "c%ds%d".formatted(number(chapters), number(SECTIONS_PER_CHAPTER));
      xml.append("<ref to=\"").append(to).append("\"/> ");
    }
    xml.append(word()).append(". ");
  }

  private String word() {
    return WORDS[number(WORDS.length)];
  }

  private int number(int below) {
    return random.nextInt(below);
  }
}
