import java.util.List;
import memgraft.Relaxed;

/**
 * Races two threads that each store to one field and load the other, in code that {@link Relaxed}
 * covers and in code that it does not. Prints, for each, in how many races both loads came before
 * both stores.
 *
 * <p>The races are written out one by one: no annotation covers a method that they would share.
 *
 * <p>One argument: how many races of each, unless one was reordered before.
 */
public final class AnnotatedRaces {
  private static final int RACES = 1 << 16;
  private static final int STRETCH = 1 << 10;

  private AnnotatedRaces() {}

  /** What two threads race for. */
  static final class Cell {
    int x;
    int y;
    int seenByLeft;
    int seenByRight;
  }

  /** Each has loops of its own: what is relaxed, or not, is the code of a class or a method. */
  interface Race {
    void left(Cell[] cells, int from, int to);

    void right(Cell[] cells, int from, int to);
  }

  static final class Plain implements Race {
    @Override
    public void left(Cell[] cells, int from, int to) {
      for (int i = from; i < to; i++) {
        cells[i].x = 1;
        cells[i].seenByLeft = cells[i].y;
      }
    }

    @Override
    public void right(Cell[] cells, int from, int to) {
      for (int i = from; i < to; i++) {
        cells[i].y = 1;
        cells[i].seenByRight = cells[i].x;
      }
    }
  }

  @Relaxed
  static final class OfClass implements Race {
    @Override
    public void left(Cell[] cells, int from, int to) {
      for (int i = from; i < to; i++) {
        cells[i].x = 1;
        cells[i].seenByLeft = cells[i].y;
      }
    }

    @Override
    public void right(Cell[] cells, int from, int to) {
      for (int i = from; i < to; i++) {
        cells[i].y = 1;
        cells[i].seenByRight = cells[i].x;
      }
    }

    /** Not covered by the annotation of the class around it. */
    static final class Nested implements Race {
      @Override
      public void left(Cell[] cells, int from, int to) {
        for (int i = from; i < to; i++) {
          cells[i].x = 1;
          cells[i].seenByLeft = cells[i].y;
        }
      }

      @Override
      public void right(Cell[] cells, int from, int to) {
        for (int i = from; i < to; i++) {
          cells[i].y = 1;
          cells[i].seenByRight = cells[i].x;
        }
      }
    }
  }

  static final class OfMethods implements Race {
    @Relaxed
    @Override
    public void left(Cell[] cells, int from, int to) {
      for (int i = from; i < to; i++) {
        cells[i].x = 1;
        cells[i].seenByLeft = cells[i].y;
      }
    }

    @Relaxed
    @Override
    public void right(Cell[] cells, int from, int to) {
      for (int i = from; i < to; i++) {
        cells[i].y = 1;
        cells[i].seenByRight = cells[i].x;
      }
    }
  }

  /** The last of the stretches that a thread has come to. */
  private static final class Turn {
    volatile int reached;
  }

  private static void meet(Turn mine, Turn others, int stretch) {
    mine.reached = stretch;
    while (others.reached < stretch) {
      Thread.onSpinWait();
    }
  }

  private static int reordered(Race race) throws InterruptedException {
    Cell[] cells = new Cell[RACES];
    for (int i = 0; i < RACES; i++) {
      cells[i] = new Cell();
    }
    Turn left = new Turn();
    Turn right = new Turn();
    Thread other =
        new Thread(
            () -> {
              for (int from = 0; from < RACES; from += STRETCH) {
                meet(right, left, from + 1);
                race.right(cells, from, from + STRETCH);
              }
            });
    other.start();
    for (int from = 0; from < RACES; from += STRETCH) {
      meet(left, right, from + 1);
      race.left(cells, from, from + STRETCH);
    }
    other.join();
    int both = 0;
    for (Cell cell : cells) {
      if (cell.seenByLeft == 0 && cell.seenByRight == 0) {
        both++;
      }
    }
    return both;
  }

  public static void main(String[] arguments) throws InterruptedException {
    int wanted = Integer.parseInt(arguments[0]);
    List<Race> races = List.of(new Plain(), new OfClass(), new OfClass.Nested(), new OfMethods());
    for (Race race : races) {
      // What is covered is reordered sooner or later, and what is not never.
      boolean covered = race instanceof OfClass || race instanceof OfMethods;
      long most = covered ? 50L * wanted : wanted;
      int both = 0;
      for (long done = 0; done < most && both == 0; done += RACES) {
        both += reordered(race);
      }
      System.out.println(race.getClass().getSimpleName() + " " + both);
    }
  }
}
