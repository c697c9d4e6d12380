package org.memgraft.workloads.lucene;

import java.io.IOException;
import java.util.List;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.util.BytesRef;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.Size;
import org.memgraft.workloads.harness.Worker;
import org.memgraft.workloads.harness.Workload;

/** Indexes the corpus into a new in-memory index, all threads through one writer. */
public final class LuIndex implements Workload {
  private static final int DEFAULT_PASSES = 3;

  private List<Corpus.Piece> corpus;
  private int passes;
  private ByteBuffersDirectory directory;
  private IndexWriter writer;

  @Override
  public String expectedChecksum(Size size) {
    return size.pick("c4ade6087dc67804", "6717e4679de4ba43");
  }

  @Override
  public void prepare(Size size) throws IOException {
    corpus = Corpus.load(size);
    passes = size.pick(1, DEFAULT_PASSES);
  }

  @Override
  public int items() {
    return corpus.size() * passes;
  }

  @Override
  public void beforeIteration() throws IOException {
    directory = new ByteBuffersDirectory();
    IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
    // Merging is part of the work: it stays in the worker threads, where it is measured.
    config.setMergeScheduler(new SerialMergeScheduler());
    writer = new IndexWriter(directory, config);
  }

  @Override
  public boolean repeatable() {
    return false;
  }

  @Override
  public Worker newWorker() {
    return item -> {
      writer.addDocument(corpus.get(item % corpus.size()).toDocument());
      return 0;
    };
  }

  @Override
  public void afterItems() throws IOException {
    writer.close(); // commits
  }

  /** What the index holds, however its documents came to be spread over segments. */
  @Override
  public long checksum(long sumOfItems) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      long sum = reader.numDocs();
      Terms terms = MultiTerms.getTerms(reader, Corpus.TEXT);
      TermsEnum each = terms.iterator();
      for (BytesRef term = each.next(); term != null; term = each.next()) {
        sum += Checksum.of(Checksum.of(term.utf8ToString()), each.docFreq(), each.totalTermFreq());
      }
      return sum;
    }
  }
}
