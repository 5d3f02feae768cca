import type { ChildProcess } from 'node:child_process'
import { GatehouseError } from '@gatehouse/contract'
import { describeSystemFailure } from '../domain/system-failure.ts'
import type { SandboxSpec } from '../ports/sandbox.ts'
import type { LaunchedChild } from './launched-child.ts'
import type { OpenMount } from './mounts.ts'
import { probeMs } from './probe.ts'

const readAll = async (stream: AsyncIterable<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) text = (text + decoder.decode(chunk)).slice(0, 2_000)
  return text.trim()
}

/** The mount that was deleted after it was opened, if that is what a launcher complains of. */
const goneOf = (said: string, mounts: readonly OpenMount[]): string | null => {
  const staged = /^gatehouse: gone (\d+)/m.exec(said)?.[1]
  if (staged !== undefined) return mounts[Number(staged)]?.target ?? null
  const named = /^bwrap: Can't find source path (.*): No such file/m.exec(said)?.[1]
  return mounts.find(({ path }) => path === named)?.target ?? null
}

/** Why the program did not start, in the words of the error table. */
const failureOf = async (
  spec: SandboxSpec,
  mounts: readonly OpenMount[],
  child: LaunchedChild,
): Promise<GatehouseError> => {
  const started = await child.started
  const [said, exit] = await Promise.all([readAll(child.stderr), child.exited])
  if (started?.kind !== 'failed') {
    const path = goneOf(said, mounts)
    if (path !== null) return new GatehouseError('FileNotFound', { path })
    // Messages of the launcher are for whoever tries the sandbox and for the log: they may name paths of the host.
    const detail = `the launcher ended with ${exit.signal ?? exit.code}`
    return new GatehouseError('SandboxFailed', { detail }, { cause: new Error(said || detail) })
  }
  const { what, errno } = started
  if (what === 'exec' && [2, 8, 13, 20, 40].includes(errno))
    return new GatehouseError('ProgramNotFound', { program: spec.program })
  if (what === 'exec' && errno === 7)
    return new GatehouseError('SandboxRefused', { detail: 'its arguments are too long' })
  if (what === 'chdir' && [2, 20].includes(errno))
    return new GatehouseError('NotADirectory', { path: spec.working_directory })
  const detail =
    what === 'mount' ? 'a mount is not what was asked for' : `${what} failed (errno ${errno})`
  return new GatehouseError('SandboxFailed', { detail })
}

/** Waits until the program runs. Whatever comes before that is thrown, and nothing is left then. */
export const awaitStart = async (
  spec: SandboxSpec,
  mounts: readonly OpenMount[],
  process: ChildProcess,
  watch: () => LaunchedChild,
): Promise<LaunchedChild> => {
  if (process.pid === undefined)
    throw await new Promise((resolve) => {
      process.once('error', (cause) => {
        resolve(
          new GatehouseError('SandboxFailed', { detail: describeSystemFailure(cause) }, { cause }),
        )
      })
    })
  const child = watch()
  const late = setTimeout(() => void child.end(0), probeMs)
  const started = await child.started
  clearTimeout(late)
  if (started?.kind !== 'started') throw await failureOf(spec, mounts, child)
  return child
}
