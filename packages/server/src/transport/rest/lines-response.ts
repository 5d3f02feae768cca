import { streamOf } from './event-stream.ts'

async function* terminated(
  first: IteratorResult<string, unknown>,
  rest: AsyncIterator<string, unknown>,
): AsyncGenerator<string> {
  try {
    for (let next = first; !next.done; next = await rest.next())
      yield next.value.endsWith('\n') ? next.value : `${next.value}\n`
  } finally {
    await rest.return?.()
  }
}

/**
 * Lines of JSON as they are read. The first is fetched before the answer begins, so that a refusal can
 * still be a problem document; a fault later breaks the connection, which no reader takes for the end.
 */
export async function linesResponse(lines: AsyncIterable<string>): Promise<Response> {
  const iterator = lines[Symbol.asyncIterator]()
  const first = await iterator.next()
  return new Response(
    // A generator that has not begun does not run its end.
    streamOf(terminated(first, iterator), () => iterator.return?.()),
    { headers: { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' } },
  )
}
