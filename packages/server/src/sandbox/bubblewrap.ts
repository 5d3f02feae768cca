import { spawn } from 'node:child_process'
import { chownSync, closeSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { SandboxMount, SandboxSpec } from '../ports/sandbox.ts'
import { bubblewrapArguments, type Protection } from './arguments.ts'
import { BubblewrapChild } from './bubblewrap-child.ts'
import type { LaunchOrder } from './channel.ts'
import { handOver } from './hand-over.ts'
import { initScript, relayPort, relaySocket } from './init-script.ts'
import { type OpenMount, OpenMounts } from './mounts.ts'
import type { FilterPart } from './seccomp.ts'
import type { ServiceUser } from './service-user.ts'
import { stageFolder, stageScript } from './stage-script.ts'
import type { Machine } from './syscalls.ts'
import type { SystemView } from './system-view.ts'
import type { Workshop } from './workshop.ts'

export type BubblewrapOptions = {
  readonly bubblewrap: string
  readonly perl: string
  readonly machine: Machine
  readonly system: SystemView
  readonly workshop: Workshop
  /** The real path of the folder of the service, of which no more is seen than is mounted. */
  readonly own: string
  readonly hidden: readonly string[]
  /** Who runs it where the service is root; null where the service is somebody else. */
  readonly user: ServiceUser | null
  /** Left out by tests, to see that something depends on it. */
  readonly without?: readonly (Protection | FilterPart | 'limits')[]
}

const filterDescriptor = 3
const firstMount = 5
const startupMs = 10_000
const openFilesMax = 4_096

const resource = { cpu: 0, fileSize: 1, data: 2, core: 4, processes: 6, openFiles: 7 } as const

const given = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/tmp',
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
}

const proxied = (): Record<string, string> => {
  const url = `http://127.0.0.1:${relayPort}`
  return Object.fromEntries(
    ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].map((name) => [name, url]),
  )
}

const assertTexts = (spec: SandboxSpec): void => {
  const texts = [spec.program, ...spec.args, spec.working_directory]
  const names = Object.keys(spec.environment)
  const values = Object.values(spec.environment)
  const detail = [...texts, ...names, ...values].some((text) => text.includes('\0'))
    ? 'a text holds a NUL'
    : names.some((name) => name === '' || name.includes('='))
      ? 'a variable has no proper name'
      : spec.program === ''
        ? 'no program is named'
        : null
  if (detail !== null) throw new GatehouseError('SandboxRefused', { detail })
}

const orderOf = (
  spec: SandboxSpec,
  mounts: readonly OpenMount[],
  limited: boolean,
): LaunchOrder => {
  const { limits } = spec
  const helpers = spec.network.kind === 'egress' ? 2 : 1
  return {
    folder: spec.working_directory,
    limits: {
      [resource.core]: 0,
      ...(limited
        ? {
            [resource.cpu]: limits.cpu_seconds,
            [resource.fileSize]: limits.file_bytes,
            // Not the address space: engines map far more than they ever touch.
            [resource.data]: limits.memory_bytes,
            [resource.processes]: limits.processes + helpers,
            [resource.openFiles]: openFilesMax,
          }
        : {}),
    },
    relayPort: spec.network.kind === 'egress' ? relayPort : null,
    mounts,
    environment: {
      ...given,
      ...(spec.network.kind === 'egress' ? proxied() : {}),
      ...spec.environment,
    },
    program: spec.program,
    args: spec.args,
  }
}

const readAll = async (stream: AsyncIterable<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) text = (text + decoder.decode(chunk)).slice(0, 2_000)
  return text.trim()
}

/** Why the program did not start, in the words of the error table. */
const failureOf = async (spec: SandboxSpec, child: BubblewrapChild): Promise<GatehouseError> => {
  const started = await child.started
  const [said, exit] = await Promise.all([readAll(child.stderr), child.exited])
  if (started?.kind !== 'failed') {
    const detail = said === '' ? `it ended with ${exit.signal ?? exit.code}` : said
    return new GatehouseError('SandboxFailed', { detail })
  }
  const { what, errno } = started
  if (what === 'exec' && [2, 13, 20, 40].includes(errno))
    return new GatehouseError('ProgramNotFound', { program: spec.program })
  if (what === 'chdir') return new GatehouseError('NotADirectory', { path: spec.working_directory })
  const detail =
    what === 'mount' ? 'a mount is not what was asked for' : `${what} failed (errno ${errno})`
  return new GatehouseError('SandboxFailed', { detail })
}

/** Runs one program in bubblewrap. Whatever fails before it runs is thrown; nothing is left then. */
export const spawnInBubblewrap = async (
  spec: SandboxSpec,
  options: BubblewrapOptions,
): Promise<BubblewrapChild> => {
  assertTexts(spec)
  const { without = [], user, own } = options
  const egress: readonly SandboxMount[] =
    spec.network.kind === 'egress'
      ? [{ source: spec.network.socket, target: relaySocket, writable: true }]
      : []
  using mounts = new OpenMounts([...options.workshop.mounts, ...egress, ...spec.mounts])
  for (const { path, target, isFolder, writable, descriptor } of mounts.all) {
    if (path === own || own.startsWith(`${path}/`)) {
      const detail = `${target} would show the data of the service`
      throw new GatehouseError('SandboxRefused', { detail })
    }
    if (user === null || !path.startsWith(`${own}/`)) continue
    if (target === relaySocket) chownSync(`/proc/self/fd/${descriptor}`, user.uid, user.gid)
    else if (isFolder && (writable || path.startsWith(`${own}/workspaces/`)))
      handOver(`/proc/self/fd/${descriptor}/.`, user)
  }
  const filter = options.workshop.openFilter({
    machine: options.machine,
    sockets: spec.network.kind === 'none' && spec.network.unix_only === true ? 'unix' : 'local',
    without: without as FilterPart[],
  })
  try {
    const args = bubblewrapArguments({
      system: options.system,
      mounts: mounts.all.map(({ path, target, writable }, at) => ({
        source: user === null ? path : `${stageFolder}/${at}`,
        target,
        writable,
      })),
      hidden: options.hidden,
      temporaryBytes: spec.limits.temporary_bytes,
      filter: filterDescriptor,
      command: [options.perl, '-e', initScript(options.machine)],
      without: without as Protection[],
    })
    const staged = mounts.all.map((_, at) => String(firstMount + at))
    const [program, argv] =
      user === null
        ? [options.bubblewrap, args]
        : [
            options.perl,
            [
              ...['-e', stageScript(options.machine), '--'],
              ...[String(user.uid), String(user.gid), String(staged.length), ...staged],
              ...[options.bubblewrap, ...args],
            ],
          ]
    const process = spawn(program, argv, {
      cwd: '/',
      env: {},
      shell: false,
      detached: true,
      stdio: [
        ...(['pipe', 'pipe', 'pipe'] as const),
        filter,
        'pipe',
        ...(user === null ? [] : mounts.all.map(({ descriptor }) => descriptor)),
      ],
    })
    if (process.pid === undefined)
      throw await new Promise((resolve) => {
        process.once('error', (cause) => {
          resolve(new GatehouseError('SandboxFailed', { detail: cause.message }, { cause }))
        })
      })
    const child = new BubblewrapChild(
      process,
      orderOf(spec, mounts.all, !without.includes('limits')),
    )
    const late = setTimeout(() => void child.end(0), startupMs)
    const started = await child.started
    clearTimeout(late)
    if (started?.kind !== 'started') throw await failureOf(spec, child)
    return child
  } finally {
    closeSync(filter)
  }
}
