"""Checks HotSpot's interpreter, as machine code, for stores that no full fence follows.

Each template is followed on every way through it. A store through a register that may hold an object must be followed
by a full fence before anything else is loaded through such a register, and before the template is left. What the JVM's
own memory is (the frame, the thread, profiles, cards, what a TLAB just gave) is told by where a register's value comes
from; whatever is not understood counts as an object. Capstone decodes.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import capstone
from capstone import x86

# cpu/x86/frame_x86.hpp, the same in JDK 17 to 25: slots of an interpreted frame, relative to rbp, that hold the method,
# its profile and its constant pool's cache. Not the one between them: it holds the class's mirror, an object.
FRAME_SLOTS = frozenset({-0x18, -0x28, -0x30})
# The heap's beginning, to which references are relative: what is reached from there is an object.
HEAP_BASE = "r12"
# The stack, the frame, the locals, the bytecode and the thread (cpu/x86/register_x86.hpp, interp_masm_x86.hpp).
PRIVATE = frozenset({"rsp", "rbp", "r14", "r13", "r15", "rip"})
CARD_SHIFTS = range(7, 11)
# Bytecodes that store to fields and elements, under the names of their templates; those that store to local variables
# (istore, astore_1) are none.
STORING = re.compile(r"(nofast_|fast_[a-z])?put(field|static)|[ilfdabcs]astore")


@dataclass(frozen=True)
class Template:
    """A piece of the interpreter."""

    name: str
    address: int
    code: bytes

    @property
    def stores(self) -> bool:
        """Whether it is one of a bytecode that stores to a field or an element."""
        return any(STORING.fullmatch(word) for word in self.name.split())


@dataclass(frozen=True)
class Unfenced:
    """A store that a load, or the end of the template, may follow without a fence."""

    template: str
    store: str
    before: str


@dataclass
class Findings:
    """What was found in a template."""

    fenced: int = 0
    """Stores to what may be an object, with their fence."""
    own: int = 0
    """Stores to the JVM's own memory, but for the stack."""
    unfenced: list[Unfenced] = field(default_factory=list)


@dataclass(frozen=True)
class State:
    """What is known on the way to an instruction."""

    own: frozenset[str] = frozenset()
    """Registers that lead to memory of the JVM's own."""
    pushed: tuple[bool, ...] = ()
    """Of what was pushed, the last at the end, whether it leads there."""
    pending: frozenset[int] = frozenset()
    """Addresses of the stores that no fence has followed yet."""

    def joined(self, other: "State") -> "State":
        # Where ways come with different heights of the stack, nothing is known of it.
        same_height = len(self.pushed) == len(other.pushed)
        both = [mine and others for mine, others in zip(self.pushed, other.pushed, strict=False)]
        return State(self.own & other.own, tuple(both) if same_height else (), self.pending | other.pending)


def templates(printed: str) -> Iterator[Template]:
    """Those that -XX:+PrintInterpreter prints, in its form without a disassembler."""
    head = re.compile(r"^(\S.*?)\s+\[0x([0-9a-f]+), 0x([0-9a-f]+)\]\s+\d+ bytes", re.MULTILINE)
    row = re.compile(r"^  0x[0-9a-f]+: (.*)$", re.MULTILINE)
    for found in head.finditer(printed):
        machine_code = printed[found.end() :].split("[/MachCode]", 1)[0]
        code = bytes.fromhex("".join(row.findall(machine_code)).replace("|", "").replace(" ", ""))
        begin, end = int(found[2], 16), int(found[3], 16)
        yield Template(found[1].strip(), begin, code[: end - begin])


def decode(template: Template) -> dict[int, capstone.CsInsn]:
    decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    decoder.detail = True
    instructions = {}
    end = template.address
    for found in decoder.disasm(template.code, template.address):
        # JDK 17 fills up with zeroes, which are an instruction, too.
        if not any(template.code[end - template.address :]):
            break
        instructions[found.address] = found
        end = found.address + found.size
    if any(template.code[end - template.address :]):
        decoded = end - template.address
        raise ValueError(f"{template.name}: only {decoded} of {len(template.code)} bytes could be decoded")
    return instructions


def check(template: Template) -> Findings:
    return _Walk(template).findings()


def is_fence(instruction: capstone.CsInsn) -> bool:
    """Whether no later load overtakes an earlier store: Intel SDM, volume 3, 9.2.2 and 9.2.3."""
    reaches_memory = any(operand.type == x86.X86_OP_MEM for operand in instruction.operands)
    locked = x86.X86_PREFIX_LOCK in instruction.prefix
    return instruction.id == x86.X86_INS_MFENCE or (reaches_memory and (locked or instruction.id == x86.X86_INS_XCHG))


class _Walk:
    """Every way through a template, until nothing new is learnt."""

    def __init__(self, template: Template) -> None:
        self.template = template
        self.instructions = decode(template)
        self.addresses = sorted(self.instructions)
        self.before: dict[int, State] = {}
        # One that a bytecode of another kind is made of has no object that it could store to, but reaches its
        # counters through more than one pointer.
        self.follows_pointers = not template.stores
        # Whoever calls a method has it in rbx.
        self.at_entry = State(frozenset({"rbx"}) if "method entry point" in template.name else frozenset())

    def findings(self) -> Findings:
        self._run()
        found = Findings()
        stores: dict[int, str] = {}
        too_early: dict[int, str] = {}
        for address, instruction in self.instructions.items():
            state = self.before[address]
            if (memory := self._written(instruction)) is not None and not is_fence(instruction):
                if not self._is_shared(instruction, memory, state):
                    found.own += self._base(instruction, memory) not in PRIVATE
                else:
                    stores[address] = _text(instruction)
            if state.pending and (before := self._too_early(instruction, state)) is not None:
                too_early |= dict.fromkeys(state.pending - set(too_early), before)
            if address == self.addresses[-1] and not _ends_way(instruction):
                too_early |= dict.fromkeys(self._after(instruction, state).pending - set(too_early), "the end")
        found.fenced = sum(store not in too_early for store in stores)
        found.unfenced = [Unfenced(self.template.name, stores[store], before) for store, before in too_early.items()]
        return found

    def _run(self) -> None:
        # A template has several entries. One may be wherever nothing leads to.
        work = [(self.addresses[0], self.at_entry)]
        while work:
            address, state = work.pop()
            known = self.before.get(address)
            merged = state if known is None else known.joined(state)
            if merged != known:
                self.before[address] = merged
                after = self._after(self.instructions[address], merged)
                work.extend((successor, after) for successor in self._successors(self.instructions[address]))
            if not work:
                work = [(entry, State()) for entry in self.addresses if entry not in self.before][:1]

    def _successors(self, instruction: capstone.CsInsn) -> Iterator[int]:
        jumps = instruction.group(capstone.CS_GRP_JUMP)
        if jumps and (target := _target(instruction)) in self.instructions:
            yield target
        following = instruction.address + instruction.size
        if not _ends_way(instruction) and following in self.instructions:
            yield following

    def _too_early(self, instruction: capstone.CsInsn, state: State) -> str | None:
        """What a pending store's fence would come too late for."""
        if is_fence(instruction):
            return None
        jumps = instruction.group(capstone.CS_GRP_JUMP)
        leaves = jumps and _target(instruction) not in self.instructions
        if leaves or instruction.group(capstone.CS_GRP_RET):
            return _text(instruction)
        memory = self._read(instruction)
        if memory is not None and self._is_shared(instruction, memory, state):
            return _text(instruction)
        return None

    def _after(self, instruction: capstone.CsInsn, state: State) -> State:
        pending = state.pending
        memory = self._written(instruction)
        if is_fence(instruction):
            pending = frozenset()
        elif memory is not None and self._is_shared(instruction, memory, state):
            pending |= {instruction.address}
        if instruction.group(capstone.CS_GRP_CALL):
            # Of the runtime, which accesses no field for the program, and keeps rbx (System V ABI) and the stack.
            return State(state.own & {"rbx"}, state.pushed, pending)
        destination = _destination(instruction)
        if instruction.id == x86.X86_INS_PUSH:
            return State(state.own, (*state.pushed, destination in state.own), pending)
        _, written = instruction.regs_access()
        changed = {_whole(instruction.reg_name(register)) for register in written}
        own = state.own - changed
        pushed = state.pushed if "rsp" not in changed else ()
        if instruction.id == x86.X86_INS_POP:
            pushed = state.pushed[:-1]
            leads_to_own = bool(state.pushed) and state.pushed[-1]
        else:
            leads_to_own = destination in changed - {HEAP_BASE} and self._leads_to_own(instruction, state)
        return State(own | {destination} if leads_to_own else own, pushed, pending)

    def _leads_to_own(self, instruction: capstone.CsInsn, state: State) -> bool:
        """Whether what it computes is an address of the JVM's own."""
        operands = instruction.operands
        source = operands[-1]
        registers = (self._register_is_own(instruction, one, state) for one in operands)
        own = False
        match instruction.id:
            case x86.X86_INS_LEA:
                own = not self._is_shared(instruction, source.mem, state)
            case x86.X86_INS_SHR:
                own = source.type == x86.X86_OP_IMM and source.imm in CARD_SHIFTS
            case x86.X86_INS_ADD | x86.X86_INS_SUB | x86.X86_INS_AND:
                own = any(registers)
            case x86.X86_INS_CMOVE:
                own = all(registers)
            case x86.X86_INS_XOR:
                # Nothing yet; as an index it would hide that something else is an object.
                own = self.follows_pointers and operands[0].reg == source.reg
            case x86.X86_INS_MOVABS:
                own = True
            case x86.X86_INS_MOV if source.type == x86.X86_OP_MEM:
                own = self._loads_own(instruction, source.mem, state)
            case x86.X86_INS_MOV:
                own = self._register_is_own(instruction, source, state)
        return own

    def _loads_own(self, instruction: capstone.CsInsn, memory: x86.X86OpMem, state: State) -> bool:
        base = self._base(instruction, memory)
        if base == "rbp":
            return memory.disp in FRAME_SLOTS or self.follows_pointers
        chained = base not in PRIVATE and not self._is_shared(instruction, memory, state)
        return base == "r15" or (self.follows_pointers and chained)

    @staticmethod
    def _register_is_own(instruction: capstone.CsInsn, operand: x86.X86Op, state: State) -> bool:
        if operand.type != x86.X86_OP_REG:
            return False
        name = _whole(instruction.reg_name(operand.reg))
        return name in state.own or name in PRIVATE

    @staticmethod
    def _is_shared(instruction: capstone.CsInsn, memory: x86.X86OpMem, state: State) -> bool:
        """Whether it may be memory of an object."""
        registers = [_whole(instruction.reg_name(one)) for one in (memory.base, memory.index) if one]
        return bool(registers) and not any(one in PRIVATE or one in state.own for one in registers)

    @staticmethod
    def _base(instruction: capstone.CsInsn, memory: x86.X86OpMem) -> str:
        return _whole(instruction.reg_name(memory.base)) if memory.base else ""

    @staticmethod
    def _written(instruction: capstone.CsInsn) -> x86.X86OpMem | None:
        return _memory(instruction, capstone.CS_AC_WRITE)

    @staticmethod
    def _read(instruction: capstone.CsInsn) -> x86.X86OpMem | None:
        return _memory(instruction, capstone.CS_AC_READ)


def _destination(instruction: capstone.CsInsn) -> str:
    """The register that it is about first; empty if there is none."""
    operands = instruction.operands
    return _whole(instruction.reg_name(operands[0].reg)) if operands and operands[0].type == x86.X86_OP_REG else ""


def _memory(instruction: capstone.CsInsn, access: int) -> x86.X86OpMem | None:
    if instruction.id in {x86.X86_INS_LEA, x86.X86_INS_NOP}:
        return None
    for at, operand in enumerate(instruction.operands):
        if operand.type == x86.X86_OP_MEM:
            first = capstone.CS_AC_WRITE if at == 0 else capstone.CS_AC_READ
            # Capstone is wrong about vmovss and vmovsd, and says nothing of others.
            moves = instruction.mnemonic.startswith(("mov", "vmov"))
            return operand.mem if (first if moves else operand.access or first) & access else None
    return None


def _target(instruction: capstone.CsInsn) -> int:
    """Where a jump leads, if that is said in it."""
    [operand, *_] = instruction.operands
    return int(operand.imm) if operand.type == x86.X86_OP_IMM else -1


def _ends_way(instruction: capstone.CsInsn) -> bool:
    ends = {x86.X86_INS_JMP, x86.X86_INS_HLT, x86.X86_INS_UD2}
    return instruction.id in ends or instruction.group(capstone.CS_GRP_RET)


def _whole(register: str) -> str:
    """The 64-bit register that it is a part of."""
    if re.fullmatch(r"r\d+[dwb]", register):
        return register[:-1]
    if register in {"al", "bl", "cl", "dl", "ah", "bh", "ch", "dh"}:
        return f"r{register[0]}x"
    if register in {"sil", "dil", "spl", "bpl"}:
        return f"r{register[:2]}"
    if re.fullmatch(r"[a-d]x|si|di|sp|bp", register):
        return f"r{register}"
    if re.fullmatch(r"e([a-d]x|si|di|sp|bp|ip)", register):
        return f"r{register[1:]}"
    return register


def _text(instruction: capstone.CsInsn) -> str:
    return f"{instruction.mnemonic} {instruction.op_str}".strip()


def check_all(printed: str) -> tuple[Mapping[str, Findings], Counter[str]]:
    """Each template's findings by its name and number, and the sums."""
    found = {f"{at} {template.name}": check(template) for at, template in enumerate(templates(printed))}
    sums = Counter(
        templates=len(found),
        fenced=sum(one.fenced for one in found.values()),
        own=sum(one.own for one in found.values()),
        unfenced=sum(len(one.unfenced) for one in found.values()),
    )
    return found, sums
