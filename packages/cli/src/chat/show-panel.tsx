/** Shows a panel while there is no chat, such as the list of sessions before one is opened. */
import { render, useWindowSize } from 'ink'
import { createElement, type ReactNode, useReducer } from 'react'
import type { Output } from '../ui/output.ts'
import { overridden, writer } from './ending.ts'
import { createFullScreen, type FullScreen } from './panel/full-screen.ts'
import type { Panel } from './panel/panel.ts'
import { PanelView } from './panel/panel-view.tsx'
import type { MakePanel } from './panel/panels.ts'

const NOTHING = (): void => undefined

/** @returns what the panel was closed with; undefined also if the output was closed */
export async function showPanel<T>(make: MakePanel<T>, output: Output): Promise<T | undefined> {
  // The renderer itself draws nothing. What it sets in the terminal, such as the mode of pasting, it also resets.
  const full = createFullScreen(output.out, NOTHING).full
  const write = writer(
    (text) => text.startsWith('\x1b[?2004') && output.out(text),
    (done) => void output.flush().then(done),
  )
  const closed = Promise.withResolvers<T | undefined>()
  const close = (): void => closed.resolve(undefined)
  let redraw = NOTHING
  const panel = make(closed.resolve, () => redraw())
  const app = render(createElement(Alone, { panel, full, onRedraw: (to) => (redraw = to) }), {
    ...{ stdout: overridden(process.stdout, { write }), exitOnCtrlC: false, patchConsole: false, interactive: true },
  })
  output.closed.addEventListener('abort', close)
  try {
    return await closed.promise
  } finally {
    output.closed.removeEventListener('abort', close)
    app.unmount()
    await app.waitUntilExit().catch(NOTHING)
    full.leave()
  }
}

interface AloneProps {
  readonly panel: Panel
  readonly full: FullScreen
  /** Receives what draws the panel again. */
  readonly onRedraw: (redraw: () => void) => void
}

function Alone({ panel, full, onRedraw }: AloneProps): ReactNode {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  onRedraw(redraw)
  const { columns, rows } = useWindowSize()
  return <PanelView panel={panel} screen={full} size={{ columns, rows }} notice="" />
}
