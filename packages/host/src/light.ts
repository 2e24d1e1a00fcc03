/**
 * Exports what the command uses before it has read its arguments, and while the user types: nothing here loads another package. These
 * exports are not a stable API: they change with the command.
 */
export { BUILT_IN_AGENTS } from './agents/built-in.ts'
export type { Ask } from './common/ask.ts'
export type { Env } from './common/env.ts'
export { NoModel, storeHint, UsageError } from './common/errors.ts'
export { type DataPaths, dataDir, fromHome, openDataDir, TOOLS_FOLDER, toHome } from './common/paths.ts'
export { readRegular } from './common/regular-file.ts'
export { blanksCounted, oneLine, type StreamSanitizer, safeJson, sanitize, streamSanitizer, visible } from './common/sanitize.ts'
export type { Setting } from './common/setting.ts'
export { changing, replaceFile } from './common/write.ts'
export { parseJsonc } from './config/jsonc.ts'
export { ANY_NAME, type ConfigKey, isAbout, keysIn, keyText, parseKey, type SchemaNode, typeText } from './config/keys.ts'
export { type FilePlace, ownPath, projectPlace, userPlace } from './config/places.ts'
export { valueAt } from './config/value-at.ts'
export { type Remembered, readRemembered, remember } from './models/remembered.ts'
