/** What an HTTP status other than success means for the model. */
import { type MulliganError, ToolFailure, TransientError } from '@mulligan/core'
import type { Response } from '../net/get.ts'
import { retryAfter } from '../net/retry-after.ts'
import { decode } from '../page/decode.ts'
import { binary } from '../page/kind.ts'
import { oneLine, plainText } from '../page/plain-text.ts'
import { withoutUnseen } from '../page/unseen-characters.ts'

const EXCERPT_CHARS = 200
const EXCERPT_BYTES = 20_000

export function statusError(response: Response): MulliganError | undefined {
  const { status, url } = response
  if (status >= 200 && status < 300) return undefined
  const at = `${url.host} answered ${status}`
  if (status === 429) return new TransientError(`${at}: too many requests.`, { errorType: 'rate_limited', ...retryAfter(response.header) })
  if (status >= 500) return new TransientError(`${at}: the server is at fault.`, { ...retryAfter(response.header) })
  const failed = { status: 'failed', parameter: 'url', value: url.href } as const
  if (status === 404 || status === 410)
    return new ToolFailure(`${at}: the page ${status === 404 ? 'does not exist' : 'is gone'}.`, { errorType: 'not_found', ...failed })
  if (status === 401 || status === 403 || status === 407)
    return new ToolFailure(
      `${at}: it ${status === 403 ? 'refuses to show the page' : 'wants a login, and none is sent'}.${excerpt(response)}`,
      {
        errorType: 'permission',
        ...failed,
      },
    )
  return new ToolFailure(`${at}.${excerpt(response)}`, failed)
}

/** What the page says of it, marked as its own words. */
function excerpt({ bytes, header }: Response): string {
  const type = header('content-type')
  if (binary(bytes, type)) return ''
  const text = oneLine(withoutUnseen(plainText(decode(bytes.subarray(0, EXCERPT_BYTES), type).text)))
  return text === '' ? '' : ` The page says: ${JSON.stringify(text.length > EXCERPT_CHARS ? `${text.slice(0, EXCERPT_CHARS)}…` : text)}`
}
