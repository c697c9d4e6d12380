package org.memgraft.ordering.agent;

import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Opcodes;

/**
 * Which methods of a class have something in them for {@link Fences}. It goes through the bytes of
 * their code and makes no objects of them, as ASM does: while a JVM starts, the agent itself is
 * interpreted, and what it does for each instruction is dear.
 */
final class CodeScan {
  enum Content {
    /** No access that could get a fence, and no call. */
    NOTHING,
    SOMETHING,
    /** Stores, too, that may go to objects which {@link PrivateStores} looks for. */
    PRIVATE_STORES
  }

  /** Of a class that is not understood; the JVM may well refuse it. */
  static final CodeScan UNKNOWN = new CodeScan(null);

  private final List<Content> methods;

  private CodeScan(List<Content> methods) {
    this.methods = methods;
  }

  /** Goes through a class. */
  static CodeScan of(ClassReader reader, Machine machine) {
    try {
      return new CodeScan(new Scan(reader, machine).methods());
    } catch (RuntimeException e) {
      return UNKNOWN;
    }
  }

  /**
   * What a method has, by its number in the order of the class file; if unknown, all that it can.
   */
  Content of(int method) {
    return methods == null ? Content.PRIVATE_STORES : methods.get(method);
  }

  /** Whether it is known that no method has anything. */
  boolean hasNothing() {
    if (methods == null) {
      return false;
    }
    for (Content content : methods) {
      if (content != Content.NOTHING) {
        return false;
      }
    }
    return true;
  }

  /** Of all methods; null: unknown. */
  List<Content> methods() {
    return methods;
  }

  private static final class Scan {
    private static final int WIDE = 196;

    /** Bytes of each instruction with its operands; two of them have as many as they say. */
    private static final String LENGTHS =
        "1".repeat(16) // constants
            + "23" // bipush, sipush
            + "233" // ldc and its wide forms
            + "2".repeat(5) // loads of numbered variables
            + "1".repeat(28) // loads of variables 0 to 3, loads of elements
            + "2".repeat(5) // stores to numbered variables
            + "1".repeat(73) // stores to variables 0 to 3 and to elements, the stack, arithmetic
            + "3" // iinc
            + "1".repeat(20) // conversions, comparisons
            + "3".repeat(16) // jumps
            + "2" // ret
            + "00" // tableswitch, lookupswitch
            + "1".repeat(6) // returns
            + "3".repeat(7) // fields, calls of methods
            + "55" // invokeinterface, invokedynamic
            + "3" // new
            + "2" // newarray
            + "3" // anewarray
            + "11" // arraylength, athrow
            + "33" // checkcast, instanceof
            + "11" // monitorenter, monitorexit
            + "0" // wide
            + "4" // multianewarray
            + "33" // ifnull, ifnonnull
            + "55"; // goto_w, jsr_w

    /** Of the numbers below: the bytes of an instruction. */
    private static final int LENGTH = 7;

    private static final int ACCESS = 8;
    private static final int FIELD_STORE = 16;
    private static final int ELEMENT_STORE = 32;
    private static final int ARRAY = 64;
    private static final int CALL = 128;

    /** By instruction: its length, and what it is. */
    private static final int[] KINDS = kinds();

    private static final byte HARMLESS = 1;
    private static final byte FENCED = 2;

    private final ClassReader reader;
    private final Machine machine;
    private final char[] buffer;

    /** By number of a constant that names a method: what was found out of it. */
    private final byte[] calls;

    /** The number of the constant that said Code the last time; 0: none did. */
    private int codeName;

    Scan(ClassReader reader, Machine machine) {
      this.reader = reader;
      this.machine = machine;
      buffer = new char[reader.getMaxStringLength()];
      calls = new byte[reader.getItemCount()];
    }

    private static int[] kinds() {
      int[] kinds = new int[LENGTHS.length()];
      for (int instruction = 0; instruction < kinds.length; instruction++) {
        kinds[instruction] = LENGTHS.charAt(instruction) - '0' | kindOf(instruction);
      }
      return kinds;
    }

    private static int kindOf(int instruction) {
      return switch (instruction) {
        case Opcodes.GETFIELD, Opcodes.GETSTATIC, Opcodes.PUTSTATIC, Opcodes.INVOKEDYNAMIC ->
            ACCESS;
        case Opcodes.PUTFIELD -> ACCESS | FIELD_STORE;
        case Opcodes.NEWARRAY, Opcodes.ANEWARRAY, Opcodes.MULTIANEWARRAY -> ARRAY;
        case Opcodes.INVOKEVIRTUAL,
            Opcodes.INVOKESPECIAL,
            Opcodes.INVOKESTATIC,
            Opcodes.INVOKEINTERFACE ->
            CALL;
        default -> {
          if (instruction >= Opcodes.IASTORE && instruction <= Opcodes.SASTORE) {
            yield ACCESS | ELEMENT_STORE;
          }
          yield instruction >= Opcodes.IALOAD && instruction <= Opcodes.SALOAD ? ACCESS : 0;
        }
      };
    }

    List<Content> methods() {
      // Access, name and parent, each two bytes.
      int at = reader.header + 6;
      at += 2 + 2 * reader.readUnsignedShort(at);
      int fields = reader.readUnsignedShort(at);
      at += 2;
      for (int i = 0; i < fields; i++) {
        at = behindAttributes(at + 6);
      }
      int count = reader.readUnsignedShort(at);
      at += 2;
      List<Content> found = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        int code = codeIn(at + 6);
        found.add(code < 0 ? Content.NOTHING : contentOf(at, code));
        at = behindAttributes(at + 6);
      }
      return found;
    }

    private int behindAttributes(int at) {
      int count = reader.readUnsignedShort(at);
      int next = at + 2;
      for (int i = 0; i < count; i++) {
        next += 6 + length(next + 2);
      }
      return next;
    }

    private int length(int at) {
      int length = reader.readInt(at);
      if (length < 0) {
        throw new IllegalArgumentException("an attribute that is larger than class files are");
      }
      return length;
    }

    /** Where a method's code has its length; negative: it has none. */
    private int codeIn(int attributes) {
      int count = reader.readUnsignedShort(attributes);
      int at = attributes + 2;
      int found = -1;
      for (int i = 0; i < count; i++) {
        if (isCode(at)) {
          // Name, length, the stack's size and that of the variables.
          found = at + 10;
        }
        at += 6 + length(at + 2);
      }
      return found;
    }

    private boolean isCode(int attribute) {
      int name = reader.readUnsignedShort(attribute);
      // There may be several such constants.
      if (name != codeName && "Code".equals(reader.readUTF8(attribute, buffer))) {
        codeName = name;
      }
      return name == codeName;
    }

    private Content contentOf(int method, int code) {
      int start = code + 4;
      int end = start + length(code);
      int found = 0;
      int at = start;
      while (at < end) {
        int instruction = reader.readByte(at);
        int kind = KINDS[instruction];
        found |= kind;
        at += (kind & LENGTH) == 0 ? bytesOf(instruction, at, start) : kind & LENGTH;
      }
      if (at != end) {
        throw new IllegalArgumentException("code that ends within an instruction");
      }
      boolean stores = (found & (FIELD_STORE | ELEMENT_STORE)) != 0;
      boolean fills = (found & ARRAY) != 0 && (found & ELEMENT_STORE) != 0;
      if (fills || stores && "<init>".equals(reader.readUTF8(method + 2, buffer))) {
        return Content.PRIVATE_STORES;
      }
      boolean some = (found & ACCESS) != 0 || (found & CALL) != 0 && hasFencedCall(start, end);
      return some ? Content.SOMETHING : Content.NOTHING;
    }

    /** Of one that says itself how many. */
    private int bytesOf(int instruction, int at, int start) {
      int operands = at + 4 - (at - start & 3);
      int bytes =
          switch (instruction) {
            case Opcodes.TABLESWITCH ->
                operands
                    + 12
                    + 4 * (reader.readInt(operands + 8) - reader.readInt(operands + 4) + 1)
                    - at;
            case Opcodes.LOOKUPSWITCH -> operands + 8 + 8 * reader.readInt(operands + 4) - at;
            case WIDE -> reader.readByte(at + 1) == Opcodes.IINC ? 6 : 4;
            default -> 0;
          };
      if (bytes <= 0) {
        throw new IllegalArgumentException("an instruction that goes on nowhere");
      }
      return bytes;
    }

    /** Looked for last: to read what a call is of takes longer than all else. */
    private boolean hasFencedCall(int start, int end) {
      for (int at = start; at < end; ) {
        int instruction = reader.readByte(at);
        int kind = KINDS[instruction];
        if ((kind & CALL) != 0 && isFenced(reader.readUnsignedShort(at + 1))) {
          return true;
        }
        at += (kind & LENGTH) == 0 ? bytesOf(instruction, at, start) : kind & LENGTH;
      }
      return false;
    }

    private boolean isFenced(int constant) {
      if (calls[constant] == 0) {
        int method = reader.getItem(constant);
        int nameAndType = reader.getItem(reader.readUnsignedShort(method + 2));
        String owner = reader.readClass(method, buffer);
        String name = reader.readUTF8(nameAndType, buffer);
        String shape = reader.readUTF8(nameAndType + 2, buffer);
        calls[constant] = Calls.of(owner, name, shape, machine) == null ? HARMLESS : FENCED;
      }
      return calls[constant] == FENCED;
    }
  }
}
