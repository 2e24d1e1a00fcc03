#!/usr/bin/env node
// Runs on any Node: finds one that is new enough before anything newer is loaded. So no late syntax here.
// biome-ignore-all lint/style/useNodejsImportProtocol: old versions do not know it
import { existsSync } from 'fs'
import { dirname, join } from 'path'
import { fileURLToPath } from 'url'

const NEEDED = [22, 18]
const here = dirname(fileURLToPath(import.meta.url))

if (isNewEnough(process.versions.node)) start()
else startOnNewer()

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
}

function start() {
  delete process.env.MULLIGAN_STARTED_AGAIN
  const main = new URL('../dist/main.js', import.meta.url)
  if (!existsSync(fileURLToPath(main))) return stop('it is not built yet. Run `npm run build` (`npm ci` does it too).')
  import(main.href).then(
    (module) => module.run(process.argv.slice(2)),
    (error) => stop(`it could not be loaded: ${error.message}\nRun \`npm ci\` in a clone, or install it again.`),
  )
}

/** The package `node` holds a Node of its own; a project that has it needs no other. */
function startOnNewer() {
  const node = process.env.MULLIGAN_STARTED_AGAIN ? undefined : findNode()
  if (!node)
    return stop(
      `it needs Node ${NEEDED.join('.')} or newer; this is ${process.versions.node}.\n` +
        'Install a newer Node (https://nodejs.org), or put one beside it: npm install node@24',
    )
  import('child_process').then(({ spawn }) => {
    const env = Object.assign({}, process.env, { MULLIGAN_STARTED_AGAIN: '1' })
    follow(spawn(node, process.argv.slice(1), { stdio: 'inherit', env }), node)
  })
}

function follow(child, node) {
  // Ctrl-C in a terminal reaches the child by itself; passed on as well it would count as the second one.
  const inTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !inTerminal) child.kill(signal)
    })
  child.on('error', (error) => stop(`${node} could not be started: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(signal ? 130 : code))
}

function findNode() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  for (let folder = here; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', 'node', 'bin', name)
    if (existsSync(candidate)) return candidate
    if (folder === dirname(folder)) return undefined
  }
}

function stop(why) {
  process.stderr.write(`mulligan: ${why}\n`)
  process.exit(2)
}
