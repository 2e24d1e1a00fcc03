/** Runs publint and "are the types wrong" on a package. */
import { readFileSync } from 'node:fs'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import type { Packed } from './pack.ts'

/** The packages are ES modules. Resolution as CommonJS, or without `exports`, is not supported, as the docs say. */
const UNSUPPORTED: readonly string[] = ['node10', 'node16-cjs']

export async function lintFaults({ file }: Packed): Promise<string[]> {
  const tarball = readFileSync(file)
  const { messages, pkg } = await publint({ pack: { tarball: arrayBuffer(tarball) }, strict: true })
  const types = await checkPackage(createPackageFromTarballData(tarball))
  if (!types.types) return ['types: there are none']
  return [
    ...messages.map((message) => `publint: ${formatMessage(message, pkg) ?? message.code}`),
    ...types.problems.flatMap((problem) => {
      const resolution = 'resolutionKind' in problem ? problem.resolutionKind : ''
      return UNSUPPORTED.includes(resolution) ? [] : [`types: ${problem.kind} ${resolution}`.trim()]
    }),
  ]
}

const arrayBuffer = ({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer =>
  buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
