package org.memgraft.ordering.agent;

/** The kinds of places in bytecode that get a fence. */
enum Site {
  FIELD_LOAD("field_loads"),
  FIELD_STORE("field_stores"),
  STATIC_LOAD("static_loads"),
  STATIC_STORE("static_stores"),
  ELEMENT_LOAD("element_loads"),
  ELEMENT_STORE("element_stores"),
  /** A store to an object that no other thread can have. */
  PRIVATE_STORE("private_stores"),
  /** A call of a method that accesses memory without the order of a volatile. */
  WEAK_ACCESS("weak_accesses"),
  /** A call of a method handle or of an invokedynamic, which may be a field's getter or setter. */
  HANDLE("handle_calls"),
  /** A call that copies or fills many elements at once. */
  COPY("copies"),
  /** A call of a method that compilers replace, and its fences with it. */
  INTRINSIC("intrinsics");

  /** In the summary. */
  final String key;

  Site(String key) {
    this.key = key;
  }
}
