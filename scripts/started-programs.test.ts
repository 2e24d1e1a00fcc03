import { describe, expect, test } from 'vitest'
import { startedByName } from './started-programs.ts'

const found = (code: string, file = 'packages/tools/src/x.ts') => startedByName([file], () => code)

test('no shipped file starts a program by its name', () => expect(startedByName()).toEqual([]))

describe('is found', () => {
  test.each([
    ["import { spawn } from 'node:child_process'\nspawn('git')"],
    ["import { type ChildProcess, spawn } from 'node:child_process'"],
    ["const { exec } = await import('child_process')"],
    ["process.getBuiltinModule('node:child_process').exec('git')"],
    ['const cp = require("child_process")'],
    ["import cluster from 'node:cluster'"],
    ['new Worker(path)'],
  ])('%s', (code) => expect(found(code)).toHaveLength(1))
})

describe('is right', () => {
  test.each([
    ["import type { ChildProcess } from 'node:child_process'", undefined],
    ["const WORKER = new URL('./worker.js', import.meta.url)\nnew Worker(WORKER, {})", undefined],
    ["import { spawn } from 'node:child_process'", 'packages/sandbox/src/program.ts'],
    ["import { spawn } from 'node:child_process'", 'packages/tools/src/git/git.test.ts'],
  ])('%s', (code, file) => expect(found(code, file)).toEqual([]))
})
