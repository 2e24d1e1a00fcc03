/**
 * Builds a program that makes one system call and exits with its error number, or 0. It is 200 bytes, needs no library and runs in
 * any image.
 */

/** @param number the number of the call for `arch` */
export function syscallProgram(number: number, args: readonly (number | bigint)[], arch: string = process.arch): Uint8Array {
  const code = arch === 'arm64' ? arm64(number, args) : x64(number, args)
  const size = 0x78 + code.length
  const file = Buffer.alloc(size)
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1], 0)
  file.writeUInt16LE(2, 16) // ET_EXEC
  file.writeUInt16LE(arch === 'arm64' ? 183 : 62, 18)
  file.writeUInt32LE(1, 20)
  file.writeBigUInt64LE(0x400078n, 24) // entry
  file.writeBigUInt64LE(0x40n, 32) // program headers
  file.writeUInt16LE(0x40, 52)
  file.writeUInt16LE(0x38, 54)
  file.writeUInt16LE(1, 56)
  file.writeUInt32LE(1, 64) // PT_LOAD
  file.writeUInt32LE(5, 68) // read, execute
  file.writeBigUInt64LE(0x400000n, 80)
  file.writeBigUInt64LE(0x400000n, 88)
  file.writeBigUInt64LE(BigInt(size), 96)
  file.writeBigUInt64LE(BigInt(size), 104)
  file.writeBigUInt64LE(0x1000n, 112)
  file.set(code, 0x78)
  return file
}

const X64_REGISTERS = [
  [0x48, 0xbf],
  [0x48, 0xbe],
  [0x48, 0xba],
  [0x49, 0xba],
  [0x49, 0xb8],
  [0x49, 0xb9],
] as const

function x64(number: number, args: readonly (number | bigint)[]): readonly number[] {
  const imm = (value: number | bigint, bytes: number) =>
    Array.from({ length: bytes }, (_, at) => Number((BigInt.asUintN(64, BigInt(value)) >> BigInt(8 * at)) & 0xffn))
  return [
    ...X64_REGISTERS.flatMap((register, at) => [...register, ...imm(args[at] ?? 0, 8)]),
    ...[0xb8, ...imm(number, 4), 0x0f, 0x05],
    // Exit with 0 if rax >= 0, otherwise with -rax.
    ...[0x48, 0x83, 0xf8, 0x00, 0x7d, 0x06, 0xf7, 0xd8, 0x89, 0xc7, 0xeb, 0x02, 0x31, 0xff],
    ...[0xb8, 0xe7, 0, 0, 0, 0x0f, 0x05],
  ]
}

function arm64(number: number, args: readonly (number | bigint)[]): readonly number[] {
  const move = (register: number, value: number | bigint) =>
    [0, 1, 2, 3].map((at) => {
      const part = Number((BigInt.asUintN(64, BigInt(value)) >> BigInt(16 * at)) & 0xffffn)
      return ((at === 0 ? 0xd2800000 : 0xf2800000) | (at << 21) | (part << 5) | register) >>> 0
    })
  const words = [
    ...[0, 1, 2, 3, 4, 5].flatMap((at) => move(at, args[at] ?? 0)),
    ...move(8, number),
    0xd4000001, // svc
    0xf100001f, // cmp x0, 0
    0xda80a7e0, // csneg x0, xzr, x0, ge
    ...move(8, 94), // exit_group
    0xd4000001,
  ]
  return words.flatMap((word) => [0, 8, 16, 24].map((shift) => (word >>> shift) & 0xff))
}
