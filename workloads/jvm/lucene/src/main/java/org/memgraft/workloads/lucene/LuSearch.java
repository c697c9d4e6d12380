package org.memgraft.workloads.lucene;

import java.io.IOException;
import java.util.List;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.queryparser.classic.ParseException;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.Size;
import org.memgraft.workloads.harness.Worker;
import org.memgraft.workloads.harness.Workload;

/** Searches one in-memory index of the corpus; every query is parsed anew and nothing is cached. */
public final class LuSearch implements Workload {
  private static final int SMALL_QUERIES = 400;
  private static final int DEFAULT_QUERIES = 5000;
  private static final int BEST = 20;
  private static final int SORTED_EVERY = 8;
  private static final int PATHS_SHOWN = 5;

  private IndexSearcher searcher;
  private List<String> queries;

  @Override
  public String expectedChecksum(Size size) {
    return size.pick("d13e5ee7098bf36f", "9224e4387c9aa9ab");
  }

  @Override
  public void prepare(Size size) throws IOException {
    List<Corpus.Piece> corpus = Corpus.load(size);
    DirectoryReader reader = DirectoryReader.open(index(corpus));
    searcher = new IndexSearcher(reader);
    searcher.setQueryCache(null);
    queries = new Queries(reader, corpus).generate(size.pick(SMALL_QUERIES, DEFAULT_QUERIES));
  }

  /** One thread and one segment, so that document numbers and scores are always the same. */
  private static ByteBuffersDirectory index(List<Corpus.Piece> corpus) throws IOException {
    ByteBuffersDirectory directory = new ByteBuffersDirectory();
    IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
    config.setMergeScheduler(new SerialMergeScheduler());
    try (IndexWriter writer = new IndexWriter(directory, config)) {
      for (Corpus.Piece piece : corpus) {
        writer.addDocument(piece.toDocument());
      }
      writer.forceMerge(1);
    }
    return directory;
  }

  @Override
  public int items() {
    return queries.size();
  }

  @Override
  public Worker newWorker() {
    Sort byLine = new Sort(new SortField(Corpus.LINE, SortField.Type.INT), SortField.FIELD_DOC);
    return item -> {
      Query query = parse(queries.get(item));
      TopDocs top =
          item % SORTED_EVERY == 0
              ? searcher.search(query, BEST, byLine, true)
              : searcher.search(query, BEST);
      return Checksum.of(item, top.totalHits.value, checksum(top.scoreDocs));
    };
  }

  private static Query parse(String query) throws ParseException {
    return new QueryParser(Corpus.TEXT, new StandardAnalyzer()).parse(query);
  }

  private long checksum(ScoreDoc[] best) throws IOException {
    long checksum = 0;
    for (int rank = 0; rank < best.length; rank++) {
      // Math.log, which the scores contain, may differ between JVMs in the last bit.
      long score = Math.round(best[rank].score * 1e3);
      checksum = Checksum.of(checksum, best[rank].doc, score);
      if (rank < PATHS_SHOWN) {
        Document found = searcher.storedFields().document(best[rank].doc);
        checksum = Checksum.of(checksum, Checksum.of(found.get(Corpus.PATH)));
      }
    }
    return checksum;
  }
}
