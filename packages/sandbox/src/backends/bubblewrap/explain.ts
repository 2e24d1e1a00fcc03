/** Why bubblewrap does not start, and what to do about it. */
import { existsSync, readFileSync } from 'node:fs'
import type { SandboxFault } from '../../errors.ts'

export interface Facts {
  /** Ubuntu 24.04 and later: only programs with a profile may make user namespaces. */
  readonly apparmorRestricts: boolean
  /** Debian's switch. */
  readonly userNamespacesOff: boolean
  /** `user.max_user_namespaces` is 0. */
  readonly noneAllowed: boolean
  readonly isInContainer: boolean
}

export function readFacts(): Facts {
  const says = (path: string, value: string): boolean => {
    try {
      return readFileSync(path, 'utf8').trim() === value
    } catch {
      return false
    }
  }
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

/** Of a failure to make namespaces, whatever step of it was refused. */
const NAMESPACE = /new namespace|uid map|gid map|setting up|userns|RTM_NEWADDR|RTM_NEWLINK|clone|unshare/i

/** Pure: what bubblewrap printed, and how the machine is set up. */
export function explain(stderr: string, facts: Facts): SandboxFault {
  const line =
    stderr
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/^bwrap: /, '') || 'it ended without a word'
  const says = `bubblewrap can't make a sandbox: ${line}`
  if (/unknown option/i.test(line)) return { message: `this bubblewrap is too old (${line})`, remedy: 'Install bubblewrap 0.5 or later.' }
  if (NAMESPACE.test(line)) {
    if (facts.noneAllowed)
      return {
        message: `user namespaces are off (user.max_user_namespaces is 0): ${line}`,
        remedy: 'As root: sysctl -w user.max_user_namespaces=15000.',
      }
    if (facts.userNamespacesOff)
      return {
        message: `user namespaces are off (kernel.unprivileged_userns_clone is 0): ${line}`,
        remedy: 'As root: sysctl -w kernel.unprivileged_userns_clone=1, and the same line in a file of /etc/sysctl.d to keep it.',
      }
    if (facts.apparmorRestricts)
      return {
        message: `AppArmor keeps bubblewrap from making user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1): ${line}`,
        remedy: APPARMOR,
      }
    if (facts.isInContainer) return { message: `${says}. This is a container, which forbids it`, remedy: CONTAINER }
    return {
      message: says,
      remedy: 'The kernel has to allow user namespaces (CONFIG_USER_NS); a security module or a seccomp filter may forbid them.',
    }
  }
  if (/mount proc|\/proc/i.test(line) && facts.isInContainer)
    return { message: `${says}. Parts of /proc are covered in this container`, remedy: CONTAINER }
  return { message: says }
}

const APPARMOR = [
  'As root, give it a profile: write /etc/apparmor.d/bwrap with',
  '  abi <abi/4.0>,',
  '  include <tunables/global>',
  '  profile bwrap /usr/bin/bwrap flags=(unconfined) {',
  '    userns,',
  '  }',
  'and run systemctl reload apparmor. Or lift it for all programs: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0.',
].join('\n')

const CONTAINER =
  'Start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined, or use the docker backend from outside of it.'
