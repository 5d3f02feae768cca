import { randomBytes } from 'node:crypto'
import {
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CliError } from '../cli-error.ts'
import { exitCodes } from '../exit-codes.ts'

/** A configuration as it was read. */
export type ConfigFile = {
  /** The file itself, where the name is that of a link to it. */
  readonly path: string
  /** Null where there is none yet. */
  readonly bytes: Buffer | null
  readonly mode: number
}

const refuse = (message: string, action: string, description: string, cause?: unknown): CliError =>
  new CliError('UnsafeFile', exitCodes.notAllowed, message, {
    ...(cause === undefined ? {} : { cause }),
    recovery: [{ action, description }],
  })

const isOurs = ({ uid }: { readonly uid: number }): boolean =>
  process.getuid === undefined || uid === process.getuid()

const orNull = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
  throw error
}

/**
 * A configuration of this user. A link is followed, if this user made it.
 * @SECURITY What another user owns or a link of another user leads to is not written to; connect-clients.test.ts.
 */
export async function readConfigFile(name: string, newMode: number): Promise<ConfigFile> {
  const link = await lstat(name).catch(orNull)
  if (!link) return { path: name, bytes: null, mode: newMode }
  if (!isOurs(link))
    throw refuse(
      `${name} belongs to another user.`,
      'run this as the user of the client',
      'Then try again.',
    )
  const path = await realpath(name).catch((cause: unknown) => {
    throw refuse(`${name} is a link that leads nowhere.`, `rm ${name}`, 'Then try again.', cause)
  })
  const found = await stat(path)
  if (!found.isFile())
    throw refuse(`${name} is no regular file.`, 'move it away', 'Then try again.')
  if (!isOurs(found))
    throw refuse(
      `${name} leads to ${path}, which belongs to another user.`,
      'run this as the user of the client',
      'Then try again.',
    )
  return { path, bytes: await readFile(path), mode: found.mode & 0o777 }
}

/** Text of a file, empty where there is none. Raises `ConfigMalformed` for what is no UTF-8. */
export function textOf({ path, bytes }: ConfigFile): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes ?? undefined)
  } catch (cause) {
    throw new CliError('ConfigMalformed', exitCodes.failed, `${path} is not valid UTF-8.`, {
      cause,
    })
  }
}

/** Whether the file still is as it was read. */
async function assertUnchanged({ path, bytes }: ConfigFile): Promise<void> {
  const now = await readFile(path).catch(orNull)
  if (now === null ? bytes === null : bytes?.equals(now)) return
  throw new CliError(
    'Conflict',
    exitCodes.failed,
    `${path} has changed in the meantime; it was left as it is.`,
    { recovery: [{ action: 'try again', description: 'to see the change on what is there now.' }] },
  )
}

/** Replaces a file as a whole, or not at all. */
export async function replaceFile(path: string, content: string | Buffer, mode: number) {
  const beside = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`)
  try {
    const handle = await open(beside, 'wx', mode)
    try {
      await handle.chmod(mode)
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(beside, path)
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
}

/** Takes away what a process that was killed has left of replacing a file. */
export async function sweepBeside(path: string): Promise<void> {
  const [folder, start] = [dirname(path), `.${basename(path)}.`]
  for (const name of (await readdir(folder).catch(orNull)) ?? [])
    if (name.startsWith(start) && /^[0-9a-f]{12}$/.test(name.slice(start.length)))
      await rm(join(folder, name))
}

/** Writes what was planned, and names the folder that had to be made for it. */
export async function writeConfigFile(file: ConfigFile, content: string | Buffer) {
  const folder = dirname(file.path)
  const made = await mkdir(folder, { recursive: true, mode: 0o755 })
  await assertUnchanged(file)
  await replaceFile(file.path, content, file.mode)
  return made === undefined ? null : folder
}

/** Takes away a file that we made, and the folder that we made for it, if nothing else is in it. */
export async function removeConfigFile(file: ConfigFile, folder: string | null): Promise<void> {
  await assertUnchanged(file)
  await rm(file.path)
  if (folder !== null) await rmdir(folder).catch(() => undefined)
}
