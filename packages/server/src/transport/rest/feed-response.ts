import { streamOf } from './event-stream.ts'

/** Events in their order, with the place after each: what a reader names to go on from there. */
export type FeedBatch = {
  readonly events: readonly { readonly place: string; readonly event: unknown }[]
  readonly place: string
}

type Options = {
  readonly name: string
  /** Ends the stream: the caller is gone or the server stops. */
  readonly signal: AbortSignal
  readonly heartbeatMs: number
  /** Asked before anything is sent: whoever lost the right to read hears no more. */
  readonly admits: () => Promise<boolean>
}

/** The least time between two looks of one reader, so that many readers cost the service little. */
const paceMs = 50
/** A batch of this size has more behind it: it is not waited for. */
const catchingUp = 100

const after = (ms: number): { readonly passed: Promise<null>; cancel(): void } => {
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms)
  })
  return { passed, cancel: () => clearTimeout(timer) }
}

/** The place stands in every frame, also where nothing is told: a browser gives it back by itself. */
const textOf = (name: string, { events, place }: FeedBatch): string =>
  events.length === 0
    ? `id: ${place}\n\n`
    : events
        .map((told) => `id: ${told.place}\nevent: ${name}\ndata: ${JSON.stringify(told.event)}\n\n`)
        .join('')

async function* frames(
  first: IteratorResult<FeedBatch, unknown>,
  batches: AsyncIterator<FeedBatch, unknown>,
  { name, heartbeatMs, admits }: Options,
): AsyncGenerator<string> {
  if (first.done) return
  yield `retry: 1000\n${textOf(name, first.value)}`
  for (let coming = batches.next(); ; ) {
    const silence = after(heartbeatMs)
    const next = await Promise.race([coming, silence.passed])
    silence.cancel()
    if (next?.done || !(await admits())) return
    if (next === null) {
      yield ': still here\n\n'
      continue
    }
    yield textOf(name, next.value)
    if (next.value.events.length < catchingUp) await after(paceMs).passed
    coming = batches.next()
  }
}

/** A reader that may hear no more leaves as one that goes by itself. */
async function* ending(
  chunks: AsyncGenerator<string>,
  end: () => Promise<void>,
): AsyncGenerator<string> {
  try {
    yield* chunks
  } finally {
    await end()
  }
}

/**
 * A stream that loses nothing: it is read only as fast as the other side takes it. The first batch is
 * fetched before the answer begins, so that a refusal can still be a problem document.
 */
export async function feedResponse(
  open: (signal: AbortSignal) => AsyncIterable<FeedBatch>,
  options: Options,
): Promise<Response> {
  const gone = new AbortController()
  const batches = open(AbortSignal.any([options.signal, gone.signal]))[Symbol.asyncIterator]()
  const end = async (): Promise<void> => {
    gone.abort()
    await batches.return?.()
  }
  const chunks = ending(frames(await batches.next(), batches, options), end)
  return new Response(streamOf(chunks, end), {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  })
}
