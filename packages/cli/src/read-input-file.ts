import { open } from 'node:fs/promises'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import type { Io } from './io.ts'

const bytesMax = 1_048_576

const unreadable = (file: string, why: string, cause?: unknown): CliError =>
  new CliError('FileNotReadable', exitCodes.failed, `${file} ${why}.`, { cause })

/** The text of a file that the person names, or of the input for `-`. */
export async function readInputFile(file: string, io: Io): Promise<string> {
  if (file === '-') return io.stdin.readAll()
  try {
    await using handle = await open(file)
    const { size } = await handle.stat()
    if (size > bytesMax) throw unreadable(file, `has more than ${bytesMax} bytes`)
    return await handle.readFile('utf8')
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    throw unreadable(file, missing ? 'does not exist' : 'cannot be read', cause)
  }
}
