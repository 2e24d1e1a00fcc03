import { describe, expect, it } from 'vitest'
import { explain, type Facts } from './explain.ts'

const facts = (over: Partial<Facts> = {}): Facts => ({
  apparmorRestricts: false,
  userNamespacesOff: false,
  noneAllowed: false,
  isInContainer: false,
  ...over,
})

const NO_NAMESPACE =
  'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.'

describe('why bubblewrap does not start', () => {
  it.each<[string, string, Facts, RegExp, RegExp]>([
    ['AppArmor, Ubuntu 24.04', 'bwrap: setting up uid map: Permission denied', facts({ apparmorRestricts: true }), /AppArmor/, /userns,/],
    [
      'AppArmor, seen late',
      'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted',
      facts({ apparmorRestricts: true }),
      /AppArmor/,
      /apparmor_restrict/,
    ],
    [
      "Debian's switch",
      NO_NAMESPACE,
      facts({ userNamespacesOff: true }),
      /unprivileged_userns_clone is 0/,
      /sysctl -w kernel.unprivileged_userns_clone=1/,
    ],
    [
      'none allowed',
      'bwrap: Creating new namespace failed: No space left on device',
      facts({ noneAllowed: true }),
      /max_user_namespaces is 0/,
      /sysctl -w user/,
    ],
    [
      'in a container',
      'bwrap: Creating new namespace failed: Operation not permitted',
      facts({ isInContainer: true }),
      /container, which forbids/,
      /seccomp=unconfined/,
    ],
    [
      '/proc covered in a container',
      "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
      facts({ isInContainer: true }),
      /Parts of \/proc/,
      /systempaths=unconfined/,
    ],
    ['a kernel without them', NO_NAMESPACE, facts(), /can't create a sandbox: No permissions/, /CONFIG_USER_NS/],
    ['an old one', 'bwrap: Unknown option --perms', facts(), /too old \(Unknown option --perms\)/, /0\.5 or later/],
  ])('%s', (_, stderr, machine, message, remedy) => {
    const fault = explain(stderr, machine)
    expect(fault.message).toMatch(message)
    expect(fault.remedy).toMatch(remedy)
  })

  it('repeats what it does not know', () => {
    expect(explain("bwrap: Can't find source path /gone: No such file or directory\n", facts()).message).toBe(
      "bubblewrap can't create a sandbox: Can't find source path /gone: No such file or directory",
    )
    expect(explain('', facts()).message).toContain('it ended without a message')
  })
})
