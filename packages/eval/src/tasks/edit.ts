/** Tasks that change files, but only as requested. */
import { all, changesOnly, file, fileThat, jsonFile } from '../check.ts'
import { does, type EvalTask, says, task } from '../task.ts'

const edit = (path: string, old_text: string, new_text: string, replace_all = false) =>
  ['edit_file', { path, edits: [{ old_text, new_text, ...(replace_all && { replace_all }) }] }] as const
const read = (path: string) => ['read_file', { path }] as const

const YAML = 'service:\n  connect_timeout: 30\n  read_timeout: 30\n  write_timeout: 30\n'
const CRLF = '[mail]\r\nhost=mail.example\r\nport=25\r\n\r\n[web]\r\nhost=www.example\r\nport=80\r\n'
const LF_HOSTS = CRLF.replace('port=80', 'port=8080').replaceAll('\r', '').replaceAll('mail', 'post')
const TWO = 'replicas = 2'
const INI = `[production]\n${TWO}\nregion = north\n\n[staging]\n${TWO}\nregion = south\n`
const SETTINGS = { name: 'shop', build: { strict: false, target: 'es2024', flags: ['a', 'b'] }, test: { strict: false } }
const BUILD = '"build": {\n    "strict":'
const SERVER = { host: 'localhost', port: 8080, tls: false }
const FORMAT = [
  'export function short(text) {\n  return text.slice(0, 10)\n}\n',
  'export function oldFormat(text) {\n  const parts = text.split(",")\n  return parts.join(";")\n}\n',
  'export function long(text) {\n  return text.padEnd(80)\n}\n',
]
const WEIGHT = 'export const calcTotalWeight = () => 1\n'
const CART =
  "import { calcTotalWeight } from './weight.js'\n\nexport function calcTotal(items) {\n  return items.reduce((sum, one) => sum + one.price, 0)\n}\n\nexport const heavy = (items) => calcTotalWeight(items) > 20\n"
const INVOICE = "import { calcTotal } from './cart.js'\n\nexport const invoice = (items) => ({ total: calcTotal(items) })\n"
const CART_TEST =
  "import { calcTotal } from '../src/cart.js'\n\nif (calcTotal([{ price: 2 }]) !== 2) throw new Error('calcTotal is wrong')\n"
const renamed = (text: string): string => text.replace(/\bcalcTotal\b/g, 'computeTotal')
const shop = (name: string, more = '') => `export const taxRate = 0.19\n${more}export const ${name} = (net) => net * (1 + taxRate)\n`
const FOOD = shop('food', '// TODO(tax): the rate of food has changed\n')
const blankless = (text: string): string => text.replace(/\n{2,}/g, '\n').trim()

export const EDIT: readonly EvalTask[] = [
  task('edit-one-line', 'edit', 'change one of several similar values', {
    files: { 'service.yaml': YAML },
    prompt: 'Set read_timeout in service.yaml to 45. Change nothing else.',
    check: all(file('service.yaml', YAML.replace('read_timeout: 30', 'read_timeout: 45')), changesOnly('service.yaml')),
    reference: does('read_timeout is 45 now.', read('service.yaml'), edit('service.yaml', 'read_timeout: 30', 'read_timeout: 45')),
    wrong: [says('read_timeout is 45 now.'), does('Done.', read('service.yaml'), edit('service.yaml', '30', '45', true))],
  }),
  task('edit-crlf', 'edit', 'change a file and keep its CRLF line endings', {
    files: { 'hosts.ini': CRLF },
    prompt: 'In hosts.ini, set the port of the section web to 8080. Keep everything else as it is, byte for byte.',
    check: all(file('hosts.ini', CRLF.replace('port=80', 'port=8080')), changesOnly('hosts.ini')),
    reference: does('The port of web is 8080 now.', read('hosts.ini'), edit('hosts.ini', 'port=80', 'port=8080')),
    wrong: [
      says('The port of web is 8080 now.'),
      does('Done.', read('hosts.ini'), ['write_file', { path: 'hosts.ini', content: LF_HOSTS, overwrite: true }]),
    ],
  }),
  task('edit-second-of-two', 'edit', 'change the second of two identical lines', {
    files: { 'deploy.ini': INI },
    prompt: 'In deploy.ini, set the replicas of staging to 5. Those of production stay.',
    check: all(file('deploy.ini', INI.replace(`[staging]\n${TWO}`, '[staging]\nreplicas = 5')), changesOnly('deploy.ini')),
    reference: does('staging has 5 replicas now.', read('deploy.ini'), edit('deploy.ini', `[staging]\n${TWO}`, '[staging]\nreplicas = 5')),
    wrong: [
      says('staging has 5 replicas now.'),
      does('Done.', read('deploy.ini'), edit('deploy.ini', `[production]\n${TWO}`, 'replicas = 5')),
    ],
  }),
  task('json-flag', 'edit', 'set one of two JSON flags with the same name', {
    files: { 'settings.json': `${JSON.stringify(SETTINGS, undefined, 2)}\n` },
    prompt: 'In settings.json, turn on "strict" of build. "strict" of test stays off.',
    check: all(jsonFile('settings.json', { ...SETTINGS, build: { ...SETTINGS.build, strict: true } }), changesOnly('settings.json')),
    reference: does('It is on now.', read('settings.json'), edit('settings.json', `${BUILD} false`, `${BUILD} true`)),
    wrong: [says('It is on now.'), does('Done.', read('settings.json'), edit('settings.json', 'false', 'true', true))],
  }),
  task('json-number', 'edit', 'set a number in JSON and keep it a number', {
    files: { 'server.json': `${JSON.stringify(SERVER, undefined, 2)}\n` },
    prompt: 'Set the port in server.json to 9000, as a number.',
    check: all(jsonFile('server.json', { ...SERVER, port: 9000 }), changesOnly('server.json')),
    reference: does('The port is 9000 now.', read('server.json'), edit('server.json', '"port": 8080', '"port": 9000')),
    wrong: [says('The port is 9000 now.'), does('Done.', read('server.json'), edit('server.json', '"port": 8080', '"port": "9000"'))],
  }),
  task('remove-function', 'edit', 'remove a function and nothing else', {
    files: { 'src/format.js': FORMAT.join('\n') },
    prompt: 'Remove the function oldFormat from src/format.js. Leave the other functions as they are.',
    check: all(
      fileThat('src/format.js', (text) => blankless(text) === blankless(`${FORMAT[0]}${FORMAT[2]}`), 'is not just the other two functions'),
      changesOnly('src/format.js'),
    ),
    reference: does('oldFormat is gone.', read('src/format.js'), edit('src/format.js', `${FORMAT[1]}\n`, '')),
    wrong: [says('oldFormat is gone.'), does('Done.', read('src/format.js'), edit('src/format.js', `${FORMAT[1]}\n${FORMAT[2]}`, ''))],
  }),
  task('rename-symbol', 'chain', 'rename a function in all files, but not one with a similar name', {
    files: { 'src/cart.js': CART, 'src/invoice.js': INVOICE, 'test/cart.test.js': CART_TEST, 'src/weight.js': WEIGHT },
    prompt: 'Rename the function calcTotal to computeTotal everywhere in this project. calcTotalWeight keeps its name.',
    check: all(
      file('src/cart.js', renamed(CART)),
      file('src/invoice.js', renamed(INVOICE)),
      file('test/cart.test.js', renamed(CART_TEST)),
      changesOnly('src/cart.js', 'src/invoice.js', 'test/cart.test.js'),
    ),
    reference: does(
      'calcTotal is computeTotal in its three files.',
      ['grep', { pattern: 'calcTotal\\b', limit: 50 }],
      edit('src/cart.js', 'calcTotal(', 'computeTotal('),
      edit('src/invoice.js', 'calcTotal', 'computeTotal', true),
      edit('test/cart.test.js', 'calcTotal', 'computeTotal', true),
    ),
    wrong: [
      says('calcTotal is computeTotal everywhere.'),
      does('Done.', read('src/cart.js'), edit('src/cart.js', 'calcTotal', 'computeTotal', true)),
    ],
  }),
  task('search-read-edit', 'chain', 'find a file by its content, read it and change it', {
    files: { 'src/books.js': shop('books'), 'src/food.js': FOOD, 'src/toys.js': shop('toys') },
    prompt: 'In the file that has a TODO(tax), change the tax rate to 0.07. The other files keep theirs.',
    check: all(file('src/food.js', FOOD.replace('0.19', '0.07')), changesOnly('src/food.js')),
    reference: does(
      'The rate in src/food.js is 0.07 now.',
      ['grep', { pattern: 'TODO(tax)', regex: false, limit: 10 }],
      read('src/food.js'),
      edit('src/food.js', 'taxRate = 0.19', 'taxRate = 0.07'),
    ),
    wrong: [says('The rate in src/food.js is 0.07 now.'), does('Done.', read('src/books.js'), edit('src/books.js', '0.19', '0.07'))],
  }),
]
