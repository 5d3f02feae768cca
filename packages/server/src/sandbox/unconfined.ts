import { spawn } from 'node:child_process'
import { readlinkSync, realpathSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { GatehouseError } from '@gatehouse/contract'
import { describeSystemFailure } from '../domain/system-failure.ts'
import type { SandboxChild, SandboxExit, SandboxSpec } from '../ports/sandbox.ts'
import { given, proxiedBy } from './launch-order.ts'
import { inputOf } from './program-input.ts'

/** The proxy as a port of this machine, for as long as the program runs. */
const openRelay = (socket: string): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true }, (near) => {
      const far = createConnection({ path: socket, allowHalfOpen: true })
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        from.pipe(to)
        from.on('error', () => to.destroy())
      }
    })
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve(server))
  })

const environmentOf = (spec: SandboxSpec, relay: Server | null): Record<string, string> => {
  const address = relay?.address()
  const proxy =
    typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : null
  return { ...given, ...(proxy === null ? {} : proxiedBy(proxy)), ...spec.environment }
}

const leadsTo = (path: string): string | null => {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

const assertPossible = (spec: SandboxSpec): void => {
  for (const { source, target } of spec.mounts) {
    const real = source.startsWith('/proc/self/fd/') ? readlinkSync(source) : source
    if (target === undefined || target === real || leadsTo(target) === real) continue
    const detail = `without a sandbox ${real} cannot stand at ${target}`
    throw new GatehouseError('SandboxRefused', { detail })
  }
}

/** From the end of a program, or the last look, to the next look at whether its outputs are read. */
const lookMs = 100
/** More than a system keeps of an output that is not read yet, also one whose buffers were enlarged. */
const unreadBytesMax = 32 * 1024 * 1024

/**
 * Closes an output of a program that has ended once all that the program wrote is read: what left its group can
 * hold the other end open for as long as it likes, and write on.
 */
const closeOnceRead = (output: Socket): void => {
  if (output.closed) return
  const before = output.bytesRead
  let last: number | null = null
  const look = setInterval(() => {
    const { bytesRead, readableLength, readableHighWaterMark } = output
    // The system is asked for more only while less than the mark waits here: this much was all that it had.
    const isRead = last !== null && bytesRead - last < readableHighWaterMark
    last = readableLength === 0 ? bytesRead : null
    if ((isRead && last !== null) || bytesRead - before > unreadBytesMax) output.destroy()
  }, lookMs)
  output.once('close', () => clearInterval(look))
}

/** An output that was closed here has ended for its reader. */
async function* toEnd(output: Readable): AsyncIterable<Uint8Array> {
  try {
    yield* output
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw cause
  }
}

/**
 * Runs a program as the service itself would: what an operator chose in words, and what every entry of
 * the log then says. Its group ends with it; what leaves the group does not.
 */
export const spawnUnconfined = async (spec: SandboxSpec): Promise<SandboxChild> => {
  assertPossible(spec)
  const relay = spec.network.kind === 'egress' ? await openRelay(spec.network.socket) : null
  const startedMs = performance.now()
  const child = spawn(spec.program, spec.args, {
    cwd: spec.working_directory,
    env: environmentOf(spec, relay),
    stdio: ['pipe', 'pipe', 'pipe'],
    shell: false,
    detached: true,
  })
  const group = (signal: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid as number), signal)
    } catch {
      // The child has ended meanwhile.
    }
  }
  try {
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
      // One that was never started may have no streams.
      if (child.pid === undefined) return
      for (const stream of [child.stdout, child.stderr]) stream.on('readable', () => {})
    })
  } catch (cause) {
    relay?.close()
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
      throw new GatehouseError('ProgramNotFound', { program: spec.program }, { cause })
    throw new GatehouseError('SandboxFailed', { detail: describeSystemFailure(cause) }, { cause })
  }
  const exited = new Promise<SandboxExit>((resolve) => {
    child.once('exit', (code, signal) => {
      group('SIGKILL')
      relay?.close()
      for (const output of [child.stdout, child.stderr]) closeOnceRead(output as Socket)
      const duration_ms = Math.round(performance.now() - startedMs)
      resolve({ code, signal, usage: { duration_ms, cpu_ms: null, memory_bytes_max: null } })
    })
  })
  return {
    pid: child.pid as number,
    backend: 'unconfined',
    stdin: inputOf(child.stdin),
    stdout: toEnd(child.stdout),
    stderr: toEnd(child.stderr),
    exited,
    signal: (name) => group(name as NodeJS.Signals),
    async end(graceMs) {
      if (graceMs > 0) group('SIGTERM')
      const late = setTimeout(() => group('SIGKILL'), graceMs)
      try {
        return await exited
      } finally {
        clearTimeout(late)
      }
    },
  }
}
