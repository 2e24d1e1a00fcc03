/** What a command comes to without what is put before it: the forms that a rule against it is held to. */

import type { Form, Place } from './types.ts'
import { unwrap } from './unwrap.ts'
import { type Arg, baseName, isStatic } from './value.ts'

/** Programs that start each other. */
const MOST_FORMS = 50

/**
 * `A=1 timeout 5 /bin/git -C a tag x` is `timeout 5 …`, `git -C a tag x` and `git tag x`. What is given to a shell as text is
 * recorded as commands of its own.
 */
export function formsOf(argv: readonly Arg[], place: Place, quoted: (arg: Arg) => string): readonly Form[] {
  const forms = new Map<string, Form>()
  const open: (readonly Arg[])[] = [argv]
  for (let words = open.shift(); words !== undefined && forms.size < MOST_FORMS; words = open.shift()) {
    const [program, ...args] = words
    if (program === undefined) continue
    const name = baseName(program.text)
    const kind = program.dynamic ? 'late' : program.glob ? 'pattern' : 'known'
    for (const rest of name === 'git' ? [args, withoutGlobals(args)] : [args]) {
      const text = [isStatic(program) ? quoted({ ...program, text: name }) : name, ...rest.map(quoted)].join(' ')
      forms.set(text, { text, program: kind })
    }
    if (kind === 'known') for (const { argv: inner } of unwrap(name, args, {}, place)?.inner ?? []) if (inner) open.push(inner)
  }
  return [...forms.values()]
}

const GIT_VALUES = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--super-prefix', '--config-env', '--attr-source'])

function withoutGlobals(args: readonly Arg[]): readonly Arg[] {
  let at = 0
  for (; args[at]?.text.startsWith('-') === true; at++) if (GIT_VALUES.has(args[at]?.text ?? '')) at++
  return args.slice(at)
}
