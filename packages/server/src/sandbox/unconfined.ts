import { spawn } from 'node:child_process'
import { createConnection, createServer, type Server } from 'node:net'
import { GatehouseError } from '@gatehouse/contract'
import type { SandboxChild, SandboxExit, SandboxSpec } from '../ports/sandbox.ts'

const path = '/usr/local/bin:/usr/bin:/bin'

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

const assertPossible = (spec: SandboxSpec): void => {
  const moved = spec.mounts.find(({ source, target }) => target !== undefined && target !== source)
  if (moved && !moved.source.startsWith('/proc/self/fd/'))
    throw new GatehouseError('SandboxRefused', {
      detail: `without a sandbox ${moved.source} cannot stand at ${moved.target}`,
    })
}

/**
 * Runs a program as the service itself would: what an operator chose in words, and what every entry of
 * the log then says. Its group ends with it; what leaves the group does not.
 */
export const spawnUnconfined = async (spec: SandboxSpec): Promise<SandboxChild> => {
  assertPossible(spec)
  const relay = spec.network.kind === 'egress' ? await openRelay(spec.network.socket) : null
  const address = relay?.address()
  const url =
    typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : null
  const proxied =
    url === null ? {} : { HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url }
  const startedMs = performance.now()
  const child = spawn(spec.program, spec.args, {
    cwd: spec.working_directory,
    env: {
      PATH: path,
      HOME: '/tmp',
      TMPDIR: '/tmp',
      LANG: 'C.UTF-8',
      ...proxied,
      ...spec.environment,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    shell: false,
    detached: true,
  })
  for (const stream of [child.stdout, child.stderr]) stream.on('readable', () => {})
  child.stdin.on('error', () => {})
  const group = (signal: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid as number), signal)
    } catch {
      // It has ended meanwhile.
    }
  }
  try {
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
  } catch (cause) {
    relay?.close()
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
      throw new GatehouseError('ProgramNotFound', { program: spec.program }, { cause })
    throw new GatehouseError('SandboxFailed', { detail: (cause as Error).message }, { cause })
  }
  const exited = new Promise<SandboxExit>((resolve) => {
    child.once('exit', (code, signal) => {
      group('SIGKILL')
      relay?.close()
      const duration_ms = Math.round(performance.now() - startedMs)
      resolve({ code, signal, usage: { duration_ms, cpu_ms: null, memory_bytes_max: null } })
    })
  })
  return {
    pid: child.pid as number,
    rung: 'unconfined',
    stdin: {
      write: (bytes) =>
        new Promise((resolve) => {
          if (child.stdin.writable) child.stdin.write(bytes, () => resolve())
          else resolve()
        }),
      end: () => {
        child.stdin.end()
      },
    },
    stdout: child.stdout,
    stderr: child.stderr,
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
