/** Checks Mulligan's surroundings: programs, a model, the data folder. */
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '@mulligan/host/light'
import { openEffectiveModel, type Settings } from '@mulligan/host/parts'
import { resolveProgram, runProgram } from '@mulligan/sandbox'
import { ripgrep } from '@mulligan/tools'
import { fromHome, openDataDir } from '../../paths.ts'
import type { Check } from './check.ts'

/** The bin looks for a Node that is new enough before this runs. */
export const node = (): Check => ({ name: 'node', state: 'ok', says: `${process.versions.node} on ${process.platform}-${process.arch}` })

export async function ripgrepCheck(): Promise<Check> {
  const lines: string[] = []
  try {
    await ripgrep(['--version'], { cwd: tmpdir(), onRecord: (line) => lines.push(line ?? '') })
    return { name: 'ripgrep', state: 'ok', says: lines[0]?.replace(/^ripgrep /, '') ?? '' }
  } catch (error) {
    return { name: 'ripgrep', state: 'missing', says: (error as Error).message, remedy: 'Run npm ci in a clone, or reinstall.' }
  }
}

export async function git(workspace: string): Promise<Check> {
  try {
    const { stdout } = await runProgram(resolveProgram('git', { workspace }) ?? 'git', ['--version'], { timeout: 10_000, cwd: tmpdir() })
    return { name: 'git', state: 'ok', says: stdout.trim().replace(/^git version /, '') }
  } catch {
    return {
      name: 'git',
      state: 'lacking',
      says: 'not found: the git tools are unavailable',
      remedy: 'Install git: apt-get install git, brew install git.',
    }
  }
}

/** Nothing is sent but the question which models there are: what is named may not answer. */
export async function model(settings: Settings): Promise<Check> {
  try {
    const { model } = await openEffectiveModel(settings, undefined, false, process.env)
    return { name: 'model', state: 'ok', says: `${model.id} on ${model.where}` }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return { name: 'model', state: 'lacking', says: error.message, remedy: error.hint }
  }
}

export function data(): Check {
  try {
    const { dir } = openDataDir()
    rmdirSync(mkdtempSync(join(dir, 'doctor-')))
    return { name: 'data', state: 'ok', says: fromHome(dir) }
  } catch (error) {
    const isUsage = error instanceof UsageError
    const says = isUsage ? error.message : `the data folder can't be written: ${(error as NodeJS.ErrnoException).code}`
    return { name: 'data', state: 'missing', says, remedy: isUsage ? error.hint : 'Set MULLIGAN_DATA_DIR to a writable folder.' }
  }
}
