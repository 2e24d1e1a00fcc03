/** What a throwaway layer holds. */
import type { Mutation } from './mutation.ts'

const source = (name: string): string => `packages/sandbox/src/layer/${name}`
const layer = (name: string): Mutation['test'] => ({
  file: source('layer.test.ts'),
  name: `a layer, as root, on root's workspace > ${name}`,
})
const compared = (name: string): Mutation['test'] => ({ file: source('compare.test.ts'), name })
const placed = (name: string): Mutation['test'] => ({ file: source('places.test.ts'), name })
const killed = (name: string): Mutation['test'] => ({ file: source('kill.test.ts'), name })

export const LAYER: readonly Mutation[] = [
  {
    id: 'layer-no-follow',
    rule: 'layer: the reader follows no link that a command made',
    file: source('read.ts'),
    find: `const flags = O_RDONLY | O_NOFOLLOW |`,
    replace: `const flags = O_RDONLY |`,
    test: layer('no link of a command leads the reader out of the layer'),
  },
  {
    id: 'layer-masks',
    rule: 'layer: secrets of the workspace are covered',
    file: source('views.ts'),
    find: `    ...covers,\n  ]`,
    replace: `  ]`,
    test: layer('masks: a secret is seen empty, can be neither changed nor moved, and is not told of'),
  },
  {
    id: 'layer-no-network',
    rule: 'layer: there is no network, whatever the sandbox has',
    file: source('layers.ts'),
    find: `view: wanted, network: 'none' }`,
    replace: `view: wanted }`,
    test: layer('there is no network in a layer, and nothing outside of the workspace can be written'),
  },
  {
    id: 'layer-workspace-only',
    rule: 'layer: other folders of the host can only be read',
    file: source('views.ts'),
    find: `(isWorkspace(mount) ? mount : readOnly(mount, ownFolder(view)))`,
    replace: `mount`,
    test: layer('there is no network in a layer, and nothing outside of the workspace can be written'),
  },
  {
    id: 'layer-cut-off',
    rule: 'layer: a command that was cut off takes its layer with it',
    file: source('layers.ts'),
    find: `if (CUT_OFF.includes(completed.reason))`,
    replace: `if (CUT_OFF.length === 0)`,
    test: layer('a command that was cut off takes its layer with it'),
  },
  {
    id: 'layer-no-forged-deletion',
    rule: 'layer: marks of an overlay that lie in the workspace are not deletions',
    file: source('scan.ts'),
    find: `if (found && !isWhiteout(found))`,
    replace: `if (found)`,
    test: layer("a command can't forge the marks of an overlay, and marks in the workspace are not its deletions"),
  },
  {
    id: 'layer-bounded-bytes',
    rule: 'layer: its size is bounded, holes included',
    file: source('scan.ts'),
    find: `if (total > bytes)`,
    replace: `if (total > bytes && seen < 0)`,
    test: layer('a layer is bounded in size'),
  },
  {
    id: 'layer-private',
    rule: 'layer: changes of ignored files stay with the session',
    file: source('scan.ts'),
    find: `const isKept = ({ path }: Child) => !out.has(path)`,
    replace: `const isKept = ({ path }: Child) => path !== '' || !out.has(path)`,
    test: layer('what is ignored stays with the session: later commands see it, the workspace does not'),
  },
  {
    id: 'layer-read-only',
    rule: 'sandbox: a read-only run writes nothing to the workspace',
    file: source('views.ts'),
    find: `[...mounts.map((mount) => readOnly(mount, ownFolder(view))), ...covers]`,
    replace: `[...mounts, ...covers]`,
    test: layer('a run on the workspace read-only, where there is no layer'),
  },
  {
    id: 'layer-read-only-walls',
    rule: 'sandbox: without walls a read-only run is refused',
    file: source('layers.ts'),
    find: `if (backend.name === 'none')`,
    replace: `if (backend.name === ('' as typeof backend.name))`,
    test: placed('without a sandbox nothing runs read-only, and there are no layers'),
  },
  {
    id: 'layer-mount-points',
    rule: 'layer: a workspace with a mount point in it has none',
    file: source('layers.ts'),
    find: `    checkMounts(workspace)\n`,
    replace: ``,
    test: placed('are refused over a workspace with a mount in it, which they would hide'),
  },
  {
    id: 'layer-hash-content',
    rule: 'layer: a decision is bound to the content of the files',
    file: source('compare.ts'),
    find: `entry.size, entry.sha256 ?? null,`,
    replace: `entry.size,`,
    test: compared('the hash holds for content, mode and target, and not for times'),
  },
  {
    id: 'layer-protected-case',
    rule: 'layer: protected paths are told by any case of their names',
    file: source('compare.ts'),
    find: `const lower = path.toLowerCase()`,
    replace: `const lower = path`,
    test: compared('.GIT/Config is protected'),
  },
  {
    id: 'layer-waits',
    rule: 'layer: one that waits for a decision survives its process',
    file: source('store.ts'),
    find: `if (manifest) waiting.push({ id, folder, manifest })`,
    replace: `if (manifest && isGone('')) waiting.push({ id, folder, manifest })`,
    test: killed('killed > waiting'),
  },
]
