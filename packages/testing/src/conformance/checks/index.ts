import type { Check } from '../check.ts'
import { actionableHint } from './actionable-hint.ts'
import { boundedOutput } from './bounded-output.ts'
import { effect } from './effect.ts'
import { errorAsSuccess } from './error-as-success.ts'
import { examples } from './examples.ts'
import { heedsAbort } from './heeds-abort.ts'
import { lateWrite } from './late-write.ts'
import { noLeak } from './no-leak.ts'
import { retryVersusEmpty } from './retry-versus-empty.ts'
import { wrongTypes } from './wrong-types.ts'

/** In the order of the report. */
export const CHECKS: readonly Check[] = [
  examples,
  retryVersusEmpty,
  errorAsSuccess,
  actionableHint,
  wrongTypes,
  heedsAbort,
  lateWrite,
  boundedOutput,
  noLeak,
  effect,
]
