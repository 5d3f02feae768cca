import { StringDecoder } from 'node:string_decoder'
import type { Input, Io, KeyPress, Output } from './io.ts'

const nowMs = (): number => performance.now()

const outputOf = (stream: NodeJS.WriteStream): Output => ({
  isTTY: stream.isTTY === true,
  columns: stream.columns ?? 80,
  write: (text) =>
    new Promise((resolve) => {
      // A reader that has gone (`| head`) is no failure of ours.
      stream.write(text, () => resolve())
    }),
})

const inputOf = (stream: NodeJS.ReadStream): Input => ({
  isTTY: stream.isTTY === true,
  async readAll() {
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array))
    return Buffer.concat(chunks).toString('utf8')
  },
  async ask(question) {
    const { createInterface } = await import('node:readline/promises')
    const lines = createInterface({ input: stream, output: process.stderr })
    try {
      return await lines.question(question)
    } finally {
      lines.close()
    }
  },
  async *keys(signal) {
    const waiting: KeyPress[] = []
    const decoder = new StringDecoder('utf8')
    let wake = () => {}
    const onData = (chunk: Buffer) => {
      const text = decoder.write(chunk)
      // The time of arrival, not of reading: a key typed ahead must be known as one.
      if (text !== '') waiting.push({ text, atMs: nowMs() })
      wake()
    }
    const onAbort = () => wake()
    stream.setRawMode(true)
    stream.on('data', onData)
    signal.addEventListener('abort', onAbort)
    try {
      while (!signal.aborted) {
        const key = waiting.shift()
        if (key !== undefined) yield key
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    } finally {
      stream.off('data', onData)
      signal.removeEventListener('abort', onAbort)
      stream.setRawMode(false)
      stream.pause()
    }
  },
})

/** The terminal of this process. Ctrl-C ends the command, not the process in the middle of it. */
export function createProcessIo(): Io & Disposable {
  const ended = new AbortController()
  const end = () => {
    // A second Ctrl-C does what it always does.
    process.off('SIGINT', end)
    ended.abort()
  }
  const onBrokenPipe = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    ended.abort()
  }
  process.once('SIGINT', end)
  process.stdout.on('error', onBrokenPipe)
  return {
    // Reading `process.stdin` opens it, so that happens only where something is read.
    get stdin() {
      return inputOf(process.stdin)
    },
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    env: process.env,
    signal: ended.signal,
    nowMs,
    [Symbol.dispose]: () => process.off('SIGINT', end),
  }
}
