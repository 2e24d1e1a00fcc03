import { expect, test } from 'vitest'
import { dockerSockets, findDocker, podmanSockets } from './docker-podman.ts'

test.each([
  [{ DOCKER_HOST: 'unix:///x/docker.sock', XDG_RUNTIME_DIR: '/run/user/5' }, ['/x/docker.sock']],
  [
    { XDG_RUNTIME_DIR: '/run/user/5' },
    [
      '/var/run/docker.sock',
      '/run/user/5/docker.sock',
      '/home/me/.docker/run/docker.sock',
      '/home/me/.docker/desktop/docker.sock',
      '/home/me/.colima/default/docker.sock',
    ],
  ],
])('Docker is looked for by %j', (env, sockets) => expect(dockerSockets(env, '/home/me')).toEqual(sockets))

test.each([
  [{ CONTAINER_HOST: 'unix:///x/podman.sock' }, 0, ['/x/podman.sock']],
  [{ XDG_RUNTIME_DIR: '/run/user/5' }, 5, ['/run/user/5/podman/podman.sock']],
  [{}, 0, ['/run/podman/podman.sock']],
  [{}, 5, []],
])('Podman is looked for by %j of user %d', (env, uid, sockets) => expect(podmanSockets(env, uid)).toEqual(sockets))

test('a daemon on another machine is refused: the workspace does not exist', () => {
  expect(() => dockerSockets({ DOCKER_HOST: 'tcp://user:secret@build.example:2375' })).toThrow(
    'DOCKER_HOST is tcp://build.example:2375, which is not a socket of this machine',
  )
  expect(() => podmanSockets({ CONTAINER_HOST: 'ssh://core@box/run/podman.sock' })).toThrow('CONTAINER_HOST is ssh://box/run/podman.sock')
})

test('says where it looked and what to do', async () => {
  await expect(findDocker({ DOCKER_HOST: 'unix:///nowhere/docker.sock' })).rejects.toMatchObject({
    name: 'SandboxError',
    message: 'no Docker daemon answers on /nowhere/docker.sock',
    remedy: expect.stringContaining('start its daemon'),
  })
})
