/** Checks for escape, egress and secrets: conditions that hold outside and must not hold inside. */
import { type Check, reach } from './check.fixture.ts'

/**
 * False if the call was refused or does not exist: EPERM, EACCES, ENOSYS, EPROTONOSUPPORT, EAFNOSUPPORT, killed. 126 and 127: the
 * program did not run.
 */
const syscall = (name: string) => `"$PWD/syscalls/${name}"; case $? in 1|13|38|93|97|126|127|132|139|159) false;; *) true;; esac`
const js = (code: string) => `node -e '${code.replaceAll('\n', ' ')}'`
const connects = (options: string) =>
  js(`const s = require("net").connect(${options}); s.on("data", (d) => process.exit(String(d).includes("planted") ? 0 : 1));
s.on("error", () => process.exit(1)); setTimeout(() => process.exit(1), 3000)`)
const reads = (path: string) => `grep -q planted "${path}"`

const escapes = (name: string, when: string, more: { rootOnly?: boolean; undo?: string } = {}): Check =>
  reach({ group: 'escape', name, when, ...more })
const egress = (name: string, when: string): Check => reach({ group: 'egress', name, when })
const secret = (name: string, when: string, more: { rootOnly?: boolean } = {}): Check => reach({ group: 'secrets', name, when, ...more })

export const REACHES: readonly Check[] = [
  escapes('another project is read', reads('$OTHER/secret.txt')),
  escapes('another project is listed', 'ls "$OTHER" | grep -q secret'),
  escapes('another project is written to', 'echo x >"$OTHER/new"', { undo: 'rm -f "$OTHER/new"' }),
  escapes('another project is read through a symbolic link', `ln -sf "$OTHER/secret.txt" link && ${reads('link')}`, { undo: 'rm -f link' }),
  escapes('another project is read through a hard link', `ln "$OTHER/secret.txt" hard && ${reads('hard')}`, { undo: 'rm -f hard' }),
  escapes('another project is read through the root of a process', `cat /proc/[0-9]*/root"$OTHER"/secret.txt | grep -q planted`),
  escapes('another project is read through the folder of a process', `cat /proc/[0-9]*/cwd/../other/secret.txt | grep -q planted`),
  escapes('a file of the host in /tmp is read', reads('$STRAY')),
  escapes('/usr is written to', 'touch /usr/mulligan-check', { rootOnly: true, undo: 'rm -f /usr/mulligan-check' }),
  escapes('/etc is written to', 'touch /etc/mulligan-check', { rootOnly: true, undo: 'rm -f /etc/mulligan-check' }),
  escapes('a setting of the kernel is written', 'v=$(cat /proc/sys/vm/swappiness) && echo $v >/proc/sys/vm/swappiness', { rootOnly: true }),
  escapes('a disk or the log of the kernel is there', 'ls -d /dev/[sv]d[a-z] /dev/nvme* /dev/xvd* /dev/kmsg /dev/mem | grep -q .'),
  escapes('a device is made', 'mknod disk b 8 0', { rootOnly: true, undo: 'rm -f disk' }),
  escapes('another root is entered', 'chroot / true', { rootOnly: true }),
  escapes('capabilities are had, or could be', "grep -Eq '^Cap(Prm|Eff|Bnd|Amb):.*[1-9a-f]' /proc/self/status"),
  escapes('privileges can be gained', "grep -Eq '^NoNewPrivs:[^0-9]*0' /proc/self/status"),
  escapes('a process of the host is seen', '[[ $(cat /proc/[0-9]*/cmdline | tr "\\0" " ") == *"$MARK"* ]]'),
  escapes('a process of the host is signalled', 'kill -0 "$VICTIM"'),
  escapes('a user namespace is made (unshare)', syscall('newUser')),
  escapes('a user namespace is made (clone)', syscall('cloneUser')),
  escapes('another namespace is entered', syscall('setns')),
  escapes('something is mounted', syscall('mount'), { rootOnly: true }),
  escapes('a file system is opened', syscall('fsopen'), { rootOnly: true }),
  escapes('a file is opened by its handle', syscall('handle'), { rootOnly: true }),
  escapes('the keyring of the user is reached', syscall('keyring')),
  escapes('a program is loaded into the kernel', syscall('bpf'), { rootOnly: true }),
  escapes('the kernel is traced', syscall('perf')),
  escapes('page faults are handled', syscall('userfault'), { rootOnly: true }),
  escapes('io_uring is used', syscall('uring')),
  escapes('characters are pushed back into a terminal', syscall('pushBack')),
  escapes('commands are root', 'test "$(id -u)" = 0 || test "$(id -g)" = 0', { rootOnly: true }),
  ...Object.entries({
    chmod: 'chmod 4755 tool',
    'chmod, by letters': 'chmod u+s tool',
    install: 'install -m 4755 /bin/sh tool',
    fchmod: js('const fs = require("fs"); fs.fchmodSync(fs.openSync("tool"), 0o4755)'),
    open: `umask 0; ${js('require("fs").openSync("born", "wx", 0o6755)')} && mv -f born tool`,
    'a file without a name': js(
      'const fs = require("fs"); fs.openSync(".", fs.constants.O_DIRECTORY | 0o20000002, 0o4755); fs.chmodSync("tool", 0o4755)',
    ),
  }).map(([by, make]) =>
    escapes(`setuid is left behind by ${by}`, `cp /bin/sh tool; ${make}; test -u tool`, {
      undo: 'rm -f tool born',
    }),
  ),
  escapes('setuid is copied from the system', 'cp -p "$(find /usr/bin /bin -perm -4000 -type f | head -n 1)" tool && test -u tool', {
    rootOnly: true,
    undo: 'rm -f tool',
  }),
  escapes('what only root may know of the kernel is read', 'head -c 1 /proc/slabinfo | grep -q .', { rootOnly: true }),
  escapes('a git hook is written', 'echo x >.git/hooks/pre-commit', { undo: 'rm -f .git/hooks/pre-commit' }),
  escapes('a git hook is written where the settings say', 'echo x >>.husky/pre-commit'),
  escapes('the settings of git are written', 'echo "# x" >>.git/config'),
  escapes('the settings of git are replaced', 'cp .git/config c && mv -f c .git/config', { undo: 'rm -f c' }),
  escapes('.git is moved away', 'mv .git moved', { undo: 'mv moved .git' }),
  escapes('a program of the home is changed', 'echo "# x" >>"$HOST_HOME/.cargo/bin/planted-tool"'),
  escapes('a toolchain of the home is written to', 'touch "$HOST_HOME/.nvm/new"', { undo: 'rm -f "$HOST_HOME/.nvm/new"' }),
  escapes('a folder above a mount point is moved', 'mv "$HOST_HOME/.cargo" "$HOST_HOME/moved"', {
    undo: 'mv "$HOST_HOME/moved" "$HOST_HOME/.cargo"',
  }),

  egress(
    'a server of the host answers on 127.0.0.1',
    js(
      'fetch("http://127.0.0.1:" + process.env.HTTP).then((r) => r.text()).then((t) => process.exit(t.includes("planted") ? 0 : 1), () => process.exit(1))',
    ),
  ),
  egress(
    'a server of the host answers on TCP',
    connects('Number(process.env.HTTP), "localhost", () => s.write("GET / HTTP/1.0\\r\\n\\r\\n")'),
  ),
  egress('a unix socket of the host answers', connects('process.env.SOCKET')),
  egress('an abstract unix socket of the host answers', connects('"\\0" + process.env.ABSTRACT')),
  egress('a socket to the hypervisor is made (AF_VSOCK)', syscall('vsock')),
  egress('events of the kernel are listened to (AF_NETLINK)', syscall('netlinkEvents')),
  egress(
    'there is a network interface',
    js('process.exit(Object.values(require("os").networkInterfaces()).flat().some((i) => !i.internal) ? 0 : 1)'),
  ),
  egress('there is a route', 'tail -n +2 /proc/net/route | grep -q .'),

  secret('a key in the environment', 'env | grep -q planted-key'),
  secret('a key in the environment of any process', 'cat /proc/[0-9]*/environ | grep -aq planted-key'),
  ...'.ssh/id_ed25519 .aws/credentials .npmrc .netrc .git-credentials .docker/config.json .config/gh/hosts.yml .bash_history notes.txt'
    .split(' ')
    .map((name) => secret(`~/${name}`, reads(`$HOST_HOME/${name}`))),
  secret('~/.cargo/credentials.toml, beside programs that are shown', reads('$HOST_HOME/.cargo/credentials.toml')),
  secret('~/.nvm/.npmrc, in a toolchain that is shown', reads('$HOST_HOME/.nvm/.npmrc')),
  secret('passwords of the system', 'grep -q : /etc/shadow', { rootOnly: true }),
  secret('the id of the machine', 'test -s /etc/machine-id || test -s /var/lib/dbus/machine-id'),
]
