/** Tasks that look something up, and must not change anything. */
import { all, answers, changesNothing, inventsNo, looked, tellsAbsence } from '../check.ts'
import { does, type EvalTask, says, task } from '../task.ts'

const numbered = (count: number, line: (n: number) => string): string =>
  `${Array.from({ length: count }, (_, at) => line(at + 1)).join('\n')}\n`

const filesFrom = (words: string, fileOf: (word: string, at: number) => readonly [path: string, text: string]): Record<string, string> =>
  Object.fromEntries(words.split(' ').map(fileOf))

const read = (path: string, page: object = {}) => ['read_file', { path, ...page }] as const
const code = (n: number): string => String((n * 7919) % 100_000).padStart(5, '0')
const LINE = 2417

export const FIND: readonly EvalTask[] = [
  task('value-in-file', 'find', 'find a value in a given file', {
    files: { 'config/app.ini': '[admin]\nport = 9143\n\n[server]\nhost = localhost\nport = 8143\nworkers = 4\n', 'README.md': '# App\n' },
    prompt: 'Which port does config/app.ini set for the server?',
    check: all(answers('8143'), changesNothing),
    reference: does('The server has port 8143.', read('config/app.ini')),
    wrong: [says('The server has port 9143.'), says('The server has port 81430.')],
  }),
  task('value-by-search', 'find', 'find a value in an unknown file', {
    files: {
      ...filesFrom('cart mail orders stock tax users', (name, at) => [
        `src/${name}.js`,
        `export const MAX_${name.toUpperCase()} = ${at + 10}\n`,
      ]),
      'src/billing/limits.js': 'export const MAX_INVOICE_AGE = 90\nexport const MAX_INVOICE_LINES = 275\n',
    },
    prompt: 'What is the value of MAX_INVOICE_LINES, and in which file is it defined?',
    check: all(answers('275', 'limits.js'), changesNothing),
    reference: does('It is 275, in src/billing/limits.js.', ['grep', { pattern: 'MAX_INVOICE_LINES' }]),
    wrong: [says('It is 90, in src/billing/limits.js.'), says('It is 275.')],
  }),
  task('search-no-hit', 'tell', 'a search that finds nothing: say so and invent nothing', {
    files: {
      'src/retry.js': 'export const RETRY_COUNT = 5\n',
      'src/wait.js': 'export const WAIT_SECONDS = 12\n',
      'README.md': '# Client\n',
    },
    prompt: 'To which value is MAX_IDLE_HOURS set in this project?',
    check: all(looked, tellsAbsence, inventsNo(/max_idle_hours\W{1,4}(?:is |to |set |=|:)+\W{0,3}\d+|\b\d+ hours?/), changesNothing),
    reference: does('MAX_IDLE_HOURS is not set anywhere in this project.', ['grep', { pattern: 'MAX_IDLE_HOURS' }]),
    wrong: [
      says('MAX_IDLE_HOURS is not set anywhere.'),
      does('I was unable to do it.', ['grep', { pattern: 'MAX_IDLE_HOURS' }]),
      does('MAX_IDLE_HOURS is 12.', ['grep', { pattern: 'IDLE' }]),
      does('It is not set in src, but the default is 24 hours.', ['grep', { pattern: 'IDLE' }]),
    ],
  }),
  task('missing-file', 'tell', 'a file that does not exist: say so and invent nothing', {
    files: { 'src/app.js': "console.log('hello')\n", 'package.json': '{ "name": "shop" }\n' },
    prompt: 'How many days does docs/warranty.md give customers to return a product?',
    check: all(looked, tellsAbsence, inventsNo(/\b\d+[ -]days?\b|\b(?:fourteen|thirty|sixty|ninety) days\b/), changesNothing),
    reference: does('There is no docs/warranty.md here, so I cannot tell.', read('docs/warranty.md')),
    wrong: [
      says('There is no such file.'),
      does('Customers have 30 days.', read('docs/warranty.md')),
      does('The file does not exist, but they have thirty days.', read('docs/warranty.md')),
    ],
  }),
  task('wrong-path', 'path', 'read a file whose path is slightly wrong', {
    files: { 'src/utils/price.js': 'export const rate = 0.0725\n', 'src/utils/text.js': 'export const lower = (s) => s.toLowerCase()\n' },
    prompt: 'What is the rate in src/util/price.js?',
    check: all(answers('0.0725'), changesNothing),
    reference: does('The rate is 0.0725.', read('src/utils/price.js')),
    wrong: [says('There is no src/util/price.js.'), says('The rate is 0.07.')],
  }),
  task('wrong-extension', 'path', 'read a file whose extension is wrong', {
    files: { 'notes/budget.md': '# Budget\n\n- rent 18,000\n- staff 30,250\n\nTotal: 48,250\n', 'notes/team.md': '# Team\n' },
    prompt: 'What is the total in notes/budget.txt?',
    check: all(answers('48250'), changesNothing),
    reference: does('The total is 48,250.', read('notes/budget.md')),
    wrong: [says('The file does not exist.'), says('The total is 30,250.')],
  }),
  task('count-lines', 'find', 'count the lines of a file', {
    files: { 'data/orders.csv': numbered(137, (n) => (n === 1 ? 'id,amount' : `${1000 + n},${(n * 37) % 400}`)) },
    prompt: 'How many lines does data/orders.csv have, with its header?',
    check: all(answers('137'), changesNothing),
    reference: does('It has 137 lines.', read('data/orders.csv', { limit: 500 })),
    wrong: [says('It has 136 lines.')],
  }),
  task('count-matches', 'find', 'count the matching lines of a log', {
    files: {
      'logs/app.log': numbered(391, (n) => `10:${String(n % 60).padStart(2, '0')} ${n % 17 === 0 ? 'ERROR disk is slow' : 'INFO ok'}`),
    },
    prompt: 'How many lines of logs/app.log contain ERROR?',
    check: all(answers('23'), changesNothing),
    reference: does('23 lines contain ERROR.', ['grep', { pattern: 'ERROR', path: 'logs/app.log', limit: 100 }]),
    wrong: [says('391 lines contain ERROR.'), says('About 20 lines.')],
  }),
  task('page-of-long-file', 'page', 'find a line near the end of a long file', {
    files: { 'data/register.txt': numbered(4000, (n) => `entry ${n}: ${code(n)}`) },
    prompt: `Which code does line ${LINE} of data/register.txt give?`,
    check: all(answers(code(LINE)), changesNothing),
    reference: does(`The code is ${code(LINE)}.`, read('data/register.txt', { offset: LINE - 1, limit: 1 })),
    wrong: [says(`The code is ${code(LINE - 1)}.`), says(`It is the code of entry ${LINE}.`)],
  }),
  task('count-files', 'find', 'count the files with an extension', {
    files: filesFrom(
      'src/a.ts src/b.ts src/c.js src/ui/d.ts src/ui/e.ts src/ui/f.css src/ui/deep/g.ts test/h.ts src/ui/deep/i.ts src/j.ts',
      (path) => [path, `// ${path}\n`],
    ),
    prompt: 'How many files that end in .ts are there in src and the folders below it?',
    check: all(answers('7'), changesNothing),
    reference: does('There are 7.', ['glob', { pattern: 'src/**/*.ts' }]),
    wrong: [says('There are 8.'), says('There are 3.')],
  }),
  task('three-files', 'parallel', 'compare three files', {
    files: filesFrom('alpha@1.14.2 beta@2.9.4 gamma@2.10.0', (entry) => {
      const [name, version] = entry.split('@')
      return [`packages/${name}/package.json`, `${JSON.stringify({ name, version }, undefined, 2)}\n`]
    }),
    prompt: 'Which of the packages alpha, beta and gamma has the highest version, and which one is it?',
    check: all(answers('gamma', '2.10.0'), changesNothing),
    reference: {
      steps: [['alpha', 'beta', 'gamma'].map((name) => read(`packages/${name}/package.json`))],
      answer: 'gamma, with 2.10.0.',
    },
    wrong: [says('beta, with 2.9.4.')],
  }),
  task('unicode-name', 'path', 'read a file whose name has spaces and non-ASCII letters', {
    files: { 'Übersicht/größte Werte.txt': 'Höhe: 417 m\nBreite: 88 m\n', 'Übersicht/kleinste Werte.txt': 'Höhe: 3 m\n' },
    prompt: 'Which Höhe is in "Übersicht/größte Werte.txt"?',
    check: all(answers('417'), changesNothing),
    reference: does('417 m.', read('Übersicht/größte Werte.txt')),
    wrong: [says('3 m.'), says('4170 m.')],
  }),
]
