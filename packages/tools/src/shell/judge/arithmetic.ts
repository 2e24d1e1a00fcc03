/** Arithmetic: what it sets, and whether a value that it takes could be code. */
import type { ArithmeticExpression } from 'unbash'
import { setVariable } from './effects.ts'
import { parameter } from './parameters.ts'
import { forEachChild, type Node, parse, type Word } from './parse.ts'
import { expandToOne, type Substitute } from './resolve.ts'
import { branch, isNumber, NUMBER, NUMERAL, type Scope, UNKNOWN, UNSET } from './scope.ts'
import { type Arg, isAssumed, withNumbers } from './value.ts'

const CODE = 'it calculates with what may be code'
/** Characters; a longer expression is not followed. */
const MOST = 500

/** A name as the builtins take it: with a subscript only where that is a number. */
export const PLAIN_NAME = /^[A-Za-z_]\w*(?:\[(?:\d+|@|\*)\])?$/

/** Whatever a node holds: scripts run, arithmetic is calculated. */
export function examine(node: Node, scope: Scope, substitute: Substitute): void {
  if ('script' in node && node.script) substitute(node.script)
  else if (node.type === 'ArithmeticExpansion' || node.type === 'ArithmeticCommand') arithmetic(node.expression, scope, substitute)
  else if (node.type === 'ParameterExpansion') parameter(node, scope, substitute)
  else if (node.type === 'TestBinary' && /^-(?:eq|ne|l[te]|g[te])$/.test(node.operator))
    for (const word of [node.left, node.right]) evaluated(word, scope, substitute)
  else if (node.type === 'TestUnary' && /^-[vR]$/.test(node.operator)) {
    const { text, dynamic } = withNumbers(expandToOne(node.operand, scope, substitute))
    if (dynamic || !PLAIN_NAME.test(text)) scope.notes.add(CODE)
  } else forEachChild(node, (child) => examine(child, scope, substitute))
}

/** A word that is taken as an expression: a subscript, an offset, what stands beside `-eq`. */
export const evaluated = (word: Word, scope: Scope, substitute: Substitute): void =>
  evaluatedText(expandToOne(word, scope, substitute), scope, substitute)

export function evaluatedText(given: Arg, scope: Scope, substitute: Substitute): void {
  const arg = withNumbers(given)
  if (NUMERAL.test(arg.text) && !arg.dynamic && !isAssumed(arg)) return
  const script = parse(`: $((${arg.text}))`)
  const command = script.commands[0]?.command
  const word = command?.type === 'Command' && command.args.length === 1 ? command.args[0] : undefined
  const only = word?.type === 'Word' && word.parts?.length === 1 ? word.parts[0] : undefined
  const whole = !script.errors?.length && script.commands.length === 1 && arg.text.length <= MOST
  if (arg.dynamic || isAssumed(arg) || !whole || only?.type !== 'ArithmeticExpansion') scope.notes.add(CODE)
  else arithmetic(only.expression, scope, substitute)
}

/** Follows an expression. Bash takes the value of a variable as an expression again, and runs the subscripts in it. */
export function arithmetic(node: ArithmeticExpression | undefined, scope: Scope, substitute: Substitute): void {
  const follow = (one: ArithmeticExpression) => arithmetic(one, scope, substitute)
  switch (node?.type) {
    case 'ArithmeticWord':
      operand(node, scope, substitute)
      return
    case 'ArithmeticGroup':
      follow(node.expression)
      return
    case 'ArithmeticUnary':
      follow(node.operand)
      if (/^(?:\+\+|--)$/.test(node.operator)) sets(node.operand, scope)
      return
    case 'ArithmeticBinary':
      if (/^(?:[-+*/%&|^]|<<|>>)?=$/.test(node.operator)) {
        follow(node.right)
        if (node.operator !== '=' || nameOf(node.left) === undefined) follow(node.left)
        sets(node.left, scope)
        return
      }
      follow(node.left)
      if (node.operator === '&&' || node.operator === '||') branch(scope, () => follow(node.right))
      else follow(node.right)
      return
    case 'ArithmeticTernary':
      follow(node.test)
      branch(scope, () => follow(node.consequent))
      branch(scope, () => follow(node.alternate))
      return
    case 'ArithmeticCommandExpansion': {
      const text = node.script && substitute(node.script).text
      if (text === undefined || !NUMERAL.test(text)) scope.notes.add(CODE)
      return
    }
    default:
      scope.notes.add(CODE)
  }
}

type Operand = Extract<ArithmeticExpression, { readonly type: 'ArithmeticWord' }>

const nameOf = (node: ArithmeticExpression): string | undefined =>
  node.type === 'ArithmeticWord' && /^[A-Za-z_]\w*$/.test(node.value) ? node.value : undefined

function operand(node: Operand, scope: Scope, substitute: Substitute): void {
  const { parts, value, pos, end } = node
  const given = parts && withNumbers(expandToOne({ type: 'Word', text: value, value, parts, pos, end }, scope, substitute))
  if (given && (given.dynamic || isAssumed(given))) {
    scope.notes.add(CODE)
    return
  }
  const text = (given?.text ?? value).trim()
  if (NUMERAL.test(text)) return
  const [, name, , subscript] = /^([A-Za-z_]\w*|\$[\w#?])(\[(.*)\])?$/s.exec(text) ?? []
  if (name === undefined || !(scope.vars.get(name.replace('$', '')) ?? [UNSET]).every(isNumber)) scope.notes.add(CODE)
  if (subscript !== undefined) evaluatedText({ pieces: [], text: subscript, dynamic: false, glob: false }, scope, substitute)
}

/** `x = 1`, `x++`: from then on it is a number. */
function sets(target: ArithmeticExpression, scope: Scope): void {
  const name = nameOf(target)
  const element = target.type === 'ArithmeticWord' ? /^[A-Za-z_]\w*(?=\[)/.exec(target.value)?.[0] : undefined
  const finding = name || element ? setVariable(scope, name ?? (element as string), name ? NUMBER : UNKNOWN) : undefined
  if (finding) scope.notes.add(finding.reason)
}
