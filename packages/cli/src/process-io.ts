import { StringDecoder } from 'node:string_decoder'
import type { Input, Io, KeyPress, Output } from './io.ts'
import { programFile, programName } from './next-step.ts'

const nowMs = (): number => performance.now()

type Failed = (error: NodeJS.ErrnoException) => void

/** A terminal without a size, as in many containers, says that it has 0 columns. */
const usualColumns = 80

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>

export const outputOf = (stream: Stream, failed: Failed): Output => ({
  isTTY: stream.isTTY === true,
  get columns() {
    return stream.columns || usualColumns
  },
  write: (text) =>
    new Promise((resolve) => {
      stream.write(text, (error) => {
        if (error) failed(error)
        resolve()
      })
    }),
})

const inputOf = (stream: NodeJS.ReadStream): Input => ({
  isTTY: stream.isTTY === true,
  async readAll() {
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array))
    return Buffer.concat(chunks).toString('utf8')
  },
  async *chunks(signal) {
    const destroy = () => stream.destroy()
    signal.addEventListener('abort', destroy, { once: true })
    try {
      for await (const chunk of stream) yield chunk as Buffer
    } catch (error) {
      // A stream that is destroyed while it is read says that it ended too early.
      if (!signal.aborted) throw error
    } finally {
      signal.removeEventListener('abort', destroy)
    }
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

export type ProcessIo = Io &
  Disposable & {
    /** Why data could not be written; null where it was, or where its reader had enough of it (`| head`). */
    outputFailure(): Error | null
  }

/** The terminal of this process. Ctrl-C ends the command, not the process in the middle of it. */
export function createProcessIo(): ProcessIo {
  const ended = new AbortController()
  let outputFailure: Error | null = null
  const end = () => {
    // A second Ctrl-C does what it always does.
    process.off('SIGINT', end)
    ended.abort()
  }
  const onFailed: Failed = (error) => {
    if (error.code !== 'EPIPE') outputFailure ??= error
    ended.abort()
  }
  process.once('SIGINT', end)
  // Without a listener a reader that has gone would end the process with a stack.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  return {
    // Reading `process.stdin` opens it, so that happens only where something is read.
    get stdin() {
      return inputOf(process.stdin)
    },
    stdout: outputOf(process.stdout, onFailed),
    // A message that cannot be shown beside the data is no reason to leave the data out.
    stderr: outputOf(process.stderr, () => {}),
    get program() {
      return programName(process.argv[1] ?? '', process.env, process.cwd())
    },
    get self() {
      return [process.execPath, programFile(process.argv[1] ?? '', process.env)] as const
    },
    env: process.env,
    signal: ended.signal,
    nowMs,
    outputFailure: () => outputFailure,
    [Symbol.dispose]: () => process.off('SIGINT', end),
  }
}
