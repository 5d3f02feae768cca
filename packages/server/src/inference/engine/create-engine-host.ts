import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { cpus, freemem } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { z } from 'zod'
import { engineMissing } from '../../domain/models/engine-missing.ts'
import type { EngineExit, EngineHost, EngineInstaller, EngineOrder } from '../../ports/engine.ts'
import type { Sandbox, SandboxChild, SandboxSpec } from '../../ports/sandbox.ts'
import { EngineSocket } from './engine-socket.ts'
import { endedWhile, type Ready, RunningEngine } from './running-engine.ts'

export type EngineHostOptions = {
  readonly sandbox: Sandbox
  /** Says where the installed packages are. */
  readonly installer: Pick<EngineInstaller, 'state'> & { place(): Promise<string> }
  /** For the folders of sockets. */
  readonly folder: string
  /** 0: all cores but one. */
  readonly threads: number
  /** Program of Gatehouse that runs inside; another one in tests. */
  readonly worker: string
  readonly loadMs?: number
}

const MiB = 1024 * 1024
const saidMax = 4_000
const bytesPerSecondSlow = 20 * MiB

const Said = z.union([
  z.object({
    ready: z.literal(true),
    context_tokens: z.int().min(1),
    memory_bytes: z.int().min(0),
  }),
  z.object({ failed: z.string() }),
])

/** Memory that programs may still take, as Linux says; elsewhere what nobody has taken. */
async function availableMemory(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '')
  const kibibytes = /^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1]
  return kibibytes === undefined ? freemem() : Number(kibibytes) * 1024
}

/** With all cores and anything else to do, the threads of a model wait for each other most of the time. */
const threadsOf = (threads: number): number =>
  threads > 0 ? threads : Math.max(1, cpus().length - 1)

/** Places inside; the ones of the host where it has no view of its own. */
const placesOf = (
  { packages, worker }: { readonly packages: string; readonly worker: string },
  file: string,
  run: string,
  confined: boolean,
) =>
  confined
    ? {
        node: '/opt/node',
        packages: '/opt/engine',
        worker: '/opt/worker',
        file: '/opt/model.gguf',
        run: '/run/engine',
      }
    : {
        node: realpathSync(process.execPath),
        packages: realpathSync(packages),
        worker: realpathSync(dirname(worker)),
        file: realpathSync(file),
        run,
      }

/**
 * The profile of an engine: libraries of the system, Node, the engine and one model, all read-only; one folder
 * of its own to write its socket in; no network, no sockets but Unix sockets.
 * @SECURITY profile.test.ts looks from inside for everything else.
 */
export const engineSpec = (
  options: { readonly packages: string; readonly worker: string; readonly threads: number },
  { model, context_tokens, memory_bytes }: EngineOrder,
  run: string,
  confined: boolean,
): SandboxSpec => {
  const at = placesOf(options, model.file, run, confined)
  const own = {
    id: model.id,
    library: `${at.packages}/node_modules/node-llama-cpp`,
    file: at.file,
    context: context_tokens,
    threads: threadsOf(options.threads),
  }
  const readOnly = (source: string, target: string) => ({
    source: realpathSync(source),
    target,
    writable: false,
  })
  return {
    program: at.node,
    args: [`${at.worker}/${basename(options.worker)}`],
    environment: { GATEHOUSE_ENGINE: JSON.stringify(own) },
    working_directory: at.run,
    mounts: [
      readOnly(process.execPath, at.node),
      readOnly(options.packages, at.packages),
      readOnly(dirname(options.worker), at.worker),
      readOnly(model.file, at.file),
      { source: run, target: at.run, writable: true },
    ],
    system: 'libraries',
    network: { kind: 'none', unix_only: true },
    limits: {
      memory_bytes,
      processes: 128,
      cpu_seconds: 100_000_000,
      file_bytes: MiB,
      temporary_bytes: 16 * MiB,
    },
  }
}

/** Reads to the end, so that nothing holds the child back; keeps the end of what was said. */
async function drain(stream: AsyncIterable<Uint8Array>, onText: (text: string) => void) {
  const decoder = new TextDecoder()
  for await (const chunk of stream) onText(decoder.decode(chunk, { stream: true }))
}

/** Of all that a program says when it ends, the line that tells why; the rest are addresses. */
const tellingOf = (said: string): string => {
  const lines = said.split('\n').map((line) => line.trim())
  const telling = lines.find((line) =>
    /GGML_ASSERT|FATAL ERROR|terminate called|^\w*Error/.test(line),
  )
  return (telling ?? lines.find((line) => line !== '') ?? '').slice(0, 300)
}

type Listening = {
  readonly first: Promise<z.infer<typeof Said> | null>
  readonly exited: Promise<EngineExit>
}

function listen(child: SandboxChild): Listening {
  let [out, said] = ['', '']
  let answerFirst: (line: z.infer<typeof Said> | null) => void = () => {}
  const first = new Promise<z.infer<typeof Said> | null>((resolve) => {
    answerFirst = resolve
  })
  const read = drain(child.stdout, (text) => {
    if (out.includes('\n')) return
    out = (out + text).slice(0, saidMax)
    const end = out.indexOf('\n')
    if (end === -1) return
    try {
      answerFirst(Said.parse(JSON.parse(out.slice(0, end))))
    } catch {
      answerFirst({ failed: 'it says nonsense' })
    }
  })
  const heard = drain(child.stderr, (text) => {
    said = (said + text).slice(0, saidMax)
  })
  const exited = Promise.all([child.exited, read, heard]).then(([{ code, signal }]) => {
    answerFirst(null)
    // Linux has two names for one signal.
    const how = signal === null ? `code ${code}` : `signal ${signal.replace('SIGIOT', 'SIGABRT')}`
    return { how, said: tellingOf(said) }
  })
  return { first, exited }
}

/** Waits for the first word, no longer than it may take. */
async function readyOf(
  child: SandboxChild,
  { first, exited }: Listening,
  loadMs: number,
  signal: AbortSignal,
): Promise<Ready> {
  let late = false
  const end = () => void child.end(0)
  const timer = setTimeout(() => {
    late = true
    end()
  }, loadMs)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  try {
    const said = await first
    if (said && 'ready' in said && !signal.aborted) return said
    if (said) end()
    const exit = await exited
    signal.throwIfAborted()
    if (late)
      throw new GatehouseError('EngineFailed', {
        detail: `it was not ready after ${Math.round(loadMs / 1000)} s`,
      })
    if (said && 'failed' in said)
      throw new GatehouseError(
        'EngineFailed',
        { detail: 'the model could not be loaded', refused: true },
        { cause: new Error(said.failed) },
      )
    throw endedWhile('while it loaded: ', exit)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}

const removeQuietly = (folder: string): void => rmSync(folder, { recursive: true, force: true })

/** Starts engines in the sandbox. */
export const createEngineHost = (options: EngineHostOptions): EngineHost => {
  const { sandbox, installer, folder } = options
  return {
    availableMemory,
    async start(order, signal) {
      const { installed, problem, remedy } = await installer.state()
      if (!installed) throw engineMissing({ problem, remedy })
      if (!sandbox.state().usable) await sandbox.probe()
      const state = sandbox.state()
      const confined = state.usable && state.backend === 'bubblewrap'
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const run = mkdtempSync(join(realpathSync(folder), 'run-'))
      chmodSync(run, 0o700)
      let child: SandboxChild
      try {
        const packages = await installer.place()
        child = await sandbox.spawn(engineSpec({ ...options, packages }, order, run, confined))
      } catch (cause) {
        removeQuietly(run)
        throw cause
      }
      const heard = listen(child)
      const socket = new EngineSocket(run)
      const exited = heard.exited.then((exit) => {
        socket[Symbol.dispose]()
        removeQuietly(run)
        return exit
      })
      const loadMs =
        options.loadMs ?? 60_000 + (order.model.size_bytes / bytesPerSecondSlow) * 1_000
      const ready = await readyOf(child, heard, loadMs, signal)
      return new RunningEngine({ child, socket, model: order.model.id, ready, exited })
    },
  }
}
