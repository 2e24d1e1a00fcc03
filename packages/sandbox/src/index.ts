/** Run a command inside limits. Knows nothing of tools or models. */
export type { Enforced, Enforcement, Hold } from './backend.ts'
export { DEFAULT_IMAGE, type PullOptions } from './backends/container/pull-options.ts'
export { pullImage } from './backends/pull.ts'
export type { Probe } from './choose.ts'
export {
  BACKENDS,
  type BackendName,
  type Command,
  type CommandLine,
  type Completed,
  type Reason,
  type Removed,
  type Running,
} from './command.ts'
export { CommandError, CommandRefused, SandboxError } from './errors.ts'
export { type ConfigSetting, harmlessConfig, settingsIn } from './git/harmless-config.ts'
export { riskySettings } from './git/risky-settings.ts'
export { layerHint } from './layer/hint.ts'
export type { KeptIgnored, PrivateLayer } from './layer/keep-private.ts'
export type { Change, Changed, ChangeSet, Entry, Ignored, Layer, LayerOptions, LayerSupport, WaitingLayer } from './layer/types.ts'
export { LayerError } from './layer/types.ts'
export { type ListOptions, listLayers } from './layer/waiting.ts'
export { checkLimit, DEFAULT_SANDBOX_LIMITS, type Limits, limitsOf, MAX_TIMEOUT, parseSize, STRICT_LIMITS, sizeText } from './limits.ts'
export { isOfProject, type ProgramSearch, resolveProgram, runProgram, safePath, startProgram } from './program.ts'
export { createSandbox, probeBackends, type Sandbox, type SandboxOptions } from './sandbox.ts'
export { type SandboxSession, type SessionProcess, toSandboxSession } from './session.ts'
export type { Network } from './view/view.ts'
