/** Defines the checks. */
import assert from 'node:assert/strict'
import type { Bench } from './bench.fixture.ts'

export interface Check {
  readonly group: 'escape' | 'egress' | 'secrets' | 'resources' | 'process tree' | 'output' | 'cancellation' | 'work'
  readonly name: string
  readonly run: (bench: Bench) => Promise<void>
}

interface Reach {
  readonly group: Check['group']
  /** What must not be possible. */
  readonly name: string
  /** A shell condition that is true if it is possible. */
  readonly when: string
  /** Whether it requires root outside the sandbox too. */
  readonly rootOnly?: boolean
  /** Undoes the effects of the control, and of the check inside. */
  readonly undo?: string
}

/** Runs the same script on both sides: if it could not succeed outside, the check would prove nothing. */
export const reach = ({ group, name, when, rootOnly = false, undo = ':' }: Reach): Check => ({
  group,
  name,
  run: async (bench) => {
    const script = `if { ${when}; } >/dev/null 2>&1; then echo REACHED; fi; { ${undo}; } >/dev/null 2>&1; echo TRIED`
    if (bench.isRoot || !rootOnly) {
      const control = await bench.outside(script)
      assert.match(control.stdout, /REACHED\nTRIED/, `control: not even outside of the sandbox: ${when}`)
    }
    const { stdout, stderr, reason } = await bench.inside(script)
    assert.equal(stdout, 'TRIED\n', `${reason}: ${stderr}`)
  },
})
