/** Shows a panel on the alternate screen, and passes keys on to it. */
import { useInput, usePaste } from 'ink'
import { useEffect } from 'react'
import type { FullScreen } from './full-screen.ts'
import { type Panel, panelKeys, type Size } from './panel.ts'

export function PanelView({ panel, screen, size, notice }: { panel: Panel; screen: FullScreen; size: Size; notice: string }): null {
  useEffect(() => {
    screen.enter()
    return screen.leave
  }, [screen])
  // Panels change without notice: each render draws them again.
  useEffect(() => screen.draw([...panel.lines({ ...size, rows: size.rows - (notice === '' ? 0 : 1) }), ...(notice === '' ? [] : [notice])]))
  useInput((input, key) => {
    for (const pressed of panelKeys(input, key)) panel.key(pressed)
  })
  usePaste((text) => panel.key({ name: 'text', text: text.replace(/\s+/g, ' ') }))
  return null
}
