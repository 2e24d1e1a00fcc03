/** `/theme` shows or changes the colours of the chat. */
import { oneLine, UsageError } from '@mulligan/host/light'
import { askedTheme, colorsFor, setTheme, THEMES, type ThemeName } from '../../ui/colors.ts'
import type { SlashCommand } from './control.ts'

const SAYS: Readonly<Record<ThemeName, string>> = {
  auto: 'by the background that the terminal reports, otherwise terminal',
  dark: 'for a dark background, 256 colours',
  light: 'for a light background, 256 colours',
  terminal: 'the 16 colours of the terminal',
  none: 'no colours',
}

export const theme: SlashCommand = {
  name: 'theme',
  aliases: ['themes'],
  usage: '[NAME]',
  description: 'show or change the colours of the chat',
  anytime: true,
  run: async (asked, { sayRows, tell, cwd }) => {
    if (asked !== '') {
      const found = THEMES.find((name) => name === asked)
      if (!found) throw new UsageError(`there is no theme ${oneLine(asked, 40)}`, `The themes are ${THEMES.join(', ')}.`)
      setTheme(found, process.env)
      const { setValue } = await import('../../commands/config/edit.ts')
      tell(`Written to ${await setValue(['theme'], found, { cwd })}.`)
    }
    const now = askedTheme()
    sayRows(THEMES.map((name) => [`${name === now ? '>' : ' '} ${name}`, SAYS[name]]))
    if (!colorsFor(process.stdout).isColorSupported && now !== 'none') tell('NO_COLOR or TERM turns colours off here.')
  },
}
