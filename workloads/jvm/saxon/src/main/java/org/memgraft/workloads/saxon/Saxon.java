package org.memgraft.workloads.saxon;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import javax.xml.transform.stream.StreamSource;
import net.sf.saxon.s9api.Processor;
import net.sf.saxon.s9api.SaxonApiException;
import net.sf.saxon.s9api.XsltExecutable;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.Size;
import org.memgraft.workloads.harness.Worker;
import org.memgraft.workloads.harness.Workload;

/**
 * Parses XML manuals and turns each into a web page with one compiled stylesheet of XSLT 3.0.
 *
 * <p>It has the frame of the workload xalan. The two share no code of their own: each shows in one
 * file what it has its library do.
 */
public final class Saxon implements Workload {
  private static final boolean NO_LICENSE_NEEDED = false;
  private static final int MANUALS = 16;
  private static final int SMALL_CHAPTERS = 1;
  private static final int DEFAULT_CHAPTERS = 4;
  private static final int SMALL_TRANSFORMATIONS = 24;
  private static final int DEFAULT_TRANSFORMATIONS = 100;

  private final List<byte[]> manuals = new ArrayList<>();
  private Processor processor;
  private XsltExecutable stylesheet;
  private int transformations;

  @Override
  public String expectedChecksum(Size size) {
    return size.pick("62e9b1a0b5f39da0", "746c123c2a67147e");
  }

  @Override
  public void prepare(Size size) throws SaxonApiException {
    transformations = size.pick(SMALL_TRANSFORMATIONS, DEFAULT_TRANSFORMATIONS);
    int chapters = size.pick(SMALL_CHAPTERS, DEFAULT_CHAPTERS);
    for (int i = 0; i < MANUALS; i++) {
      manuals.add(new Manual(i, chapters).generate());
    }
    processor = new Processor(NO_LICENSE_NEEDED);
    stylesheet =
        processor
            .newXsltCompiler()
            .compile(new StreamSource(Saxon.class.getResourceAsStream("manual.xsl")));
  }

  @Override
  public int items() {
    return transformations;
  }

  @Override
  public Worker newWorker() {
    return this::transform;
  }

  private long transform(int item) throws SaxonApiException {
    ByteArrayOutputStream page = new ByteArrayOutputStream();
    stylesheet
        .load30()
        .transform(
            new StreamSource(new ByteArrayInputStream(manuals.get(item % MANUALS))),
            processor.newSerializer(page));
    byte[] bytes = page.toByteArray();
    return Checksum.of(item, Checksum.of(bytes, bytes.length));
  }
}
