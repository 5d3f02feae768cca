/** Starts to emit and returns what ends it. Events of one key replace each other while a reader is slow. */
export type EventSource = (
  emit: (event: { readonly name: string; readonly key: string; readonly data: unknown }) => void,
) => Disposable | Promise<Disposable>

const waitingMax = 1_000

type Options = {
  /** Ends the stream: the caller is gone or the server stops. */
  readonly signal: AbortSignal
  readonly heartbeatMs: number
  /** Asked before anything is sent: whoever lost the right to read hears no more. */
  readonly admits: () => Promise<boolean>
}

const frame = (name: string, data: unknown): string =>
  // JSON has no raw line breaks, so one `data:` line always holds it.
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

/** Frames as they come; a comment when nothing has come for a while, so that both sides notice a dead line. */
async function* frames(source: EventSource, options: Options): AsyncGenerator<string> {
  const { signal, heartbeatMs, admits } = options
  const waiting = new Map<string, string>()
  let wake = () => {}
  let overflowed = false
  const onAbort = () => wake()
  signal.addEventListener('abort', onAbort)
  const subscription = await source(({ name, key, data }) => {
    // A slow reader gets the latest of each key, and is let go when there are too many keys.
    waiting.delete(key)
    waiting.set(key, frame(name, data))
    overflowed ||= waiting.size > waitingMax
    wake()
  })
  try {
    yield 'retry: 1000\n\n'
    while (!signal.aborted && !overflowed) {
      if (waiting.size === 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, heartbeatMs)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        wake = () => {}
      }
      if (signal.aborted || overflowed || !(await admits())) return
      const batch = [...waiting.values()].join('')
      waiting.clear()
      yield batch === '' ? ': still here\n\n' : batch
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    subscription[Symbol.dispose]()
  }
}

/** A body fed by an iterable, read only as fast as the other side takes it. */
export function streamOf(
  chunks: AsyncIterator<string, unknown>,
  onCancel: () => unknown,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next()
        if (next.done) controller.close()
        else controller.enqueue(encoder.encode(next.value))
      },
      async cancel() {
        await onCancel()
        await chunks.return?.()
      },
    },
    { highWaterMark: 1 },
  )
}

export function eventStreamResponse(source: EventSource, options: Options): Response {
  const gone = new AbortController()
  const signal = AbortSignal.any([options.signal, gone.signal])
  const chunks = frames(source, { ...options, signal })
  return new Response(
    streamOf(chunks, () => gone.abort()),
    { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } },
  )
}
