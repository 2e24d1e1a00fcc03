/** Runs commands within limits, independently of tools and models. */
export type { Enforced, Enforcement, Hold } from './backend.ts'
export { pullImage } from './backends/pull.ts'
export type { Probe } from './choose.ts'
export {
  BACKENDS,
  type BackendName,
  type Command,
  CommandError,
  type CommandLine,
  CommandRefused,
  type Completed,
  DEFAULT_IMAGE,
  type PullOptions,
  type Reason,
  type Removed,
  type Running,
  SandboxError,
} from './command.ts'
export { type ConfigSetting, harmlessConfig, settingsIn } from './git/harmless-config.ts'
export { riskySettings } from './git/risky-settings.ts'
export { listLayers } from './layer/changed.ts'
export type { KeptIgnored, PrivateLayer } from './layer/keep-private.ts'
export type { ListOptions } from './layer/store.ts'
export * from './layer/types.ts'
export { checkLimit, DEFAULT_SANDBOX_LIMITS, type Limits, limitsOf, MAX_TIMEOUT, parseSize, STRICT_LIMITS, sizeText } from './limits.ts'
export { isOfProject, type ProgramSearch, resolveProgram, runProgram, safePath, startProgram } from './program.ts'
export { createSandbox, probeBackends, type Sandbox, type SandboxOptions } from './sandbox.ts'
export { type SandboxSession, type SessionProcess, toSandboxSession } from './session.ts'
export type { Network } from './view/view.ts'
