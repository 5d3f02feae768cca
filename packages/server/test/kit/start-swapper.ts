import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const exchange = fileURLToPath(new URL('./swap-names.py', import.meta.url))
const rename = fileURLToPath(new URL('./swap-names.mjs', import.meta.url))

const startOne = async (command: string, args: readonly string[]): Promise<ChildProcess | null> => {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const said = once(child.stdout as NodeJS.ReadableStream, 'data').then(() => true)
  const ended = once(child, 'close').then(() => false)
  return (await Promise.race([said, ended.catch(() => false)])) ? child : null
}

/** Swapper beside the service that exchanges two names as long as it lives. */
export const startSwapper = async (a: string, b: string): Promise<ChildProcess> => {
  const child =
    (await startOne('python3', [exchange, a, b]).catch(() => null)) ??
    (await startOne(process.execPath, [rename, a, b]))
  if (!child) throw new Error('no swapper starts')
  return child
}
