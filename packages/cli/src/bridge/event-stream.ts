/** Data of each event of a stream of server-sent events. */
export async function* readEvents(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  for await (const chunk of chunks) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split(/\r?\n/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(5).trimStart())
      if (line !== '' || data.length === 0) continue
      yield data.join(' ')
      data = []
    }
  }
}
