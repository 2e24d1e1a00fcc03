/** Classic BPF, as seccomp takes it: jumps by name, put together to bytes. Pure. */

/** Offsets in `struct seccomp_data`. Of an argument, the low half. */
export const NR = 0
export const ARCH = 4
export const argument = (index: number): number => 16 + 8 * index

const LOAD = 0x20 // BPF_LD | BPF_W | BPF_ABS
const AND = 0x54 // BPF_ALU | BPF_AND | BPF_K
const EQUAL = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
const AT_LEAST = 0x35 // BPF_JMP | BPF_JGE | BPF_K
const RETURN = 0x06 // BPF_RET | BPF_K

export const ALLOW = 0x7fff0000
export const KILL = 0x80000000
/** The call is not made, and fails with this number. */
export const errno = (number: number): number => 0x00050000 | number

export type Instruction =
  | { readonly op: 'load'; readonly offset: number }
  | { readonly op: 'and'; readonly value: number }
  /** Skips the next `skip` steps unless it holds. */
  | { readonly op: 'equal' | 'atLeast' | 'differs'; readonly value: number; readonly skip: number }
  | { readonly op: 'return'; readonly action: number }

export const load = (offset: number): Instruction => ({ op: 'load', offset })
export const and = (value: number): Instruction => ({ op: 'and', value })
export const give = (action: number): Instruction => ({ op: 'return', action })

/** The steps are run where the loaded value is this one, and left out otherwise. */
export const when = (value: number, steps: readonly Instruction[]): readonly Instruction[] => [
  { op: 'equal', value, skip: steps.length },
  ...steps,
]
export const unless = (value: number, steps: readonly Instruction[]): readonly Instruction[] => [
  { op: 'differs', value, skip: steps.length },
  ...steps,
]
export const whenAtLeast = (value: number, steps: readonly Instruction[]): readonly Instruction[] => [
  { op: 'atLeast', value, skip: steps.length },
  ...steps,
]

/** `struct sock_filter[]`. @throws RangeError for a jump that is too far: they have one byte. */
export function assemble(steps: readonly Instruction[], { isLittleEndian = true } = {}): Uint8Array {
  const view = new DataView(new ArrayBuffer(steps.length * 8))
  for (const [at, step] of steps.entries()) {
    const { code, yes = 0, no = 0, value } = encode(step)
    if (yes + no > 255) throw new RangeError(`a jump over ${yes + no} steps is too far`)
    view.setUint16(at * 8, code, isLittleEndian)
    view.setUint8(at * 8 + 2, yes)
    view.setUint8(at * 8 + 3, no)
    view.setUint32(at * 8 + 4, value >>> 0, isLittleEndian)
  }
  return new Uint8Array(view.buffer)
}

function encode(step: Instruction): { code: number; yes?: number; no?: number; value: number } {
  switch (step.op) {
    case 'load':
      return { code: LOAD, value: step.offset }
    case 'and':
      return { code: AND, value: step.value }
    case 'return':
      return { code: RETURN, value: step.action }
    case 'differs':
      return { code: EQUAL, yes: step.skip, value: step.value }
    case 'equal':
    case 'atLeast':
      return { code: step.op === 'equal' ? EQUAL : AT_LEAST, no: step.skip, value: step.value }
  }
}
