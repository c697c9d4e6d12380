package org.memgraft.workloads.xalan;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import javax.xml.transform.Templates;
import javax.xml.transform.TransformerConfigurationException;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import org.memgraft.workloads.harness.Checksum;
import org.memgraft.workloads.harness.Size;
import org.memgraft.workloads.harness.Worker;
import org.memgraft.workloads.harness.Workload;

/** Parses XML documents and turns each into a web page with one compiled stylesheet. */
public final class Xalan implements Workload {
  /** By name: the JDK has a Xalan of its own, under another name, that must not be taken. */
  private static final String FACTORY = "org.apache.xalan.processor.TransformerFactoryImpl";

  private static final int DOCUMENTS = 16;
  private static final int SMALL_SALES = 40;
  private static final int DEFAULT_SALES = 150;
  private static final int SMALL_TRANSFORMATIONS = 24;
  private static final int DEFAULT_TRANSFORMATIONS = 200;

  private final List<byte[]> documents = new ArrayList<>();
  private Templates stylesheet;
  private int transformations;

  @Override
  public String expectedChecksum(Size size) {
    return size.pick("0fbcb03c7bd25e72", "a73b983149036caf");
  }

  @Override
  public void prepare(Size size) throws TransformerConfigurationException {
    transformations = size.pick(SMALL_TRANSFORMATIONS, DEFAULT_TRANSFORMATIONS);
    int sales = size.pick(SMALL_SALES, DEFAULT_SALES);
    for (int i = 0; i < DOCUMENTS; i++) {
      documents.add(new SalesDocument(i).generate(sales));
    }
    TransformerFactory factory =
        TransformerFactory.newInstance(FACTORY, Xalan.class.getClassLoader());
    stylesheet =
        factory.newTemplates(new StreamSource(Xalan.class.getResourceAsStream("report.xsl")));
  }

  @Override
  public int items() {
    return transformations;
  }

  @Override
  public Worker newWorker() {
    return this::transform;
  }

  private long transform(int item) throws TransformerException {
    ByteArrayOutputStream page = new ByteArrayOutputStream();
    stylesheet
        .newTransformer()
        .transform(
            new StreamSource(new ByteArrayInputStream(documents.get(item % DOCUMENTS))),
            new StreamResult(page));
    byte[] bytes = page.toByteArray();
    return Checksum.of(item, Checksum.of(bytes, bytes.length));
  }
}
