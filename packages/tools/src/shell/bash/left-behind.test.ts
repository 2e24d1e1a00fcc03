import { expect, test } from 'vitest'
import { simpleCommands } from '../common/simple-commands.ts'
import { leftBehind } from './run.ts'

test.each([
  ['node server.js &', '"node server.js" was'],
  ['nohup node server.js > log 2>&1 &', '"node server.js" was'],
  ['cd app && npm run dev & sleep 1; curl localhost:3000', '"npm run dev" was'],
  ['(python3 -m http.server 8000 &)', '"python3 -m http.server 8000" was'],
  ['{ a; b; } &', '"b" was'],
])('told: %s', (script, says) => {
  expect(leftBehind(simpleCommands(script))).toContain(says)
  expect(leftBehind(simpleCommands(script))).toContain('background: true')
})

test.each([
  'npm test',
  'a && b',
  'make 2>&1 | tail',
  'sleep 1 & wait',
  'node server.js & pid=$!; curl localhost:3000; kill $pid',
  'echo "a & b"',
])('not told: %s', (script) => expect(leftBehind(simpleCommands(script))).toBeUndefined())
