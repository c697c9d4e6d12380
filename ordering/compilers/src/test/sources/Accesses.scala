/** As in Accesses.java, in the order of the Scala Language Specification (6.6, 6.12.3, 6.15, 6.20). */
final class Accesses {
  private[this] var a, b, c, d: Int = 0
  private[this] var l: Long = 0
  private[this] var u: String = ""
  private[this] var p, q = new Array[Int](4)
  private[this] var n: Accesses = null

  private def pair(x: Int, y: Int = 7): Int = x - y

  def statements(): Unit = {
    a = 1 // =a
    b = 2 // =b
    c = a // a =c
    d = b // b =d
    a = 3 // =a
    a = 4 // =a
    c = d // d =c
  }

  def whatAnotherLanguageCouldLeaveOut(): Unit = {
    a = a // a =a
    a = 1 // =a
    a = 1 // =a
    val x = a // a
    val y = a // a
    b = x + y - x - y // =b
    c = 0 * d // d =c
  }

  def operands(): Unit = {
    a = b + c * d // b c d =a
    a = d * c + b // d c b =a
    a = { b = 1; b } + b // =b b b =a
    l = a + l - b // a l b =l
    a += b // a b =a
  }

  def elements(): Unit = {
    a = 0 // =a
    b = 1 // =b
    p(a) = q(b) + c // p a q b [] c =[]
    p(0) += p(1) // p [] p [] =[]
    q(p(2)) = d // q p [] d =[]
  }

  def arguments(): Unit = {
    a = pair(b, c) // b c =a
    a = pair(y = b, x = c) // b c =a
    a = pair(y = { c = 1; d }, x = c) // =c d c =a
    a = pair(c) // c =a
    a = math.max(d, math.min(c, b)) // d c b =a
  }

  def choices(): Unit = {
    a = 0 // =a
    b = 0 // =b
    val both = a == 0 && b == 0 || c == 9 // a b
    d = if (both) a else b // a =d
    a match { // a
      case 1 => b = 2
      case x if x == b => c = d // b d =c
      case _ => c = 3
    }
    val (x, y) = (b, c) // b c
    d = x - y // =d
  }

  def texts(): Unit = {
    u = s"$a-$b-$c" // a b c =u
    u += a // u a =u
    u = u + b + u // u b u =u
  }

  def loops(): Unit = {
    var i = 0
    while (i < 1) {
      d = p(i) // p [] =d
      p(i) = a // p a =[]
      i += 1
    }
    for (j <- 0 until 1) {
      b = p(j) // p [] =b
      c = b // b =c
    }
  }

  def exceptions(): Unit = {
    try {
      a = 1 // =a
      b = p(a - 9) // p a []
      c = 2
    } catch {
      case _: ArrayIndexOutOfBoundsException => c = a // a =c
    } finally {
      d = b // b =d
    }
  }

  def locked(): Unit = {
    synchronized {
      a = b // b =a
      b = a // a =b
    }
    c = d // d =c
  }

  def closures(): Unit = {
    a = 1 // =a
    val first = () => {
      b = a // a =b
      c = b // b =c
    }
    first()
    d = c // c =d
    lazy val late = {
      a = d // d =a
      a // a
    }
    b = late // =b
  }
}
