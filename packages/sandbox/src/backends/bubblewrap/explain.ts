/** Explains why bubblewrap does not start and how to fix it. */
import { existsSync, readFileSync } from 'node:fs'
import type { SandboxFault } from '../../command.ts'
import { attempt } from '../../paths.ts'

export interface Facts {
  /** Ubuntu 24.04 and later: only programs with an AppArmor profile may create user namespaces. */
  readonly apparmorRestricts: boolean
  /** Debian's switch for user namespaces is off. */
  readonly userNamespacesOff: boolean
  /** `user.max_user_namespaces` is 0. */
  readonly noneAllowed: boolean
  readonly isInContainer: boolean
}

export function readFacts(): Facts {
  const says = (path: string, value: string): boolean => attempt(() => readFileSync(path, 'utf8').trim()) === value
  return {
    apparmorRestricts: says('/proc/sys/kernel/apparmor_restrict_unprivileged_userns', '1'),
    userNamespacesOff: says('/proc/sys/kernel/unprivileged_userns_clone', '0'),
    noneAllowed: says('/proc/sys/user/max_user_namespaces', '0'),
    isInContainer: existsSync('/.dockerenv') || existsSync('/run/.containerenv'),
  }
}

export const NOT_INSTALLED: SandboxFault = {
  message: 'bubblewrap is not installed',
  remedy: 'Install it: apt-get install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap, or apk add bubblewrap.',
}

/** Matches failures to create namespaces, whichever step was refused. */
const NAMESPACE = /new namespace|uid map|gid map|setting up|userns|RTM_NEWADDR|RTM_NEWLINK|clone|unshare/i

/** Explains a failure from bubblewrap's output and the machine's configuration. Pure. */
export function explain(stderr: string, facts: Facts): SandboxFault {
  const last = stderr.trim().split('\n').at(-1)
  const line = last?.replace(/^bwrap: /, '') || 'it ended without a message'
  const says = `bubblewrap can't create a sandbox: ${line}`
  if (/unknown option/i.test(line)) return { message: `this bubblewrap is too old (${line})`, remedy: 'Install bubblewrap 0.5 or later.' }
  const [, message = says, remedy] = causes(says, line, facts).find(([applies]) => applies) ?? []
  return { message, ...(remedy !== undefined && { remedy }) }
}

type Cause = readonly [applies: boolean, message: string, remedy: string]

function causes(says: string, line: string, facts: Facts): readonly Cause[] {
  const isNamespace = NAMESPACE.test(line)
  return [
    [
      isNamespace && facts.noneAllowed,
      `user namespaces are off (user.max_user_namespaces is 0): ${line}`,
      'As root: sysctl -w user.max_user_namespaces=15000.',
    ],
    [
      isNamespace && facts.userNamespacesOff,
      `user namespaces are off (kernel.unprivileged_userns_clone is 0): ${line}`,
      'As root: sysctl -w kernel.unprivileged_userns_clone=1, and the same line in a file of /etc/sysctl.d to keep it.',
    ],
    [
      isNamespace && facts.apparmorRestricts,
      `AppArmor keeps bubblewrap from creating user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1): ${line}`,
      APPARMOR,
    ],
    [isNamespace && facts.isInContainer, `${says}. This is a container, which forbids it`, CONTAINER],
    [isNamespace, says, 'The kernel has to allow user namespaces (CONFIG_USER_NS); a security module or a seccomp filter may forbid them.'],
    [/mount proc|\/proc/i.test(line) && facts.isInContainer, `${says}. Parts of /proc are covered in this container`, CONTAINER],
  ]
}

const APPARMOR = `As root, give it a profile: write /etc/apparmor.d/bwrap with
  abi <abi/4.0>,
  include <tunables/global>
  profile bwrap /usr/bin/bwrap flags=(unconfined) {
    userns,
  }
and run systemctl reload apparmor. Or lift it for all programs: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0.`

const CONTAINER =
  'Start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined, or use the docker backend outside the container.'
