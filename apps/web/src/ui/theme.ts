/** Light or dark: as the system has it, until the person chooses. */
import { useEffect, useState } from 'react'

export type Theme = 'system' | 'light' | 'dark'
const KEY = 'mulligan.theme'
const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }

const stored = (): Theme => {
  const value = localStorage.getItem(KEY)
  return value === 'light' || value === 'dark' ? value : 'system'
}

export function useTheme(): readonly [Theme, () => void] {
  const [theme, setTheme] = useState(stored)
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = theme
    localStorage.setItem(KEY, theme)
  }, [theme])
  return [theme, () => setTheme(NEXT[theme])]
}
