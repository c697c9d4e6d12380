"""The ordering graft on the command line, and what is said of it."""

from pathlib import Path

import pytest

from memgraft.conftest import Memgraft
from memgraft.errors import WrongUsageError
from memgraft.formats import Grafts, Jvm, JvmSummary
from memgraft.formats.ordering import BytecodeOrdering, Ordering, Speculation
from memgraft.grafts import ordering_section
from memgraft.grafts.selection import select
from memgraft.jvm import launch

C2 = {
    "methods": 400,
    "loads": 13_000,
    "stores": 3_000,
    "relaxed": 0,
    "annotated": 0,
    "final_loads": 4_000,
    "private_loads": 20,
    "private_stores": 200,
    "private_later": 50,
    "joined_fences": 75,
    "fences_before": {"loads": 1_300, "unknown": 2, "calls": 72, "ends": 159},
    "fences_at_ends": 1,
    "atomics": 5,
    "fences_behind_calls": 300,
}


def ordering(
    *, unsafe: int = 0, relaxed: int = 0, annotated: int = 0, unsafe_in_c1: int = 0, unsafe_templates: int = 0
) -> Ordering:
    return Ordering.model_validate(
        {
            "placement": "sc",
            "c2": C2 | {"relaxed": relaxed, "annotated": annotated},
            "c1": {"methods": 5_000, "loads": 28_000, "stores": 10_000, "fences_behind_calls": 130},
            "interpreter": {"stores": 81},
            "check": {
                "methods": 400,
                "accesses": 16_000,
                "excused": 4_200,
                "unsafe": unsafe,
                "unsafe_methods": ["a.B.c()V", "a.B.d()V", "a.B.e()V", "a.B.f()V"][:unsafe],
                "c1": {
                    "methods": 4_990,
                    "stores": 10_100,
                    "own": 6_000,
                    "unsafe": unsafe_in_c1,
                    "unsafe_methods": ["a.B.g()V"][:unsafe_in_c1],
                },
                "interpreter": {"stores": 81, "unsafe": unsafe_templates},
            },
        }
    )


def summary(found: Ordering | None) -> JvmSummary:
    jvm = Jvm(version="17", feature=17, vendor="v", name="n")
    return JvmSummary(schema=1, kind="jvm-summary", state="ended", pid=1, jvm=jvm, grafts=Grafts(ordering=found))


def test_each_executor_has_its_line() -> None:
    c2, left, c1, checked, checked_c1, checked_interpreter, interpreter = ordering_section.lines(ordering())
    assert left == (
        "C2: 1,533 fences left behind stores: 1,300 with a load next, 72 with a call, 159 with the method's end, "
        "2 with what is not understood; 1 method with one fence at the end"
    )
    assert c2.startswith("C2: 400 methods compiled, with 13,000 loads and 3,000 stores in order; 250 of the stores")
    assert c1 == "C1: 5,000 methods compiled, with 28,000 loads and 10,000 stores in order"
    assert checked == "checked: 400 methods of C2, 16,000 accesses in them, 0 without the barrier they need"
    assert checked_c1 == "checked: 4,990 methods of C1, 10,100 stores in them, 0 without a fence"
    assert checked_interpreter == "checked: 81 stores in the interpreter's templates, 0 without a fence"
    assert "81 places" in interpreter
    named = list(ordering_section.lines(ordering(relaxed=12)))[3]
    assert named == "relaxed: 12 accesses in C2 keep the Java memory model"
    some = list(ordering_section.lines(ordering(relaxed=12, annotated=5)))[3]
    assert some.endswith("keep the Java memory model, 5 of them because of @memgraft.Relaxed")


def test_a_run_with_an_access_that_passed_by_is_worth_nothing() -> None:
    assert ordering_section.unsound(ordering()) == ""
    said = ordering_section.unsound(ordering(unsafe=4))
    assert said
    assert "was not sequentially consistent: 4 accesses" in said
    assert "a.B.c()V, a.B.d()V, a.B.e()V;" in said


def test_so_is_one_with_a_store_of_c1_or_the_interpreter_that_did() -> None:
    of_c1 = ordering_section.unsound(ordering(unsafe_in_c1=1))
    assert of_c1
    assert "1 store left C1 without a fence, or among code that was not seen, in a.B.g()V; expected none" in of_c1
    of_both = ordering_section.unsound(ordering(unsafe=1, unsafe_templates=2))
    assert of_both
    assert "in a.B.c()V; 2 stores of the interpreter's templates have no fence; expected none" in of_both


def test_rows_are_of_all_launches() -> None:
    rows = dict(ordering_section.rows([[summary(ordering()), summary(None)], [summary(ordering())]]))
    assert rows["C2: stores to objects nobody else has"] == "250"
    assert ordering_section.rows([[summary(None)]]) == []


def test_options_of_jvm_and_agent(tmp_path: Path) -> None:
    file = tmp_path / "a, 100%.txt"
    file.touch()
    selection = select({"ordering": "sc"}, {"relaxed": file})
    assert selection.agent_options == ["ordering=sc", f"relaxed={tmp_path}/a%2C%20100%25.txt"]
    assert "-XX:-OptimizeFill" in selection.jvm_options
    stock = select({"ordering": "stock"})
    assert stock.agent_options == stock.jvm_options == []
    assert select({"ordering": "sc-seed"}).agent_options == ["ordering=sc-seed"]


def test_only_a_run_by_itself_is_checked(tmp_path: Path) -> None:
    def options(choices: dict[str, str], *, alone: bool) -> str:
        return launch.join(select(choices), "JAVA_TOOL_OPTIONS", Path("agent.so"), tmp_path, alone=alone).options[-1]

    assert ",check-order," in options({"ordering": "sc"}, alone=True)
    assert "check-order" not in options({"ordering": "sc"}, alone=False)
    assert "check-order" not in options({"zeroing": "bulk"}, alone=True)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"ordering": "stock"}, "--ordering stock has no relaxed"),
        ({"zeroing": "bulk"}, "--ordering left out has no relaxed"),
        ({"ordering": "sc"}, "expected a file that exists"),
    ],
)
def test_relaxed_without_its_graft_or_its_file(choices: dict[str, str], message: str, tmp_path: Path) -> None:
    file = tmp_path / ("missing" if choices == {"ordering": "sc"} else "relaxed")
    if "missing" not in file.name:
        file.touch()
    with pytest.raises(WrongUsageError, match=message):
        select(choices, {"relaxed": file})


def bytecode(*, unfenced: int = 0, failed: int = 0, checked: int = 999) -> BytecodeOrdering:
    kinds = ("field", "static", "element")
    fences = {f"{kind}_{access}": 1_000 for kind in kinds for access in ("loads", "stores")}
    return BytecodeOrdering.model_validate(
        {
            "classes": 999,
            "fences": fences | {"weak_accesses": 500, "handle_calls": 338, "copies": 490, "intrinsics": 700},
            "hidden_classes": 40,
            "early_hidden_classes": 62,
            "checked_classes": checked,
            "unfenced": unfenced,
            "unfenced_methods": ["a.B.c", "a.B.d"][:unfenced],
            "failed": failed,
            "failed_classes": {"a.C": "Method too large: a/C.d ()V"} if failed else {},
        }
    )


def rewritten(**found: int) -> JvmSummary:
    made = summary(None)
    return made.model_copy(update={"grafts": Grafts(bytecode=bytecode(**found))})


LARGE = "-XX:-DontCompileHugeMethods"


class TestEngineBytecode:
    def test_tells_the_java_agent_and_lets_large_methods_be_compiled(self) -> None:
        selection = select({"ordering": "sc"}, {"engine": "bytecode"})
        joined = launch.join(selection, "V", Path("/a/b.jar"), Path("/t/s, t"), alone=True)
        assert joined.options == (LARGE, "-javaagent:/a/b.jar=check,summary=/t/s%2C%20t")
        joined = launch.join(selection, "V", Path("/a/b.jar"), Path("/t"))
        assert joined.options == (LARGE, "-javaagent:/a/b.jar=summary=/t")
        assert str(selection) == "sc ordering (engine bytecode)"

    def test_hotspots_joints_are_the_default_and_can_be_named(self) -> None:
        named = select({"ordering": "sc"}, {"engine": "hotspot"})
        assert named.agent_options == select({"ordering": "sc"}).agent_options == ["ordering=sc"]
        assert named.jvm_options == select({"ordering": "sc"}).jvm_options

    @pytest.mark.parametrize(
        ("choices", "values", "said"),
        [
            ({"ordering": "sc", "zeroing": "bulk"}, {}, "joins HotSpot itself; found --zeroing bulk"),
            ({"ordering": "sc"}, {"relaxed": __file__}, f"joins HotSpot itself; found --relaxed {__file__}"),
            ({"ordering": "sc-seed"}, {}, "--ordering sc-seed has no engine; expected --ordering sc, or no --engine"),
            ({"zeroing": "bulk"}, {}, "--ordering left out has no engine; expected --ordering sc, or no --engine"),
        ],
    )
    def test_goes_with_nothing_else(self, choices: dict[str, str], values: dict[str, str], said: str) -> None:
        with pytest.raises(WrongUsageError) as refused:
            select(choices, {"engine": "bytecode", **values})
        assert str(refused.value).endswith(said)

    def test_what_is_said(self) -> None:
        section = ordering_section.OrderingSection()
        did, checked = section.lines(rewritten())
        assert did == (
            "bytecode: 999 classes rewritten, with 3,000 loads and 3,000 stores in order; further fences at 500 calls "
            "of weaker accesses, 338 of method handles, 490 of copies, 700 of intrinsics"
        )
        assert checked == "checked: 999 classes, 0 accesses in them without a fence"
        assert len(list(section.lines(rewritten(checked=0)))) == 1
        assert section.unsound(rewritten()) == ""
        table = section.table([rewritten(), rewritten()])
        assert table is not None
        assert table.row_count == 2
        assert section.rows([[rewritten()], [rewritten()]]) == [("classes rewritten", "999")]

    def test_an_unsound_run_is_called_so(self) -> None:
        section = ordering_section.OrderingSection()
        assert section.unsound(rewritten(unfenced=2, failed=1)) == (
            "the run was not sequentially consistent: 1 class could not be rewritten, such as a.C (Method too large: "
            "a/C.d ()V); 2 accesses have no fence, in a.B.c, a.B.d; expected none"
        )


def speculation(**changes: object) -> JvmSummary:
    made = bytecode()
    found = Speculation(classes=231, switched=12, seconds=0.071)
    update = {"speculation": found.model_copy(update=changes)}
    return summary(None).model_copy(update={"grafts": Grafts(bytecode=made.model_copy(update=update))})


class TestSpeculation:
    def test_tells_the_java_agent(self) -> None:
        def told(choice: str, *, alone: bool) -> str:
            *others, agent = launch.join(
                select({"ordering": choice}), "V", Path("/b.jar"), Path("/t"), alone=alone
            ).options
            assert others == [LARGE]
            return agent

        assert told("speculative", alone=True) == "-javaagent:/b.jar=speculate,check,summary=/t"
        assert told("speculative", alone=False) == "-javaagent:/b.jar=speculate,summary=/t"
        assert told("speculative-checks", alone=False) == "-javaagent:/b.jar=speculate=never-switch,summary=/t"
        assert told("sc-bytecode", alone=False) == "-javaagent:/b.jar=summary=/t"

    def test_says_how_many_classes_it_switched(self) -> None:
        section = ordering_section.OrderingSection()
        _, said, _ = section.lines(speculation())
        begun = (
            "speculation: 231 classes begun without fences at their fields; 12 of them switched to fences, in 0.07 s"
        )
        assert said == begun
        _, said, _ = section.lines(speculation(ended="native code in libx.so"))
        assert said == f"{begun}; it ended with native code in libx.so"
        _, said, _ = section.lines(speculation(failed_checks={"a.B": 3}))
        assert "checks alone, in 231 classes, which is not sequentially consistent" in said
        assert section.rows([[speculation()], [speculation(switched=14)]])[1:] == [
            ("classes begun without fences", "231"),
            ("of these switched to fences", "13 [12, 14]"),
        ]

    def test_an_access_without_a_check_makes_it_unsound(self) -> None:
        jvm = speculation()
        assert jvm.grafts.bytecode is not None
        broken = jvm.grafts.bytecode.model_copy(update={"unfenced": 1, "unfenced_methods": ["a.B.c"]})
        jvm = jvm.model_copy(update={"grafts": Grafts(bytecode=broken)})
        assert "1 access has neither a fence nor both a check" in ordering_section.OrderingSection().unsound(jvm)


def test_without_its_jar_the_engine_is_refused(memgraft: Memgraft) -> None:
    done = memgraft("run", "--ordering", "sc", "--engine", "bytecode", "--", "true")
    assert done.code == 3
    assert "memgraft-ordering.jar is not at " in done.err
    assert "build it with `make java-agent` in a checkout, or install Memgraft again" in done.err
