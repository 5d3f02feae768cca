import { mkdirSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { GatehouseError, type ProcessStream } from '@gatehouse/contract'
import type { Clock } from '../ports/clock.ts'
import type { Outbound } from '../ports/outbound.ts'
import type {
  ProcessHost,
  ProcessRequest,
  ProcessSetting,
  StreamPiece,
} from '../ports/processes.ts'
import type { Sandbox, SandboxChild } from '../ports/sandbox.ts'
import { Head } from './head.ts'
import { Hosted, type Keeper } from './hosted.ts'
import { openSpec } from './open-spec.ts'
import { makePlan } from './plan.ts'
import { Ring, readRing } from './ring.ts'
import { assertSame, stale } from './stale.ts'

export type ProcessHostDeps = {
  readonly sandbox: Sandbox
  readonly outbound: Pick<Outbound, 'openEgress'>
  readonly clock: Clock
  /** For output that stays, and for copies of what was approved. */
  readonly folder: string
  /** Puts placeholders in the place of secrets. */
  readonly scrub?: (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>
  /** In place of files, for tests. */
  readonly keeperOf?: (id: string, stream: ProcessStream) => Keeper
}

/** Where nothing holds, it is tried again, but not for every call. */
const probeEveryMs = 30_000

/** Clears what a killed service left: copies belong to processes that ended with it. */
const sweep = async (folder: string): Promise<void> => {
  for (const name of readdirSync(folder))
    if (name.startsWith('run-')) await rm(join(folder, name), { recursive: true, force: true })
}

/** Failed start of the sandbox, in words about what was asked for. */
const startFailure = (error: unknown, request: ProcessRequest, approved: boolean): unknown => {
  if (!(error instanceof GatehouseError)) return error
  const { command } = request
  if (error.type === 'ProgramNotFound')
    return command.includes('/')
      ? new GatehouseError('NotExecutable', {
          path: command,
          detail: 'it is no program of this system, or names none after #! in its first line',
        })
      : new GatehouseError('ProgramNotFound', { program: command })
  // The launcher compares what it mounted with what was held open, and cannot mount what was deleted.
  const isOther =
    (error.type === 'SandboxFailed' || error.type === 'SandboxRefused') &&
    /mount|mkdir|open_tree/.test(
      `${String(error.facts['detail'])} ${error.cause instanceof Error ? error.cause.message : ''}`,
    )
  return approved && isOther
    ? stale('a folder was swapped or deleted while the program was started')
    : error
}

/** The backend that keeps programs now; one that did not work is tried again now and then. */
const createBackendFinder = ({ sandbox, clock }: Pick<ProcessHostDeps, 'sandbox' | 'clock'>) => {
  let probedMs = -Infinity
  return async () => {
    let state = sandbox.state()
    if (!state.usable && clock.now() - probedMs >= probeEveryMs) {
      probedMs = clock.now()
      state = await sandbox.probe()
    }
    return state.usable ? state.backend : null
  }
}

/** Gives a program its input and the end of it. A program that does not read it all is not waited for. */
const feed = ({ stdin }: SandboxChild, input: ProcessSetting['stdin']): void => {
  if (!input) {
    stdin.end()
    return
  }
  void stdin
    .write(input)
    .catch(() => {})
    .finally(() => stdin.end())
}

const keepersOf = (
  deps: Pick<ProcessHostDeps, 'keeperOf'>,
  { id, output }: ProcessSetting,
  folder: string,
): Record<ProcessStream, Keeper> => {
  const keeperOf = (stream: ProcessStream): Keeper =>
    output.keeps === 'ring'
      ? (deps.keeperOf?.(id, stream) ?? new Ring(folder, stream))
      : new Head(output.bytes_max)
  return { stdout: keeperOf('stdout'), stderr: keeperOf('stderr') }
}

export const createProcessHost = async (deps: ProcessHostDeps): Promise<ProcessHost> => {
  const { sandbox, clock, folder } = deps
  const copies = join(folder, 'copies')
  const logs = join(folder, 'logs')
  for (const one of [copies, logs]) mkdirSync(one, { recursive: true, mode: 0o700 })
  await sweep(copies)
  const running = new Set<Hosted>()

  const backend = createBackendFinder(deps)
  const folderOf = (id: string) => join(logs, id)
  const readKept = (id: string, stream: ProcessStream, offset: number, limit: number) =>
    readRing(folderOf(id), stream, offset, limit)

  return {
    resolve: async (site, request) => (await makePlan(site, request, await backend())).facts,

    async start(site, request, setting) {
      const plan = await makePlan(site, request, await backend())
      if (setting.approved) assertSame(setting.approved, plan.facts)
      const opened = await openSpec({
        site,
        request,
        plan,
        setting,
        copies,
        openEgress: (hosts) => deps.outbound.openEgress(hosts),
      })
      try {
        const child = await sandbox.spawn(opened.spec).catch((error: unknown) => {
          throw startFailure(error, request, setting.approved !== null)
        })
        opened.started()
        feed(child, setting.stdin)
        const { id } = setting
        const keepers = keepersOf(deps, setting, folderOf(id))
        const hosted = new Hosted({
          child,
          clock,
          working_directory: plan.facts.working_directory.path,
          timeout_ms: setting.timeout_ms,
          keepers,
          scrub: deps.scrub ?? ((chunks) => chunks),
          read: async (stream, offset, limit): Promise<StreamPiece> => {
            const keeper = keepers[stream]
            return keeper instanceof Head
              ? keeper.read(offset, limit)
              : readKept(id, stream, offset, limit)
          },
          refused: () => opened.refused(),
          close: async () => opened[Symbol.asyncDispose](),
        })
        running.add(hosted)
        void hosted.exited.then(() => running.delete(hosted))
        return hosted
      } catch (error) {
        await opened[Symbol.asyncDispose]()
        throw error
      }
    },

    readKept,
    forget: (id) => rm(folderOf(id), { recursive: true, force: true }),

    async [Symbol.asyncDispose]() {
      await Promise.all([...running].map((one) => one.end(1_000, 'the service stopped')))
    },
  }
}
