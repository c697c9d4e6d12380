#include "ordering/annotations.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace memgraft::hotspot {
namespace {

using Bytes = std::vector<std::uint8_t>;

// What a class file has for `@Relaxed`, whose type is at that index.
constexpr std::uint16_t kWanted = 0x0107;
bool is_wanted(std::uint16_t index) { return index == kWanted; }

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Bytes two_bytes(unsigned number) {
  return {static_cast<std::uint8_t>(number >> 8U), static_cast<std::uint8_t>(number)};
}

Bytes annotation(unsigned type, std::initializer_list<Bytes> values = {}) {
  Bytes bytes = joined({two_bytes(type), two_bytes(static_cast<unsigned>(values.size()))});
  for (const Bytes& value : values) {
    bytes = joined({bytes, two_bytes(3), value});
  }
  return bytes;
}

Bytes array(std::initializer_list<Bytes> values) {
  Bytes bytes = joined({{'['}, two_bytes(static_cast<unsigned>(values.size()))});
  for (const Bytes& value : values) {
    bytes = joined({bytes, value});
  }
  return bytes;
}

const Bytes kText = {'s', 1, 7};
const Bytes kEnum = {'e', 1, 7, 1, 7};

TEST(Annotations, AreFoundAnywhereInTheList) {
  EXPECT_FALSE(has_annotation(two_bytes(0), is_wanted));
  EXPECT_FALSE(has_annotation(joined({two_bytes(1), annotation(5)}), is_wanted));
  EXPECT_TRUE(has_annotation(joined({two_bytes(1), annotation(kWanted)}), is_wanted));
  EXPECT_TRUE(has_annotation(joined({two_bytes(2), annotation(5), annotation(kWanted)}), is_wanted));
  EXPECT_FALSE(has_annotation(joined({two_bytes(1), annotation(5), annotation(kWanted)}), is_wanted));
}

TEST(Annotations, AreFoundBehindThoseWithElementsOfEveryKind) {
  for (const char tag : std::string("BCDFIJSZsc")) {
    const Bytes value{static_cast<std::uint8_t>(tag), 1, 7};
    EXPECT_TRUE(
        has_annotation(joined({two_bytes(2), annotation(5, {value}), annotation(kWanted)}), is_wanted))
        << tag;
  }
  const Bytes nested = joined({{'@'}, annotation(9, {kText, kEnum})});
  EXPECT_TRUE(has_annotation(
      joined({two_bytes(2),
              annotation(5, {kEnum, array({kText, kText}), array({}), nested, array({nested, nested})}),
              annotation(kWanted)}),
      is_wanted));
}

TEST(Annotations, WithinOthersAreNotThoseOfTheMethod) {
  const Bytes nested = joined({{'@'}, annotation(kWanted)});
  EXPECT_FALSE(has_annotation(joined({two_bytes(1), annotation(5, {nested, array({nested})})}), is_wanted));
}

TEST(Annotations, ThatAreCutShortAreNotFound) {
  const Bytes whole = joined(
      {two_bytes(2), annotation(5, {joined({{'@'}, annotation(9, {kText})}), kEnum}), annotation(kWanted)});
  ASSERT_TRUE(has_annotation(whole, is_wanted));
  // The type is the last but one pair of bytes; without it nothing is found, and nothing read behind the end.
  for (std::size_t length = 0; length < whole.size() - 2; ++length) {
    EXPECT_FALSE(has_annotation(std::span(whole).first(length), is_wanted)) << length;
  }
}

TEST(Annotations, BehindWhatCannotBeReadAreNotFound) {
  const Bytes unknown = {'?', 1, 7};
  EXPECT_FALSE(
      has_annotation(joined({two_bytes(2), annotation(5, {unknown}), annotation(kWanted)}), is_wanted));
  // Arrays of arrays of ..., which would exhaust the stack of who follows them all.
  for (const int depth : {3, 1'000'000}) {
    Bytes deep;
    for (int i = 0; i < depth; ++i) {
      deep.insert(deep.end(), {'[', 0, 1});
    }
    const Bytes bytes = joined({two_bytes(2), annotation(5, {joined({deep, kText})}), annotation(kWanted)});
    EXPECT_EQ(has_annotation(bytes, is_wanted), depth == 3) << depth;
  }
}

// --- Of a method, in structures such as HotSpot's ---

struct FakeSymbol {
  std::uint32_t hash = 0;
  std::uint16_t length = 0;
  std::array<char, 32> body{};

  explicit FakeSymbol(std::string_view text) : length(static_cast<std::uint16_t>(text.size())) {
    std::memcpy(body.data(), text.data(), text.size());
  }
};

struct FakeArray {
  std::int32_t length = 0;
  std::array<std::uint8_t, 16> data{};

  FakeArray() = default;
  explicit FakeArray(const Bytes& bytes) : length(static_cast<std::int32_t>(bytes.size())) {
    std::memcpy(data.data(), bytes.data(), bytes.size());
  }
};

struct FakeAnnotations {
  const FakeArray* of_class = nullptr;
};

struct FakeKlass {
  std::uint64_t before = 0;
  const FakeAnnotations* annotations = nullptr;
};

struct FakePool {
  const FakeArray* tags = nullptr;
  const FakeKlass* holder = nullptr;
  std::int32_t length = 0;
  std::array<const FakeSymbol*, 4> entries{};
};

struct FakeConstMethod {
  const FakePool* constants = nullptr;
  std::uint16_t flags = 0;
  const FakeArray* annotations = nullptr;
};

struct FakeMethod {
  std::uint64_t before = 0;
  const FakeConstMethod* const_method = nullptr;
};

constexpr std::uint16_t kHasAnnotations = 0x80;

const void* const* method_annotations(const void* const_method) {
  // The pointer of another type: what HotSpot's function returns is one to an array's pointer.
  return reinterpret_cast<const void* const*>(
      &static_cast<const FakeConstMethod*>(const_method)->annotations);
}

class RelaxedAnnotationOf : public testing::Test {
 protected:
  RelaxedAnnotationOf() {
    method_.const_method = &const_method_;
    const_method_.constants = &pool_;
    pool_.tags = &tags_;
    pool_.holder = &klass_;
    pool_.length = 4;
    pool_.entries = {nullptr, &other_, &relaxed_, &longer_};
  }

  [[nodiscard]] bool is_relaxed() const {
    const RelaxedAnnotation annotation({.method_const_method = offsetof(FakeMethod, const_method),
                                        .const_method_constants = offsetof(FakeConstMethod, constants),
                                        .const_method_flags = offsetof(FakeConstMethod, flags),
                                        .has_method_annotations = kHasAnnotations,
                                        .pool_bytes = offsetof(FakePool, entries),
                                        .pool_tags = offsetof(FakePool, tags),
                                        .pool_length = offsetof(FakePool, length),
                                        .pool_holder = offsetof(FakePool, holder),
                                        .class_annotations = offsetof(FakeKlass, annotations),
                                        .array_length = offsetof(FakeArray, length),
                                        .array_data = offsetof(FakeArray, data),
                                        .symbol_length = offsetof(FakeSymbol, length),
                                        .symbol_body = offsetof(FakeSymbol, body)},
                                       &method_annotations);
    return annotation.is_on(&method_);
  }

  void annotate_method(unsigned type) {
    on_method_ = FakeArray(joined({two_bytes(1), annotation(type)}));
    const_method_.annotations = &on_method_;
    const_method_.flags |= kHasAnnotations;
  }

  void annotate_class(unsigned type) {
    on_class_ = FakeArray(joined({two_bytes(1), annotation(type)}));
    of_class_.of_class = &on_class_;
    klass_.annotations = &of_class_;
  }

  FakeSymbol other_{"Ljava/lang/Depre;1"};  // as long
  FakeSymbol relaxed_{kRelaxedDescriptor};
  FakeSymbol longer_{"Lmemgraft/Relaxed;;"};
  FakeArray tags_{{0, 1, 1, 1}};
  FakeArray on_method_;
  FakeArray on_class_;
  FakeAnnotations of_class_;
  FakeKlass klass_;
  FakePool pool_;
  FakeConstMethod const_method_;
  FakeMethod method_;
};

TEST_F(RelaxedAnnotationOf, NothingIsNotThere) {
  EXPECT_FALSE(is_relaxed());
  EXPECT_FALSE(RelaxedAnnotation().is_on(&method_));
  klass_.annotations = &of_class_;  // of its fields, say
  EXPECT_FALSE(is_relaxed());
}

TEST_F(RelaxedAnnotationOf, TheMethodIsFound) {
  annotate_method(2);
  EXPECT_TRUE(is_relaxed());
  // Without the flag there is no such pointer.
  const_method_.flags = static_cast<std::uint16_t>(~kHasAnnotations);
  EXPECT_FALSE(is_relaxed());
}

TEST_F(RelaxedAnnotationOf, ItsClassIsFound) {
  annotate_class(2);
  EXPECT_TRUE(is_relaxed());
  annotate_method(1);
  EXPECT_TRUE(is_relaxed());
}

TEST_F(RelaxedAnnotationOf, AnotherTypeIsNotIt) {
  for (const unsigned type : {0U, 1U, 3U, 4U, 0xffffU}) {
    annotate_method(type);
    annotate_class(type);
    EXPECT_FALSE(is_relaxed()) << type;
  }
}

TEST_F(RelaxedAnnotationOf, AnEntryThatIsNoTextIsNotRead) {
  annotate_class(2);
  tags_.data[2] = 7;
  EXPECT_FALSE(is_relaxed());
}

}  // namespace
}  // namespace memgraft::hotspot
