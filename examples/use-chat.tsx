/**
 * A chat page with the AI SDK's `useChat` on a Mulligan server: `mulligan serve --allow-origin http://localhost:5173`, then any bundler for
 * this file. Open it with `#url=http://127.0.0.1:4711&token=TOKEN&chat=my-chat`; the chat is there again after a reload.
 */
import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai'
import { type FormEvent, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'

const given = new URLSearchParams(location.hash.slice(1))
const url = given.get('url') ?? 'http://127.0.0.1:4711'
const id = given.get('chat') ?? 'my-chat'
const headers = { authorization: `Bearer ${given.get('token')}` }
const transport = new DefaultChatTransport({ api: `${url}/api/chat`, headers })

/** What a question of the server says besides its reason. */
interface Descriptor {
  readonly target: string
  readonly diff?: string
}

function Chat({ stored }: { readonly stored: UIMessage[] }) {
  const { messages, sendMessage, regenerate, addToolApprovalResponse, status, error } = useChat({
    ...{ id, transport, messages: stored, resume: true },
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
  const [text, setText] = useState('')

  function send(event: FormEvent): void {
    event.preventDefault()
    void sendMessage({ text })
    setText('')
  }

  // Leaving the page does not stop a reply; this does.
  const stop = () => fetch(`${url}/api/sessions/${id}/abort`, { method: 'POST', headers })

  return (
    <main>
      {messages.map(({ id: key, role, parts }) => (
        <article key={key} aria-label={role}>
          {parts.map((part, at) => {
            if (part.type === 'text') return <p key={at}>{part.text}</p>
            if (!isToolUIPart(part)) return null
            const { approval } = part
            return (
              <section key={at}>
                {'toolName' in part && part.toolName}: {part.state} {part.errorText}
                {part.state === 'approval-requested' && approval && (
                  <>
                    <pre>{(approval.descriptor as Descriptor).diff ?? JSON.stringify(part.input)}</pre>
                    <button type="button" onClick={() => void addToolApprovalResponse({ id: approval.id, approved: true })}>
                      Allow
                    </button>
                    <button
                      type="button"
                      onClick={() => void addToolApprovalResponse({ id: approval.id, approved: false, reason: 'not now' })}
                    >
                      Deny
                    </button>
                  </>
                )}
              </section>
            )
          })}
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit">Send</button>
        <button type="button" onClick={() => void regenerate()}>
          Again
        </button>
        {status === 'streaming' && (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        )}
        <output>{status}</output>
      </form>
    </main>
  )
}

function App() {
  const [stored, setStored] = useState<UIMessage[]>()
  useEffect(() => {
    const load = async () => {
      const response = await fetch(`${url}/api/chat/${id}/messages`, { headers })
      setStored(((await response.json()) as { messages: UIMessage[] }).messages)
    }
    void load()
  }, [])
  return stored && <Chat stored={stored} />
}

const root = document.getElementById('root')
if (root) createRoot(root).render(<App />)
