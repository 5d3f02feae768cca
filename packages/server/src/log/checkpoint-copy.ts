import fs from 'node:fs'
import { open } from 'node:fs/promises'
import type { Log } from '../ports/log.ts'

/** Checkpoints in a second file, meant to lie on another disk: what was signed outlives a data directory that is put back. */
export interface CheckpointCopy extends AsyncDisposable {
  /** The file's text when the service started; empty where there was none. */
  readonly before: string

  /** Notes are appended in order and off the event loop; one that could not be written goes with the next. */
  add(note: string): void

  /** Why the copy misses checkpoints at the moment, or null. */
  failure(): string | null
}

/** Far more than a disk that is away for a week leaves waiting. */
const waitingMax = 20_000

const noteEnd = '\n\n'

const readText = (file: string): string => {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw cause
  }
}

export const openCheckpointCopy = (file: string | null, log: Log): CheckpointCopy | null => {
  if (file === null) return null
  let failure: string | null = null
  const failed = (cause: unknown): void => {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error'
    if (failure === null) log.error({ err: cause, file }, 'checkpoints could not be copied')
    failure = `checkpoints cannot be copied to ${file} (${code}); make it writable, or change audit.checkpoint_copy`
  }
  const append = async (text: string): Promise<void> => {
    await using handle = await open(file, 'a+', 0o644)
    const { size } = await handle.stat()
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, Math.max(0, size - 2))
    // A crash or a full disk may have left only the beginning of a note: the next one starts on a line of its own.
    const torn = bytesRead > 0 && buffer.toString('latin1') !== noteEnd
    await handle.appendFile(torn ? noteEnd + text : text)
    await handle.datasync()
  }

  let before = ''
  try {
    before = readText(file)
  } catch (cause) {
    failed(cause)
  }
  const waiting: string[] = []
  let writing: Promise<void> | null = null
  const write = async (): Promise<void> => {
    while (waiting.length > 0) {
      const count = waiting.length
      await append(waiting.join(''))
      waiting.splice(0, count)
      failure = null
    }
  }
  return {
    before,
    failure: () => failure,
    add(note) {
      if (waiting.length >= waitingMax) waiting.shift()
      waiting.push(`${note}\n`)
      writing ??= write()
        .catch(failed)
        .finally(() => {
          writing = null
        })
    },
    async [Symbol.asyncDispose]() {
      await writing
    },
  }
}
