import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { awkOnlyPrints, sedScriptReads } from './text-programs.ts'

const SED = [
  'p',
  'd',
  'w out',
  '1',
  '$',
  '/a/',
  ',',
  '!',
  ';',
  '\n',
  '{',
  '}',
  's/a/b/',
  's/a/b/w out',
  's|a|b|g',
  'y/a/b/',
  'a text',
  'i\\\n',
  'e touch out',
  '1e touch out',
  '#',
  'W out',
  'q',
  'n',
  ' ',
  '\\',
  'b x',
  ':x',
  '=',
  'l',
  's/a/touch out/e',
  'a foo\\\\\n',
  'i\\\n\\\\\n',
  's/[/]/x/',
]
const AWK = [
  '{',
  '}',
  'print',
  ' ',
  '"out"',
  '> ',
  '>> ',
  '| ',
  '"touch out"',
  'system("touch out")',
  '/"/',
  '/a/',
  ';',
  '\n',
  '#',
  '$1',
  'BEGIN',
  'getline',
  '"',
  '\\\n',
  '(',
  ')',
  '||',
  '>= 1',
  'printf "x"',
  '/;/',
  '/"x"/',
  '"a;b"',
  ',\n',
  '\\',
]

/** Runs it, and says whether a file was written. */
function writes(program: string, script: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'judge-'))
  try {
    writeFileSync(join(folder, 'in'), 'a\nb "\n')
    spawnSync(program, [script, 'in'], { cwd: folder, timeout: 5000 })
    return readdirSync(folder).length > 1
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe.skipIf(process.platform === 'win32')('what is said to read only writes nothing', () => {
  test.each([
    ['sed', sedScriptReads, SED, '1w out'],
    ['awk', awkOnlyPrints, AWK, '{ print > "out" }'],
  ] as const)('%s', (program, reads, parts, control) => {
    expect([writes(program, control), reads(control)]).toEqual([true, false])
    const script = fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 8 }).map((all) => all.join(''))
    fc.assert(
      fc.property(script.filter(reads), (one) => {
        expect([one, writes(program, one)]).toEqual([one, false])
      }),
      { numRuns: 60 },
    )
  })
})
