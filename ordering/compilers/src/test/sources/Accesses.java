/**
 * Each line that accesses fields or elements says so at its end, in the order of the Java Language
 * Specification (chapter 15.7 above all): a for a load of the field a, =a for a store, [] and =[]
 * for those of an element. Each method runs its lines once, from its first to its last.
 */
final class Accesses {
  int a;
  int b;
  int c;
  int d;
  long l;
  double m;
  String u;
  int[] p = new int[4];
  int[] q = new int[4];
  int[] o = {7};
  Accesses n;
  static int s;
  static int t;

  static int sum(int... numbers) {
    return numbers.length;
  }

  void statements() {
    a = 1; // =a
    b = 2; // =b
    c = a; // a =c
    d = b; // b =d
    a = 3; // =a
    a = 4; // =a
    c = d; // d =c
    s = c; // c =s
    t = s; // s =t
  }

  void whatAnotherLanguageCouldLeaveOut() {
    a = a; // a =a
    int unused = b; // b
    a = 1; // =a
    a = 1; // =a
    int x = a; // a
    int y = a; // a
    b = x + y - x - y; // =b
    c = 0 * d; // d =c
  }

  void operands() {
    a = b + c * d; // b c d =a
    a = d * c + b; // d c b =a
    a = (b = 1) + b; // =b b =a
    a = b + (b = 3) * b; // b =b b =a
    l = a + (long) m - b; // a m b =l
    m = -l * m; // l m =m
  }

  void assignments() {
    a = b = c = d; // d =c =b =a
    a += b; // a b =a
    a <<= (b = 2); // a =b =a
    a++; // a =a
    b = a++ + ++a; // a =a a =a =b
    l += a; // l a =l
    s -= t; // s t =s
    a = s++ - --t; // s =s t =t =a
  }

  void elements() {
    a = 0; // =a
    b = 1; // =b
    p[a] = q[b] + c; // p a q b [] c =[]
    p[0] += p[1]; // p [] p [] =[]
    p[a++] = a; // p a =a a =[]
    q[p[2]]++; // q p [] [] =[]
    p[1] = q[1] = d; // p q d =[] =[]
    (p = q)[a] = (a = 2); // q =p a =a =[]
  }

  void calls() {
    a = sum(b, c = 4, d); // b =[] =c =[] d =[] =a
    a = Math.max(d, Math.min(c, b)); // d c b =a
    l = Math.addExact(l, a) + (long) Math.sqrt(m); // l a m =l
    Integer boxed = c; // c
    d = boxed; // =d
  }

  void otherObjects() {
    n = this; // =n
    n.n = this; // n =n
    n.a = n.b; // n n b =a
    n.n.a = n.c; // n n n c =a
    n.p[n.a] = n.n.d; // n p n a n n d =[]
    if ((Object) n instanceof Accesses other) { // n
      other.a = other.b; // b =a
    }
  }

  void choices() {
    a = 0; // =a
    b = 0; // =b
    boolean both = a == 0 && b == 0 || c == 9; // a b
    boolean none = a == 1 && b == 0 || c == 9; // a c
    d = both ? a : b; // a =d
    d = none ? a : b; // b =d
    if (a == b) { // a b
      c = 1; // =c
    } else {
      d = 1;
    }
    switch (a) { // a
      case 0:
        b = 1; // =b
      case 1:
        c = 2; // =c
        break;
      default:
        a = 3;
    }
    d = switch (b) { case 1 -> c; default -> d; }; // b c =d
  }

  void texts() {
    u = "" + a + b + c; // a b c =u
    u += a; // u a =u
    u = u + (a = 5) + a + u; // u =a a u =u
    u = a + b + u + l + m; // a b u l m =u
  }

  void loops() {
    a = 0; // =a
    do {
      b = a; // a =b
      a++; // a =a
    } while (a < 1); // a
    for (int x : o) { // o []
      b = x; // =b
      c = b; // b =c
    }
    for (int i = 0; i < 1; i++) {
      d = p[i]; // p [] =d
      p[i] = a; // p a =[]
    }
  }

  void exceptions() {
    try {
      a = 1; // =a
      b = p[a - 9]; // p a []
      c = 2;
    } catch (ArrayIndexOutOfBoundsException outside) {
      c = a; // a =c
    } finally {
      d = b; // b =d
    }
    a = returned(); // =a
  }

  private static int returned() {
    return 1;
  }

  int returnedBeforeFinally() {
    try {
      a = 1; // =a
      return b; // b
    } finally {
      b = 2; // =b
      a = 3; // =a
    }
  }

  void locked() {
    synchronized (this) {
      a = b; // b =a
      b = a; // a =b
    }
    c = d; // d =c
  }

  void lambdas() {
    a = 1; // =a
    Runnable first =
        () -> {
          b = a; // a =b
          c = b; // b =c
        };
    first.run();
    d = c; // c =d
  }

  void construction() {
    class Made {
      int e = 1; // =e
      int f = e; // e =f

      {
        e = f + 1; // f =e
      }

      int g;

      Made() {
        g = e; // e =g
        f = g; // g =f
      }
    }

    a = new Made().f; // f =a
  }
}
