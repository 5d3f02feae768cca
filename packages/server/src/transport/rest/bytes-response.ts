/** Bytes as they are made; a fault on the way breaks the connection, which no reader takes for the end. */
export function bytesResponse(bytes: AsyncIterable<Uint8Array>): Response {
  const source = bytes[Symbol.asyncIterator]()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await source.next()
        if (next.done) controller.close()
        else controller.enqueue(next.value)
      },
      async cancel() {
        await source.return?.()
      },
    },
    { highWaterMark: 1 },
  )
  return new Response(body, {
    headers: { 'content-type': 'application/octet-stream', 'cache-control': 'no-store' },
  })
}
