#!/usr/bin/env node
// Runs on any Node: finds one that is new enough before anything newer is loaded. So no late syntax here.
// biome-ignore-all lint/style/useNodejsImportProtocol: old versions do not know it
import nodeModule from 'module'
import { dirname, join } from 'path'
import { fileURLToPath } from 'url'

const NEEDED = [22, 18]
const here = dirname(fileURLToPath(import.meta.url))

/** Not by `import`, which reads every name of it and so loads its streams and promises; only old versions know no other way. */
let fs
if (process.getBuiltinModule) begin(process.getBuiltinModule('fs'))
else import('fs').then((module) => begin(module.default))

function begin(loaded) {
  fs = loaded
  if (isNewEnough(process.versions.node)) start()
  else startOnNewer()
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
}

function start() {
  if (process.env.MULLIGAN_STARTED_AGAIN) endWithParent()
  delete process.env.MULLIGAN_STARTED_AGAIN
  const main = ['../dist/bundle/main.js', '../dist/main.js']
    .map((path) => new URL(path, import.meta.url))
    .find((url) => fs.existsSync(fileURLToPath(url)) && isCurrent(fileURLToPath(url)))
  if (!main) return stop('it is not built yet. Run `npm run build` (`npm ci` does it too).')
  // Compiled code is kept beside the bundle, where that can be written: compiling is a quarter of a start.
  if (nodeModule.enableCompileCache && main.href.includes('/bundle/')) nodeModule.enableCompileCache(fileURLToPath(new URL('.cache', main)))
  import(main.href).then(
    (module) => module.run(process.argv.slice(2)),
    (error) => stop(`it could not be loaded: ${error.message}\nRun \`npm ci\` in a clone, or install it again.`),
  )
}

/** In a clone the bundle counts only while nothing was compiled after it. */
function isCurrent(main) {
  const packages = join(here, '..', '..')
  const compiled = (name) => join(packages, name, 'dist', '.tsbuildinfo')
  if (!main.includes('bundle') || !fs.existsSync(join(here, '..', 'dist', '.tsbuildinfo'))) return true
  const made = fs.statSync(main).mtimeMs
  return fs.readdirSync(packages).every((name) => !fs.existsSync(compiled(name)) || fs.statSync(compiled(name)).mtimeMs <= made)
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
    follow(spawn(node, process.argv.slice(1), { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env }), node)
  })
}

/** However the process that started this one ends, also by SIGKILL: nobody would see what the agent goes on to do. */
function endWithParent() {
  if (!process.channel) return
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
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
    if (fs.existsSync(candidate) && isTrusted(join(folder, 'node_modules'))) return candidate
    if (folder === dirname(folder)) return undefined
  }
}

/** Anybody can make a `node_modules` in a folder above, such as /tmp: it counts if it is root's, ours, or of whoever installed this. */
function isTrusted(folder) {
  const owner = fs.lstatSync(folder).uid
  return owner === 0 || owner === fs.lstatSync(here).uid || (process.getuid !== undefined && owner === process.getuid())
}

function stop(why) {
  process.stderr.write(`mulligan: ${why}\n`)
  process.exit(2)
}
