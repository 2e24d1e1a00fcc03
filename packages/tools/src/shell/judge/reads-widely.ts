/** Searches that read through more than they should: a home, the whole system, files that hold keys. */
import { hasOption, operandsOf } from './options.ts'
import { absolute } from './paths.ts'
import { isSecret } from './secrets.ts'
import type { Place } from './types.ts'
import type { Arg } from './value.ts'

/** They say something of a folder, and nothing of what its files hold. */
const NAMING = new Set(
  'ls dir vdir stat test [ tree find fd du df cd pushd file realpath readlink basename dirname echo printf exa eza lsd pwd which type lsblk'.split(
    ' ',
  ),
)

/** Whether a home or the whole system is read through: the keys are read too. */
export function readsWidely(name: string, args: readonly Arg[], place: Place): string | undefined {
  if (NAMING.has(name)) return undefined
  const operands = operandsOf(args)
  const deep =
    name === 'rg' || name === 'ag' || (/grep$/.test(name) && hasOption(args, 'rR', ['--recursive', '--dereference-recursive'], 'ABCmef'))
  if (deep && hiddenToo(name, args, operands, place)) return 'it reads files of any name, keys included'
  const roots = operands.flatMap((arg) => (arg.dynamic ? [] : [absolute(arg.text, place)]))
  if (deep && operands.length < 2) roots.push(place.cwd)
  const wide = roots.some((path) => path !== undefined && (path === place.home || /^\/(?:home|root|etc|proc|Users)?$/.test(path)))
  return wide ? 'it reads a home or the whole system, keys included' : undefined
}

/** Whether a search goes where keys lie: by its options, or through the workspace for what is no text in particular. */
function hiddenToo(name: string, args: readonly Arg[], operands: readonly Arg[], place: Place): boolean {
  const globs = args.flatMap(({ text }, at) => {
    const [, own] = /^(?:--(?:include|glob|iglob)=|-g(?=.))(.*)$/s.exec(text) ?? []
    return own ?? (/^(?:-g|--(?:include|glob|iglob))$/.test(text) ? (args[at + 1]?.text ?? []) : [])
  })
  if (globs.some((glob) => !glob.startsWith('!') && (isSecret(glob, place, true) || glob.startsWith('.')))) return true
  if (name === 'rg' || name === 'ag')
    return hasOption(args, 'uU.', ['--hidden', '--no-ignore', '--unrestricted', '--no-ignore-vcs', '--no-ignore-dot'], 'ABCmefgtTMjrEd')
  const [pattern, ...roots] = operands
  const here = roots.length === 0 || roots.some((one) => one.text === '.' || absolute(one.text, place) === place.workspace)
  const vague = !/[A-Za-z]{3}/.test(pattern?.text ?? '') || /key|secret|token|passw|credential|auth/i.test(pattern?.text ?? '')
  return here && globs.length === 0 && vague
}
