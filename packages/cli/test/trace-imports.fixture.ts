/** For `node --import`: writes the URL of every loaded module to the file named by TRACE_FILE. */
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

registerHooks({
  load(url, context, next) {
    appendFileSync(process.env['TRACE_FILE'] as string, `${url}\n`)
    return next(url, context)
  },
})
