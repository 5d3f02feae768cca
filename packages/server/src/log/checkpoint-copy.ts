import fs from 'node:fs'
import { open } from 'node:fs/promises'
import type { Log } from '../ports/log.ts'
import { readIfThere, writeNew } from './files.ts'
import type { DamagedNote } from './note.ts'

/** Checkpoints in a second file, meant to lie on another disk: what was signed outlives a data directory that is put back. */
export interface CheckpointCopy extends AsyncDisposable {
  readonly file: string

  /** The file as it lies there; empty where there is none, or where it cannot be read. */
  read(): Buffer

  /** Notes are appended in order and off the event loop; one that could not be written goes with the next. */
  add(note: string): void

  /** Must write the file without these parts of what was read; where it cannot, the next start finds them again. */
  cutOut(parts: readonly DamagedNote[]): void

  /** Why the copy misses checkpoints at the moment, or null. */
  failure(): string | null
}

/** Far more than a disk that is away for a week leaves waiting. */
const waitingMax = 20_000

const noteEnd = '\n\n'

/** Text without these parts of it. */
const without = (text: string, parts: readonly DamagedNote[]): string => {
  let kept = ''
  let end = 0
  for (const part of parts) {
    kept += text.slice(end, part.at)
    end = part.at + part.text.length
  }
  return kept + text.slice(end)
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

  const waiting: string[] = []
  let writing: Promise<void> | null = null
  const write = async (): Promise<void> => {
    while (waiting.length > 0) {
      const notes = waiting.splice(0)
      try {
        await append(notes.join(''))
        failure = null
      } catch (cause) {
        failed(cause)
        waiting.unshift(...notes)
        waiting.splice(0, waiting.length - waitingMax)
        break
      }
    }
    // In the turn of the last look: a note that comes after it is written anew.
    writing = null
  }
  return {
    file,
    failure: () => failure,
    read() {
      try {
        return readIfThere(file) ?? Buffer.alloc(0)
      } catch (cause) {
        failed(cause)
        return Buffer.alloc(0)
      }
    },
    cutOut(parts) {
      try {
        // Another node may have added to the file meanwhile, and nobody writes into the middle of it.
        const text = fs.readFileSync(file, 'utf8')
        if (parts.some((part) => !text.startsWith(part.text, part.at))) return
        writeNew(file, without(text, parts), 0o644)
      } catch (cause) {
        failed(cause)
      }
    },
    add(note) {
      if (waiting.length >= waitingMax) waiting.shift()
      waiting.push(`${note}\n`)
      writing ??= write()
    },
    async [Symbol.asyncDispose]() {
      await writing
    },
  }
}
