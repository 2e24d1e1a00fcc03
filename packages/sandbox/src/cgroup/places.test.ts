import { expect, test } from 'vitest'
import { findPlaces } from './cgroup.ts'

const V1 = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:7 - cgroup cgroup rw,memory
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw`
const V2 = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate'

const at = (version: 1 | 2, mount: string, folder: string) => ({ version, mount, folder })

test.each([
  [
    'v1: each controller has its place',
    '9:name=systemd:/\n8:pids:/\n4:memory:/me/x\n1:cpu,cpuacct:/a\n0::/',
    V1,
    {
      memory: at(1, '/sys/fs/cgroup/memory', '/sys/fs/cgroup/memory/me/x'),
      pids: at(1, '/sys/fs/cgroup/pids', '/sys/fs/cgroup/pids'),
      cpu: at(1, '/sys/fs/cgroup/cpu,cpuacct', '/sys/fs/cgroup/cpu,cpuacct/a'),
    },
  ],
  [
    'v2: all share one',
    '0::/user.slice/user-1000.slice/session-1.scope',
    V2,
    Object.fromEntries(
      ['memory', 'pids', 'cpu'].map((name) => [name, at(2, '/sys/fs/cgroup', '/sys/fs/cgroup/user.slice/user-1000.slice/session-1.scope')]),
    ),
  ],
  [
    'both: what v1 has not taken is in v2',
    '4:memory:/\n0::/x',
    V1,
    {
      memory: at(1, '/sys/fs/cgroup/memory', '/sys/fs/cgroup/memory'),
      pids: at(2, '/sys/fs/cgroup/unified', '/sys/fs/cgroup/unified/x'),
      cpu: at(2, '/sys/fs/cgroup/unified', '/sys/fs/cgroup/unified/x'),
    },
  ],
  [
    'a container that sees only its own part',
    '4:memory:/docker/abc/deeper',
    '35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory',
    { memory: at(1, '/sys/fs/cgroup/memory', '/sys/fs/cgroup/memory/deeper') },
  ],
  [
    'a path with a space',
    '4:memory:/a b',
    '35 31 0:32 / /mnt/my\\040cgroups rw - cgroup cgroup rw,memory',
    { memory: at(1, '/mnt/my cgroups', '/mnt/my cgroups/a b') },
  ],
  ['nothing', '', '', {}],
])('%s', (_, cgroups, mountinfo, expected) => {
  expect(Object.fromEntries(findPlaces(cgroups, mountinfo).map(({ controller, ...place }) => [controller, place]))).toEqual(expected)
})
