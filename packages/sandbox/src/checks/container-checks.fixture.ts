/**
 * Runs the checks on an engine, with an image made of this machine's own programs. The engine may be missing on a developer's
 * machine, but not in CI.
 */
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest'
import { findDocker, findPodman } from '../backends/container/docker-podman.ts'
import { createSandbox } from '../index.ts'
import { type Bench, createBench, type Open } from './bench.fixture.ts'
import { CHECKS } from './checks.fixture.ts'
import { TEST_IMAGE, testImage } from './test-image.fixture.ts'

const FIND = { docker: () => findDocker(), podman: () => findPodman() } as const

export async function containerChecks(backend: keyof typeof FIND): Promise<void> {
  const missing = await FIND[backend]().then(
    (engine) => engine.close(),
    (error: Error) => error.message,
  )
  const isRoot = process.getuid?.() === 0
  const open: Open = (options) => createSandbox({ ...options, backend, image: TEST_IMAGE })
  const cases = [
    { whose: "root's workspace", owner: 0 },
    { whose: "a user's workspace", owner: 1000 },
  ].slice(0, isRoot ? 2 : 1)

  describe.skipIf(missing !== undefined && !process.env['CI']).each(cases)(
    `${backend}, in $whose${missing ? ` (${missing})` : ''}`,
    ({ owner }) => {
      let bench: Bench
      beforeAll(async () => {
        const engine = await FIND[backend]()
        await testImage(engine)
        await engine.close()
        bench = await createBench({ open, owner: isRoot ? owner : (process.getuid?.() ?? 0) })
      }, 120_000)
      afterEach(() => bench.tidy())
      afterAll(() => bench.close())

      it.each(CHECKS)('$group: $name', ({ run }) => run(bench), 120_000)
    },
  )
}
