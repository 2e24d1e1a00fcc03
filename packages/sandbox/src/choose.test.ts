import { expect, test } from 'vitest'
import type { Backend, OpenBackend, OpenRequest } from './backend.ts'
import { autoOrder, openBackend, probeAll } from './choose.ts'
import { type BackendName, SandboxError } from './command.ts'

const request = {} as OpenRequest

/** Simulates a machine on which only some backends can be opened. */
const machine = (...working: readonly BackendName[]) => {
  const tried: string[] = []
  const load = async (name: BackendName): Promise<Backend> => ({
    name,
    open: async () => {
      tried.push(name)
      if (!working.includes(name)) throw new SandboxError({ message: `${name} is not installed`, remedy: `install ${name}` })
      return { name, enforces: {}, close: async () => void tried.push(`${name} closed`) } as unknown as OpenBackend
    },
  })
  return { tried, load }
}

test('auto takes the first that opens, and none only by name', async () => {
  const [first, second] = autoOrder()
  const { tried, load } = machine(second as BackendName, 'none')
  expect((await openBackend('auto', request, load)).name).toBe(second)
  expect(tried).toEqual([first, second])
  expect((await openBackend('none', request, load)).name).toBe('none')
})

test('where none opens, each says why, and what to do', async () => {
  const { load } = machine('none')
  const error = (await openBackend('auto', request, load).catch((error: unknown) => error)) as SandboxError
  expect(error).toBeInstanceOf(SandboxError)
  for (const name of autoOrder()) {
    expect(error.message).toContain(`- ${name}: ${name} is not installed`)
    expect(error.remedy).toContain(`For ${name}: install ${name}`)
  }
  expect(error.remedy).toContain('sandbox.backend to none')
})

test('one that was named is not replaced by another', async () => {
  const { load } = machine('bubblewrap')
  await expect(openBackend('docker', request, load)).rejects.toThrow('docker is not installed')
})

test('a probe opens and closes', async () => {
  const { tried, load } = machine('podman')
  expect(await probeAll(request, ['docker', 'podman'], load)).toEqual([
    { name: 'docker', ok: false, reason: 'docker is not installed', remedy: 'install docker' },
    { name: 'podman', ok: true, enforces: {} },
  ])
  expect(tried).toContain('podman closed')
})

test('macOS has Seatbelt', () => {
  expect(autoOrder('darwin')).toEqual(['seatbelt', 'docker', 'podman'])
  expect(autoOrder('linux')).toEqual(['bubblewrap', 'docker', 'podman'])
})
