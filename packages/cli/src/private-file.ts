import { type FileHandle, open, rm } from 'node:fs/promises'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'

export type PrivateFile = {
  write(content: string | Uint8Array): Promise<void>
  finish(): Promise<void>
  /** Takes it away again. */
  discard(): Promise<void>
}

/** A new file that only its owner can read. One that exists is never overwritten. */
export async function openPrivateFile(file: string): Promise<PrivateFile> {
  let handle: FileHandle
  try {
    handle = await open(file, 'wx', 0o600)
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === 'EEXIST'
    const why = exists ? 'exists already' : `cannot be made: ${(cause as Error).message}`
    throw new CliError('FileNotWritable', exitCodes.failed, `${file} ${why}.`, { cause })
  }
  return {
    async write(content) {
      await handle.writeFile(content)
    },
    async finish() {
      await handle.sync()
      await handle.close()
    },
    async discard() {
      await handle.close().catch(() => undefined)
      await rm(file, { force: true })
    },
  }
}

/**
 * Makes something that comes with a token, and puts the token into the file where one is named. The
 * file is there first: a token that could not be kept would be lost.
 */
export async function withTokenFile<T extends { readonly token: string }>(
  file: string | undefined,
  make: () => Promise<T>,
): Promise<Omit<T, 'token'> & { readonly token?: string; readonly token_file?: string }> {
  if (file === undefined) return make()
  const target = await openPrivateFile(file)
  try {
    const { token, ...made } = await make()
    await target.write(`${token}\n`)
    await target.finish()
    return { ...made, token_file: file }
  } catch (error) {
    await target.discard()
    throw error
  }
}

/** The lines that show a token for the only time, or say where it is. */
export const tokenText = (made: {
  readonly token?: string
  readonly token_file?: string
}): string =>
  made.token_file === undefined
    ? `Token (shown once, keep it now):\n  ${made.token}`
    : `Its token is in ${made.token_file}.`
