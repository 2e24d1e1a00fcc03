/** Checks whether the tests can run commands in a real sandbox here. */
import { probeBackends } from '@mulligan/sandbox'
import { place } from '../common/place.fixture.ts'

/** Required on CI, so that these tests are not skipped there. */
export async function sandboxThere(): Promise<boolean> {
  using here = place()
  const probes = await probeBackends({ workspace: here.dir })
  if (probes.some(({ name, ok }) => ok && name !== 'none')) return true
  const why = probes.map(({ name, reason }) => `${name}: ${reason}`).join('\n')
  if (process.env['CI']) throw new Error(`there is no sandbox to test in:\n${why}`)
  console.warn(`Left out, for there is no sandbox:\n${why}`)
  return false
}
