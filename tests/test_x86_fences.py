"""The check of the interpreter's machine code, on templates made by hand and on those of every JDK."""

import pytest

pytest.importorskip("capstone", reason="no Capstone: setup/python development installs it")

from conftest import COLLECTORS, JDKS, Jdk, memgraft
from processes import run
from tiers import combinations
from x86_fences import Template, Unfenced, check, check_all, templates

# Encodings of the Intel SDM, volume 2.
STORE = "89 04 19"  # mov [rcx+rbx], eax
STORE_ELEMENT = "89 44 9a 10"  # mov [rdx+rbx*4+16], eax
STORE_DOUBLE = "c5 fb 11 44 da 10"  # vmovsd [rdx+rbx*8+16], xmm0
LOAD = "8b 46 0c"  # mov eax, [rsi+12]
FENCE = "f0 83 44 24 c0 00"  # lock addl [rsp-64], 0
EXCHANGE = "87 04 19"  # xchg [rcx+rbx], eax
NO_FENCE = "83 44 24 c0 00"  # addl [rsp-64], 0
DISPATCH = "41 ff 24 da"  # jmp [r10+rbx*8]
OWN = "89 44 24 08 41 89 47 08 89 45 f0 41 89 06"  # mov to [rsp+8], [r15+8], [rbp-16], [r14]
NEXT_BYTECODE = "41 0f b6 5d 01"  # movzx ebx, byte [r13+1]
CARD = "48 c1 e9 09 49 ba 00 90 12 e9 37 7f 00 00 41 c6 04 0a 00"  # shr rcx, 9; mov r10, imm64; mov byte [r10+rcx], 0
PROFILE = "48 8b 45 d8 48 83 40 08 01"  # mov rax, [rbp-40]; add qword [rax+8], 1
MIRROR = "48 8b 45 e0 48 83 40 08 01"  # mov rax, [rbp-32]; add qword [rax+8], 1
ALLOCATED = "49 8b 87 b8 01 00 00 c7 40 08 00 00 00 00"  # mov rax, [r15+440]; mov dword [rax+8], 0
COUNTERS = "48 8b 4d e8 48 8b 49 18 ff 41 0c"  # mov rcx, [rbp-24]; mov rcx, [rcx+24]; inc dword [rcx+12]
RUNTIME_CALL = "e8 00 10 00 00"
PUSH_RCX, POP_RCX = "51", "59"
OVER_FENCE = "74 06"  # je past the fence


def template(*code: str, name: str = "putfield  181 putfield") -> Template:
    return Template(name, 0x1000, bytes.fromhex(" ".join(code)))


@pytest.mark.parametrize("store", [STORE, STORE_ELEMENT, STORE_DOUBLE])
def test_a_store_has_its_fence_or_is_found(store: str) -> None:
    fenced = check(template(store, FENCE, NEXT_BYTECODE, DISPATCH))
    assert (fenced.fenced, fenced.own, fenced.unfenced) == (1, 0, [])
    missing = check(template(store, NEXT_BYTECODE, DISPATCH))
    assert missing.fenced == 0
    assert [one.before for one in missing.unfenced] == ["jmp qword ptr [r10 + rbx*8]"]


@pytest.mark.parametrize(
    "code",
    [
        (STORE, NO_FENCE, DISPATCH),
        (STORE, LOAD, FENCE, DISPATCH),
        (FENCE, STORE, DISPATCH),
        (STORE, OVER_FENCE, FENCE, DISPATCH),
        (STORE, RUNTIME_CALL, DISPATCH),
        (STORE,),
    ],
)
def test_a_fence_that_does_not_do(code: tuple[str, ...]) -> None:
    assert [one.store for one in check(template(*code)).unfenced] == ["mov dword ptr [rcx + rbx], eax"]


def test_what_may_stand_between_a_store_and_its_fence() -> None:
    for between in (CARD, OWN, NEXT_BYTECODE, RUNTIME_CALL, "74 00"):
        found = check(template(STORE, between, FENCE, DISPATCH))
        assert (found.fenced, found.unfenced) == (1, [])


def test_an_exchange_is_its_own_fence() -> None:
    assert check(template(EXCHANGE, DISPATCH)).unfenced == []
    assert check(template(STORE, EXCHANGE, DISPATCH)).unfenced == []


@pytest.mark.parametrize("own", [OWN, CARD, PROFILE, ALLOCATED])
def test_what_is_not_shared_needs_no_fence(own: str) -> None:
    found = check(template(own, DISPATCH))
    assert (found.fenced, found.unfenced) == (0, [])


def test_a_class_s_mirror_is_an_object_where_it_may_be_stored_to() -> None:
    assert len(check(template(MIRROR, DISPATCH, name="putstatic  179 putstatic")).unfenced) == 1


def test_pointers_are_followed_only_where_nothing_of_the_program_is_stored() -> None:
    assert check(template(COUNTERS, DISPATCH, name="goto  167 goto")).unfenced == []
    assert len(check(template(COUNTERS, DISPATCH)).unfenced) == 1


def test_a_register_is_known_again_after_it_was_saved() -> None:
    method = "48 8b 4d e8"  # mov rcx, [rbp-24]
    store = "89 41 0c"  # mov [rcx+12], eax
    assert check(template(method, PUSH_RCX, RUNTIME_CALL, POP_RCX, store, DISPATCH)).unfenced == []
    assert len(check(template(method, RUNTIME_CALL, store, DISPATCH)).unfenced) == 1
    assert len(check(template(POP_RCX, store, DISPATCH)).unfenced) == 1


def test_a_reference_that_is_decompressed_is_one() -> None:
    heap_base = "49 bc 00 00 00 00 08 00 00 00"  # mov r12, imm64
    decompressed = "4c 01 e1"  # add rcx, r12
    assert len(check(template(heap_base, decompressed, STORE, DISPATCH)).unfenced) == 1


def test_every_entry_is_followed() -> None:
    assert len(check(template(DISPATCH, STORE, DISPATCH)).unfenced) == 1


def test_code_that_is_none_is_refused_and_padding_is_not() -> None:
    assert check(template(STORE, FENCE, DISPATCH, "00 00 00")).unfenced == []
    with pytest.raises(ValueError, match="could be decoded"):
        check(template(DISPATCH, "06 06"))


PRINTED = """----------------------------------------------------------------------
iastore  79 iastore  [0x00007f0000001000, 0x00007f000000100a]  10 bytes

[MachCode]
  0x00007f0000001000: 8944 9a10 | 41ff 24da | 9090 0000
[/MachCode]
"""


def test_templates_are_read_as_hotspot_prints_them() -> None:
    [found] = templates(PRINTED)
    assert found == Template("iastore  79 iastore", 0x7F0000001000, bytes.fromhex("89449a1041ff24da9090"))
    assert found.stores
    assert not Template("astore_1  76 astore_1", 0, b"").stores


# Reached after JVM TI's PopFrame alone: gives back an argument, on the stack of expressions.
PASSED_OVER = {Unfenced("exception handling", "mov qword ptr [rbx], rax", "jmp qword ptr [r10 + rbx*8]")}
PRINT = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+PrintInterpreter"]


@combinations(jdk=JDKS, collector=COLLECTORS, strength=1)
def test_the_interpreter_of_a_grafted_jvm(jdk: Jdk, collector: str) -> None:
    """The one that this JVM generates: other flags and other CPUs make another, of the same parts."""
    java = [jdk.java, f"-XX:+Use{collector}GC", *PRINT, "-version"]
    done = memgraft("run", "--ordering", "sc", "--", *java)
    assert done.returncode == 0, done.stderr
    found, sums = check_all(done.stdout)
    assert sums["templates"] > 250
    # All that the graft says it did, and nothing else.
    assert f"{sums['fenced']} stores in the interpreter's templates, 0 without a fence" in done.stdout + done.stderr
    assert {unfenced for one in found.values() for unfenced in one.unfenced} <= PASSED_OVER


def test_the_stock_s_interpreter_is_found_wanting(distribution_jdk: Jdk) -> None:
    found, _ = check_all(run([distribution_jdk.java, "-XX:+UseSerialGC", *PRINT, "-version"]).stdout)
    wanting = {name.split()[1] for name, one in found.items() if set(one.unfenced) - PASSED_OVER}
    assert {"iastore", "aastore", "dastore", "putfield", "putstatic", "fast_aputfield", "fast_dputfield"} <= wanting
    assert {name for name in wanting if "put" not in name and not name.endswith("store")} == set()
