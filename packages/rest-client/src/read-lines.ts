import { UnexpectedAnswerError } from './client-error.ts'

/** The lines of a body as they arrive, without their ends; the last one also if nothing ends it. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true })
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      yield* lines
      if (done) break
    }
    if (rest !== '') yield rest
  } finally {
    // Stopping to read lets the server stop sending; a reader that is done says nothing by it.
    await reader.cancel().catch(() => undefined)
  }
}

export type ServerEvent = {
  readonly name: string
  readonly data: unknown
  /** Where to go on from, on streams that name places. */
  readonly id?: string
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw new UnexpectedAnswerError('a stream of events', 'an event is not JSON.', { cause })
  }
}

/** Server-sent events; comments (the heartbeat) come as an event named `heartbeat` without data. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  let name = 'message'
  let data = ''
  let id: string | undefined
  for await (const line of readLines(body)) {
    if (line.startsWith(':')) yield { name: 'heartbeat', data: null }
    else if (line.startsWith('id: ')) id = line.slice(4)
    else if (line.startsWith('event: ')) name = line.slice(7)
    else if (line.startsWith('data: ')) data += line.slice(6)
    else if (line === '') {
      const place = id === undefined ? {} : { id }
      if (data !== '') yield { name, data: parsed(data), ...place }
      else if (id !== undefined) yield { name: 'place', data: null, ...place }
      name = 'message'
      data = ''
    }
  }
}
