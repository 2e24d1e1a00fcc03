/** A process to be killed while one of its commands is running. Arguments: the engine, and how long the command sleeps. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TEST_IMAGE } from '../../checks/test-image.fixture.ts'
import { DEFAULT_SANDBOX_LIMITS } from '../../limits.ts'
import { docker, podman } from './docker-podman.ts'

const [, , name, seconds] = process.argv
const folder = mkdtempSync(join(tmpdir(), 'mulligan-test-'))
const mounts = [{ source: folder, target: '/tmp', mode: 'read-write' }] as const
const backend = await (name === 'docker' ? docker : podman).open({
  view: {
    workspace: folder,
    home: '/',
    homeFolder: join(folder, 'home'),
    tmpFolder: folder,
    mounts,
    containerMounts: mounts,
    links: [],
    absent: [],
    env: {},
  },
  limits: DEFAULT_SANDBOX_LIMITS,
  network: 'none',
  user: { uid: 1000, gid: 1000, onHost: 'root' },
  image: TEST_IMAGE,
})
const child = await backend.launch({
  argv: ['/bin/sh', '-c', `setsid sleep ${seconds} & echo up; sleep ${seconds}`],
  cwd: '/',
  env: { PATH: '/usr/bin:/bin' },
  stdin: undefined,
})
child.stdout.pipe(process.stdout)
