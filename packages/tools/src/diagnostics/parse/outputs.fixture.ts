/** Real output of checkers, with the folder they ran in replaced by `/w`. */
import type { Finding } from '../finding.ts'

export interface Output {
  readonly of: string
  readonly text: string
  readonly finds: readonly Finding[]
}

const error = (path: string, line: number | undefined, column: number | undefined, message: string): Finding => ({
  path,
  ...(line !== undefined && { line }),
  ...(column !== undefined && { column }),
  severity: 'error',
  message,
})
const warning = (...where: Parameters<typeof error>): Finding => ({ ...error(...where), severity: 'warning' })

const TS2322 = "TS2322: Type 'string' is not assignable to type 'number'."
const eslint = [
  error('src/bad.js', 1, 7, 'Parsing error: Unexpected token ='),
  error('src/e.js', 1, 7, "'a' is assigned a value but never used (no-unused-vars)"),
  warning('src/e.js', 2, 7, "Expected '===' and instead saw '==' (eqeqeq)"),
]

export const OUTPUTS: readonly Output[] = [
  {
    of: 'tsc',
    text: `a/x.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.
app/(main)/x.ts(3,10): error TS2322: Type 'string' is not assignable to type 'number'.
  The expected type comes from property 'b'.
error TS18003: No inputs were found in config file 'tsconfig.json'.`,
    finds: [error('a/x.ts', 1, 7, TS2322), error('app/(main)/x.ts', 3, 10, TS2322)],
  },
  {
    of: 'tsc --pretty, in colours',
    text: `\x1b[96ma/x.ts\x1b[0m:\x1b[93m1\x1b[0m:\x1b[93m7\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2322: \x1b[0mType 'string' is not assignable to type 'number'.\r
\r
\x1b[7m1\x1b[0m const a: number = 'x'\r
\x1b[7m \x1b[0m \x1b[91m      ~\x1b[0m\r
\r
  \x1b[96ma/x.ts\x1b[0m:\x1b[93m2\x1b[0m:\x1b[93m29\x1b[0m - The expected type comes from property 'b' which is declared here on type '{ b: number; }'\r
    \x1b[7m2\x1b[0m export function f(o: { a: { b: number } }) {}\r
\r
Found 2 errors in the same file, starting at: a/x.ts\x1b[90m:1\x1b[0m\r
`,
    finds: [error('a/x.ts', 1, 7, TS2322)],
  },
  {
    of: 'eslint, stylish',
    text: `
/w/src/bad.js
  1:7  error  Parsing error: Unexpected token =

/w/src/e.js
  1:7   error    'a' is assigned a value but never used  no-unused-vars
  2:7   warning  Expected '===' and instead saw '=='     eqeqeq

✖ 3 problems (2 errors, 1 warning)
`,
    finds: eslint,
  },
  {
    of: 'eslint, unix',
    text: `/w/src/bad.js:1:7: Parsing error: Unexpected token = [Error]
/w/src/e.js:2:7: Expected '===' and instead saw '=='. [Warning/eqeqeq]

2 problems`,
    finds: [
      error('src/bad.js', 1, 7, 'Parsing error: Unexpected token = [Error]'),
      warning('src/e.js', 2, 7, "Expected '===' and instead saw '=='. [Warning/eqeqeq]"),
    ],
  },
  {
    of: 'eslint, json',
    text: `[{"filePath":"/w/src/bad.js","messages":[{"ruleId":null,"fatal":true,"severity":2,"message":"Parsing error: Unexpected token =","line":1,"column":7}],"suppressedMessages":[],"errorCount":1},{"filePath":"/w/src/e.js","messages":[{"ruleId":"no-unused-vars","severity":2,"message":"'a' is assigned a value but never used","line":1,"column":7,"messageId":"unusedVar"},{"ruleId":"eqeqeq","severity":1,"message":"Expected '===' and instead saw '=='","line":2,"column":7}]}]`,
    finds: eslint,
  },
  {
    of: 'biome',
    text: `a/x.ts:2:19 lint/correctness/noUnusedFunctionParameters  FIXABLE  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━

  ! This parameter is unused.
  
    1 │ const a: number = 'x'
  > 2 │ export function f(o: { a: { b: number } }) {}
      │                   ^
  
  i Unused parameters might be the result of an incomplete refactoring.
  
a/n.js:1:11 parse ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━

  × Expected an expression, or an assignment but instead found ';'.
  
a/n.js format ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━

  × Code formatting aborted due to parsing errors.

Checked 1 file in 3ms. No fixes applied.
Found 2 errors.
check ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━

  × Some errors were emitted while running checks.
`,
    finds: [
      warning('a/x.ts', 2, 19, 'This parameter is unused. (lint/correctness/noUnusedFunctionParameters)'),
      error('a/n.js', 1, 11, "Expected an expression, or an assignment but instead found ';'. (parse)"),
      error('a/n.js', undefined, undefined, 'Code formatting aborted due to parsing errors. (format)'),
    ],
  },
  {
    of: 'biome --reporter=github',
    text: `::warning title=lint/correctness/noUnusedFunctionParameters,file=a/x.ts,line=2,endLine=2,col=19,endColumn=20::This parameter is unused.
::error title=lint/suspicious/noDebugger,file=a/x.ts,line=4,endLine=4,col=1,endColumn=9::This is an unexpected use of the debugger statement.`,
    finds: [
      warning('a/x.ts', 2, 19, 'This parameter is unused. (lint/correctness/noUnusedFunctionParameters)'),
      error('a/x.ts', 4, 1, 'This is an unexpected use of the debugger statement. (lint/suspicious/noDebugger)'),
    ],
  },
  {
    of: 'biome --reporter=json',
    text: `The --json option is unstable/experimental and its output might change between patches/minor releases.
{"summary":{"changed":0,"errors":2},"diagnostics":[{"severity":"error","message":"This is an unexpected use of the debugger statement.","category":"lint/suspicious/noDebugger","location":{"path":"a/x.ts","start":{"line":4,"column":1},"end":{"line":4,"column":9}},"advices":[]}],"command":"lint"}`,
    finds: [error('a/x.ts', 4, 1, 'This is an unexpected use of the debugger statement. (lint/suspicious/noDebugger)')],
  },
  {
    of: 'gcc',
    text: `In file included from a/c.c:1:
a/a.h: In function ‘f’:
a/a.h:1:17: error: ‘z’ undeclared (first use in this function)
    1 | int f(){ return z; }
      |                 ^
a/a.h:1:17: note: each undeclared identifier is reported only once for each function it appears in
a/c.c: In function ‘main’:
a/c.c:2:21: warning: initialization of ‘int’ from ‘char *’ makes integer from pointer without a cast [-Wint-conversion]
a/c.c:9:10: fatal error: missing.h: No such file or directory
compilation terminated.`,
    finds: [
      error('a/a.h', 1, 17, '‘z’ undeclared (first use in this function)'),
      warning('a/c.c', 2, 21, 'initialization of ‘int’ from ‘char *’ makes integer from pointer without a cast [-Wint-conversion]'),
      error('a/c.c', 9, 10, 'missing.h: No such file or directory'),
    ],
  },
  {
    of: 'mypy',
    text: `src/m.py:3: error: Incompatible return value type (got "int", expected "str")  [return-value]
src/m.py:4:3: error: Argument 1 to "f" has incompatible type "str"; expected "int"  [arg-type]
src/m.py:4:3: note: See https://mypy.rtfd.io/
Found 2 errors in 1 file (checked 1 source file)`,
    finds: [
      error('src/m.py', 3, undefined, 'Incompatible return value type (got "int", expected "str")  [return-value]'),
      error('src/m.py', 4, 3, 'Argument 1 to "f" has incompatible type "str"; expected "int"  [arg-type]'),
    ],
  },
  {
    of: 'ruff',
    text: `I001 [*] Import block is un-sorted or un-formatted
 --> src/m.py:1:1
  |
1 | import os
  | ^^^^^^^^^
  |
help: Organize imports
  |
2 +

E741 Ambiguous variable name: \`l\`
 --> src/m.py:1:8
  |
help: Remove unused import: \`os\`

invalid-syntax: Expected an expression
 --> src/m.py:2:5

Found 3 errors.
[*] 2 fixable with the \`--fix\` option.`,
    finds: [
      error('src/m.py', 1, 1, 'I001 Import block is un-sorted or un-formatted'),
      error('src/m.py', 1, 8, 'E741 Ambiguous variable name: `l`'),
      error('src/m.py', 2, 5, 'invalid-syntax Expected an expression'),
    ],
  },
  {
    of: 'ruff --output-format concise, flake8',
    text: `src/m.py:1:1: I001 [*] Import block is un-sorted or un-formatted
src/m.py:1:8: F401 [*] \`os\` imported but unused
Found 2 errors.
[*] 2 fixable with the \`--fix\` option.
./src/m.py:2:1: W391 blank line at end of file`,
    finds: [
      error('src/m.py', 1, 1, 'I001 [*] Import block is un-sorted or un-formatted'),
      error('src/m.py', 1, 8, 'F401 [*] `os` imported but unused'),
      warning('src/m.py', 2, 1, 'W391 blank line at end of file'),
    ],
  },
  {
    of: 'ruff --output-format json',
    text: `[{"cell":null,"code":"F401","end_location":{"column":10,"row":1},"filename":"/w/src/m.py","location":{"column":8,"row":1},"message":"\`os\` imported but unused"}]`,
    finds: [error('src/m.py', 1, 8, '`os` imported but unused (F401)')],
  },
  {
    of: 'pyright',
    text: `/w/src/m.py
  /w/src/m.py:3:12 - error: Type "int" is not assignable to return type "str"
    "int" is not assignable to "str" (reportReturnType)
  /w/src/m.py:4:3 - warning: Import "x" could not be resolved from source (reportMissingModuleSource)
2 errors, 0 warnings, 0 informations `,
    finds: [
      error('src/m.py', 3, 12, 'Type "int" is not assignable to return type "str"'),
      warning('src/m.py', 4, 3, 'Import "x" could not be resolved from source (reportMissingModuleSource)'),
    ],
  },
  {
    of: 'pyright --outputjson, which counts from 0',
    text: `{"version":"1.1.414","generalDiagnostics":[{"file":"/w/src/m.py","severity":"error","message":"Type \\"int\\" is not assignable","range":{"start":{"line":2,"character":11},"end":{"line":2,"character":12}},"rule":"reportReturnType"}],"summary":{}}`,
    finds: [error('src/m.py', 3, 12, 'Type "int" is not assignable (reportReturnType)')],
  },
  {
    of: 'py_compile',
    text: `  File "a/p.py", line 1
    def f(:
          ^
SyntaxError: invalid syntax
Sorry: IndentationError: unindent does not match any outer indentation level (p2.py, line 3)`,
    finds: [
      error('a/p.py', 1, undefined, 'SyntaxError: invalid syntax'),
      error('src/p2.py', 3, undefined, 'IndentationError: unindent does not match any outer indentation level'),
    ],
  },
  {
    of: 'a Python traceback: the innermost frame of the workspace',
    text: `Traceback (most recent call last):
  File "/w/src/main.py", line 3, in <module>
    json.loads("{")
  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)`,
    finds: [
      error('src/main.py', 3, undefined, 'JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)'),
    ],
  },
  {
    of: 'node --check',
    text: `/w/a/n.js:1
const a = ;
          ^

SyntaxError: Unexpected token ';'
    at wrapSafe (node:internal/modules/cjs/loader:1861:18)
    at checkSyntax (node:internal/main/check_syntax:88:3)

Node.js v24.21.0
file:///w/a/n.mjs:2
const a = ;
          ^

SyntaxError: Unexpected token ';'
    at checkSyntax (node:internal/main/check_syntax:84:5)`,
    finds: [
      error('a/n.js', 1, undefined, "SyntaxError: Unexpected token ';'"),
      error('a/n.mjs', 2, undefined, "SyntaxError: Unexpected token ';'"),
    ],
  },
  {
    of: 'cargo check --message-format short',
    text: `    Checking cr v0.1.0 (/w)
src/main.rs:2:46: error[E0425]: cannot find value \`y\` in this scope
src/b.rs:1:24: warning: unused variable: \`unused\`: help: if this is intentional, prefix it with an underscore: \`_unused\`
warning: \`cr\` (bin "cr") generated 1 warning
error: could not compile \`cr\` (bin "cr") due to 2 previous errors; 1 warning emitted`,
    finds: [
      error('src/main.rs', 2, 46, 'E0425: cannot find value `y` in this scope'),
      warning('src/b.rs', 1, 24, 'unused variable: `unused`: help: if this is intentional, prefix it with an underscore: `_unused`'),
    ],
  },
  {
    of: 'rustc',
    text: `error[E0308]: mismatched types
 --> src/main.rs:2:26
  |
2 | fn main() { let x: i32 = "a"; println!("{}", y); }
  |                    ---   ^^^ expected \`i32\`, found \`&str\`

note: required by a bound in \`f\`
 --> src/other.rs:5:9

warning: unused variable: \`unused\`
 --> src/b.rs:1:24

For more information about an error, try \`rustc --explain E0308\`.
error: could not compile \`cr\` (bin "cr") due to 2 previous errors; 1 warning emitted`,
    finds: [error('src/main.rs', 2, 26, 'E0308: mismatched types'), warning('src/b.rs', 1, 24, 'unused variable: `unused`')],
  },
  {
    of: 'go vet',
    text: `# example.com/a
vet: ./a.go:3:4: undefined: x
./b.go:7:2: fmt.Printf format %d has arg "a" of wrong type string`,
    finds: [error('a.go', 3, 4, 'undefined: x'), error('b.go', 7, 2, 'fmt.Printf format %d has arg "a" of wrong type string')],
  },
  {
    of: 'shellcheck -f gcc',
    text: `a.sh:3:8: note: Double quote to prevent globbing and word splitting. [SC2086]
a.sh:4:1: warning: foo appears unused. Verify use (or export if used externally). [SC2034]`,
    finds: [
      { path: 'a.sh', line: 3, column: 8, severity: 'info', message: 'Double quote to prevent globbing and word splitting. [SC2086]' },
      warning('a.sh', 4, 1, 'foo appears unused. Verify use (or export if used externally). [SC2034]'),
    ],
  },
  {
    of: 'what is no finding',
    text: `12:30:45: started
Error: something
http://localhost:3000: listening
2026-11-22T05:47:59: done
{"a": 1}
 --> nowhere
   1:7  error  without a file
━━━━
[]`,
    finds: [],
  },
]
