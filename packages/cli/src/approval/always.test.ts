import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ApprovalRequest, PolicyRule } from '@mulligan/core'
import { parseJsonc } from '@mulligan/host/light'
import { type ConfiguredRule, createAlways, createApprover, effectivePolicy } from '@mulligan/host/parts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keepRequest, person, request, shell, shellRequest } from '../../../host/src/approval/approval.fixture.ts'
import { plain } from '../ui/colors.ts'
import { approvalInWords } from './approval.ts'

const { signal } = new AbortController()
let dir: string
let file: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'mulligan-always-'))
  file = join(dir, 'config', 'config.json')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const CWD = '/work/app'
const NPM = { decision: 'allow', tool: 'bash', effect: 'write', target: 'npm test', input: { cwd: '.' }, folder: CWD }
const HERE = `run in the workspace folder, in ${CWD} and its folders`
const json = (target: string): string =>
  `{ "decision": "allow", "tool": "bash", "effect": "write", "target": "${target}", "input": {"cwd":"."}, "folder": "${CWD}" }`
const npmTest = shellRequest('npm test', ['npm test'])
const written = () => readFileSync(file, 'utf8')
const put = (text: string) => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

interface Rules {
  readonly own?: readonly ConfiguredRule[]
  readonly project?: readonly ConfiguredRule[]
}

/** Answers the approval questions with the given answers, and collects the questions and messages. */
function answering(answers: readonly string[], { own = [], project = [] }: Rules = {}) {
  const of = (rules: readonly ConfiguredRule[]) => rules.map((value) => ({ value, origin: 'user' as const, from: '' }))
  const approval = { mode: { value: 'ask', origin: 'default', from: '' } as const, rules: of(own), projectRules: of(project) }
  const { ask, asked } = person(...answers)
  const told: string[] = []
  const policyWith = (rules: readonly PolicyRule[]) => effectivePolicy(approval, shell, new Set(), rules)
  const always = createAlways({ file, cwd: CWD, env: {}, shell, policyWith, tell: (line) => told.push(`  ${line}\n`) })
  const approve = createApprover({ yes: false, ask: approvalInWords(ask, { colors: plain, columns: () => undefined }), shell, always })
  return { asked, told, approve: (one: ApprovalRequest) => approve(one, signal) }
}

describe('"always"', () => {
  it('shows the rule and the file, writes it when it is chosen, and it is in force at once', async () => {
    const { approve, asked, told } = answering(['a', '2'])
    expect(await approve(npmTest)).toEqual({ answer: 'always' })
    expect(asked[0]).toContain('[s]ession, [a]lways, [n]o')
    expect(asked[1]).toBe(
      [
        '',
        `  To be written to "policy" in ${file}:`,
        `    1  allow bash commands (write): exactly \`npm test\`, ${HERE}`,
        `       ${json('npm test')}`,
        `    2  allow bash commands (write): exactly \`npm test\`, ${HERE}`,
        `       ${json('npm test')}`,
        `       and allow bash commands (write): \`npm test --\`, alone or with more words after it, ${HERE}`,
        `       ${json('npm test -- *')}`,
        '  [1], [2], [n]othing: ',
      ].join('\n'),
    )
    expect(told).toEqual([`  Written to ${file}.\n`])
    expect(parseJsonc(written())).toEqual({ ok: true, value: { policy: [NPM, { ...NPM, target: 'npm test -- *' }] } })
    expect(await approve(shellRequest('npm test -- a', ['npm test -- a']))).toEqual({ answer: 'session' })
    expect(asked).toHaveLength(2)
  })

  it.each(['n', '', '0', '3', 'y', '1.5'])('nothing is written for %j, and the question stands', async (choice) => {
    const { approve, asked } = answering(['a', choice, 'n'])
    expect(await approve(npmTest)).toEqual({ answer: 'no' })
    expect(asked[2]).toBe(asked[0])
    expect(readdirSync(dir)).toEqual([])
  })

  it('keeps what is in the file, its mode, and a link that it is', async () => {
    put('{\n  // mine\n  "model": "x", // good\n}\n')
    chmodSync(file, 0o640)
    const link = join(dir, 'link.json')
    symlinkSync(file, link)
    const real = file
    file = link
    await answering(['a', '1']).approve(npmTest)
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(statSync(real).mode & 0o777).toBe(0o640)
    expect(readFileSync(real, 'utf8')).toMatch(
      /^\{\n {2}\/\/ mine\n {2}"model": "x", \/\/ good\n {2}"policy": \[\n {4}\{ "decision": "allow", /,
    )
    expect(readdirSync(dirname(real))).toEqual(['config.json'])
  })

  it('a new file is for the person alone', async () => {
    await answering(['a', '1']).approve(npmTest)
    expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700])
  })

  it('goes before the rule that asks, and behind the others', async () => {
    const own: ConfiguredRule[] = [
      { decision: 'deny', tool: 'bash', target: 'npm publish *' },
      { decision: 'ask', tool: 'mail' },
      { decision: 'ask', tool: 'bash', target: 'npm *' },
      { decision: 'allow', effect: 'write' },
    ]
    put(JSON.stringify({ policy: own }))
    await answering(['a', '1'], { own }).approve(npmTest)
    expect(parseJsonc(written())).toEqual({ ok: true, value: { policy: own.toSpliced(2, 0, NPM as ConfiguredRule) } })
  })

  it('goes before a rule that asks about what the command comes to', async () => {
    const own: ConfiguredRule[] = [{ decision: 'ask', tool: 'bash', target: 'npm *' }]
    put(JSON.stringify({ policy: own }))
    const command = 'timeout 5 npm test'
    await answering(['a', '1'], { own }).approve(shellRequest(command, [command]))
    expect(parseJsonc(written())).toEqual({ ok: true, value: { policy: [{ ...NPM, target: command }, ...own] } })
  })

  it('at a keep is for keeping what the same command does, and not for the real files', async () => {
    const { approve, asked } = answering(['a', '1', 'n'])
    const keep = keepRequest('make', ['make'])
    expect([await approve(keep), await approve(keep)]).toEqual([{ answer: 'always' }, { answer: 'session' }])
    const written = { ...NPM, target: 'make', input: { cwd: '.', writes: 'layer' } }
    expect(parseJsonc(readFileSync(file, 'utf8'))).toEqual({ ok: true, value: { policy: [written] } })
    const direct = { ...shellRequest('make', ['make']), input: { command: 'make', writes: 'direct' } }
    expect([await approve(direct), asked.length]).toEqual([{ answer: 'no' }, 3])
  })

  it('is not offered where it would not help: the project asks, or only a person may answer', async () => {
    const { approve, asked } = answering(['a', 'y', 'y'], { project: [{ decision: 'ask', tool: 'bash' }] })
    expect(await approve(npmTest)).toEqual({ answer: 'once' })
    await approve(request({ forced: true }))
    for (const question of asked) expect(question).not.toContain('[a]lways')
  })

  it.each<[string, () => void, string]>([
    ['a file that is not a configuration', () => put('{ "policy": '), 'could not be changed without damaging its content'],
    ['one with other mistakes', () => put('{ "modle": "x" }'), 'could not be changed without damaging its content'],
    ['a folder in its place', () => mkdirSync(file, { recursive: true }), "can't be written (EISDIR)"],
    ['a file where its folder should be', () => writeFileSync(dirname(file), ''), "can't be written (ENOTDIR)"],
  ])('%s: it is said, and it holds for the session', async (_, prepare, says) => {
    prepare()
    const { approve, told } = answering(['a', '1'])
    expect(await approve(npmTest)).toEqual({ answer: 'session' })
    expect(told).toEqual([`  ${file} ${says}: the rule applies to this session only.\n`])
    expect(await approve(npmTest)).toEqual({ answer: 'session' })
  })
})
