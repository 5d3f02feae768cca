import { constants, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunFile } from '@gatehouse/contract'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'

type Trusted = { readonly text: string } | null

const unsafe = (file: string, why: string, fix: string): CliError =>
  new CliError('UnsafeFile', exitCodes.notAllowed, `${file} ${why}.`, {
    recovery: [{ action: fix, description: 'Then try again.' }],
  })

function assertOurs(file: string, { uid, mode }: Stats, forbidden: number): void {
  if (process.platform === 'win32') return
  if (process.getuid && uid !== process.getuid() && process.getuid() !== 0)
    throw unsafe(file, 'belongs to another user', 'run this as the user who runs the server')
  if ((mode & forbidden) !== 0)
    throw unsafe(file, 'is open to other users of this machine', `chmod 600 ${file}`)
}

/**
 * A small file of the data directory, or null where there is none. Links are not followed.
 * @SECURITY A token that others can read, or an address that others can write, is not used;
 * connect.test.ts fails without it.
 */
async function readTrusted(file: string, forbidden: number): Promise<Trusted> {
  let handle: FileHandle
  try {
    handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (code === 'ELOOP') throw unsafe(file, 'is a link', `rm ${file}`)
    if (code === 'EACCES')
      throw unsafe(file, 'cannot be read', 'run this as the user who runs the server')
    throw cause
  }
  try {
    assertOurs(file, await handle.stat(), forbidden)
    return { text: await handle.readFile('utf8') }
  } finally {
    await handle.close()
  }
}

/** Whether an address is of this machine, where a token may go without encryption. */
export const isLoopback = (url: string): boolean => {
  try {
    const { protocol, hostname } = new URL(url)
    return protocol === 'http:' && /^(127(\.\d{1,3}){3}|\[::1\]|localhost)$/.test(hostname)
  } catch {
    return false
  }
}

const isRunFile = (value: unknown): value is RunFile =>
  typeof value === 'object' &&
  value !== null &&
  'pid' in value &&
  typeof value.pid === 'number' &&
  'user_api_url' in value &&
  typeof value.user_api_url === 'string'

/** Run file that a running server wrote about itself. */
export async function readRunFile(dataDir: string): Promise<RunFile | null> {
  const file = join(dataDir, 'run.json')
  const found = await readTrusted(file, 0o022)
  if (!found) return null
  let value: unknown
  try {
    value = JSON.parse(found.text)
  } catch {
    value = null
  }
  // @SECURITY The token goes to this address: never off this machine; connect.test.ts fails without it.
  if (!isRunFile(value) || !isLoopback(value.user_api_url))
    throw unsafe(file, 'does not say where a server of this machine listens', `rm ${file}`)
  return value
}

export const isUserToken = (text: string): boolean =>
  /^gatehouse_user_[A-Za-z0-9_-]{43}$/.test(text)

export async function readCliToken(dataDir: string): Promise<string> {
  const file = join(dataDir, 'cli-token')
  const found = await readTrusted(file, 0o077)
  const token = found?.text.trim()
  if (token && isUserToken(token)) return token
  throw new CliError(
    'NoToken',
    exitCodes.notAllowed,
    found ? `${file} holds no user token.` : `There is no ${file}.`,
    {
      recovery: [
        { action: 'restart the server', description: 'The server writes the file when it starts.' },
      ],
    },
  )
}

/** The token of an agent, in a file of its own that nobody else can read. */
export async function readAgentToken(file: string): Promise<string> {
  const token = (await readTrusted(file, 0o077))?.text.trim()
  if (token === undefined)
    throw new CliError('NoToken', exitCodes.notFound, `There is no ${file}.`, {
      recovery: [
        {
          action: 'gatehouse agent rotate',
          description: 'A new token: --token-file FILE keeps it.',
        },
      ],
    })
  if (/^[0-9a-f]{64}$/.test(token)) return token
  throw new CliError('NoToken', exitCodes.notAllowed, `${file} holds no agent token.`)
}

/** The token of a client's hook, in a file of its own that nobody else can read. */
export async function readHookToken(file: string): Promise<string> {
  const token = (await readTrusted(file, 0o077))?.text.trim()
  if (token === undefined) throw new CliError('NoToken', exitCodes.notFound, `There is no ${file}.`)
  if (isUserToken(token)) return token
  throw new CliError('NoToken', exitCodes.notAllowed, `${file} holds no user token.`)
}

/** Whether a process of this number exists, ours or not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Whether a process has the data, which one that starts says before it has a run file. */
export async function isHeld(dataDir: string): Promise<boolean> {
  const pid = Number((await readTrusted(join(dataDir, 'lock.pid'), 0o022))?.text)
  return Number.isSafeInteger(pid) && pid > 0 && isAlive(pid)
}
