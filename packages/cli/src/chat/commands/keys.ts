/** Keys and input other than commands, for the help and the documentation page on the chat. */
import type { Row } from '../view.ts'

export const KEYS: readonly Row[] = [
  ['Enter', 'sends; during a turn the message joins it before the next request, and a command waits for its end'],
  ['Alt-Enter', 'a new line; so do Ctrl-J, and \\ before Enter'],
  ['Up, Down', 'earlier messages'],
  ['Ctrl-R', 'searches earlier messages'],
  ['Ctrl-G', 'edits the input in your own editor (VISUAL or EDITOR); so does Ctrl-X Ctrl-E'],
  ['Ctrl-V', 'attaches the image in the clipboard; the terminal pastes text as usual'],
  ['Tab', 'completes a command or a path'],
  ['Shift-Tab', 'the next mode, from the next turn on'],
  [
    'Esc',
    'closes the list of completions; during a turn, takes back the last waiting message or stops the turn; twice, clears the input or, if it is empty, begins /rewind',
  ],
  [
    'y s a n, 1 2 3',
    'answer a question at once, if nothing was typed for half a second; N begins a reason. Or choose with the arrows and Enter',
  ],
  ['Ctrl-O', 'shows a call in full, also earlier ones: input, repairs, output; Esc closes it'],
  ['Ctrl-C', 'stops the current turn; when idle, clears the input, then quits'],
  ['Ctrl-D', 'quits if the input is empty; so do the messages exit and quit'],
  ['Ctrl-Z', 'suspends the chat; fg in the shell goes on'],
  ['!COMMAND', 'runs a command in your own shell, outside the sandbox; its output goes to the model with your next message'],
  ['@PATH', 'mentions a file, which the model reads if needed, or an image, which is sent'],
  ['@SERVER:URI', 'mentions a resource of an MCP server'],
  ['# TEXT', 'asks the model to add the text to AGENTS.md, which is read in every session'],
  ['//TEXT', 'sends a message that starts with a slash'],
  ['?', 'shows these keys'],
]
