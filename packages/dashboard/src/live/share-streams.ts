import type { LiveMessage, LiveState } from './live-message.ts'
import { openStreams } from './open-streams.ts'

/** As browsers wait before they reconnect. */
const againMs = 3_000

type Posted =
  | { readonly kind: 'hello' }
  | { readonly kind: 'messages'; readonly messages: readonly LiveMessage[] }

/**
 * One set of streams for all tabs: a browser opens six connections to a service and no more. The tab that
 * holds the lock reads them and passes on what they tell; when it closes, the next one goes on from there.
 */
export function shareStreams(tell: (messages: readonly LiveMessage[]) => void): Disposable {
  const channel = new BroadcastChannel('gatehouse.live')
  const closing = new AbortController()
  let place: string | null = null
  let state: LiveState = 'connecting'
  let isReader = false

  const hear = (messages: readonly LiveMessage[]) => {
    for (const message of messages) {
      if (message.kind === 'activity') place = message.place
      if (message.kind === 'state') state = message.state
    }
    tell(messages)
  }
  const post = (posted: Posted) => {
    if (!closing.signal.aborted) channel.postMessage(posted)
  }
  channel.addEventListener('message', ({ data }: MessageEvent<Posted>) => {
    if (data.kind === 'messages') hear(data.messages)
    else if (isReader) post({ kind: 'messages', messages: [{ kind: 'state', state }] })
  })
  post({ kind: 'hello' })

  const readUntilClosed = async (): Promise<void> => {
    if (closing.signal.aborted) return
    isReader = true
    const closed = new Promise<void>((resolve) =>
      closing.signal.addEventListener('abort', () => resolve()),
    )
    while (!closing.signal.aborted) {
      using streams = openStreams(place, (messages) => {
        hear(messages)
        post({ kind: 'messages', messages })
      })
      await Promise.race([streams.refused, closed])
      // Told meanwhile, so that a login that has ended is seen, and the page closes these.
      await Promise.race([new Promise((resolve) => setTimeout(resolve, againMs)), closed])
    }
  }
  navigator.locks
    .request('gatehouse.live', { signal: closing.signal }, readUntilClosed)
    // Closing this tab while it waits for the lock is no failure.
    .catch(() => undefined)
  return {
    [Symbol.dispose]: () => {
      closing.abort()
      channel.close()
    },
  }
}
