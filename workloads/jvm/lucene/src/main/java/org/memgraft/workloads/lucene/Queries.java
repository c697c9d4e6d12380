package org.memgraft.workloads.lucene;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.regex.Pattern;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;

/**
 * Makes up queries, in the syntax of Lucene's classic parser, from the words of an index and the
 * text it was made from. {@link Random}'s numbers are specified: the same queries on every JVM.
 */
final class Queries {
  private static final Pattern WORD = Pattern.compile("[a-z]{3,}");
  private static final Pattern NOT_IN_WORD = Pattern.compile("[^A-Za-z]+");
  private static final int KINDS = 10;

  private final Random random = new Random(7);
  private final List<String> words;
  private final List<Corpus.Piece> corpus;

  Queries(IndexReader reader, List<Corpus.Piece> corpus) throws IOException {
    this.words = wordsOf(reader);
    this.corpus = corpus;
  }

  List<String> generate(int count) {
    List<String> queries = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      queries.add(query(i % KINDS));
    }
    return queries;
  }

  private String query(int kind) {
    return switch (kind) {
      case 0, 1 -> word();
      case 2 -> word() + " " + word() + " " + word();
      case 3 -> "+" + frequentWord() + " +" + frequentWord();
      case 4 -> "+" + frequentWord() + " -" + word() + " " + word();
      case 5, 6 -> phrase();
      case 7 -> word().substring(0, 3) + "*";
      case 8 -> {
        String word = word();
        yield word.charAt(0) + "?" + word.charAt(2) + "*";
      }
      default -> word() + "~1";
    };
  }

  private String word() {
    return words.get(random.nextInt(words.size()));
  }

  /**
   * A word as it comes in the text, so that frequent ones come often; AND is a word, not a command.
   */
  private String frequentWord() {
    String[] text = textOfAnyPiece();
    return text[random.nextInt(text.length)].toLowerCase(Locale.ROOT);
  }

  private String phrase() {
    String[] text = textOfAnyPiece();
    int first = random.nextInt(text.length - 1);
    return '"' + text[first] + ' ' + text[first + 1] + '"';
  }

  private String[] textOfAnyPiece() {
    while (true) {
      String text = corpus.get(random.nextInt(corpus.size())).text();
      String[] words =
          NOT_IN_WORD.splitAsStream(text).filter(word -> word.length() > 1).toArray(String[]::new);
      if (words.length > 1) {
        return words;
      }
    }
  }

  private static List<String> wordsOf(IndexReader reader) throws IOException {
    List<String> words = new ArrayList<>();
    TermsEnum each = MultiTerms.getTerms(reader, Corpus.TEXT).iterator();
    for (BytesRef term = each.next(); term != null; term = each.next()) {
      String word = term.utf8ToString();
      if (WORD.matcher(word).matches() && each.docFreq() > 1) {
        words.add(word);
      }
    }
    return words;
  }
}
