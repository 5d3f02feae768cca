import { GatehouseError } from '@gatehouse/contract'
import type { SandboxSpec } from '../ports/sandbox.ts'
import type { LaunchOrder } from './channel.ts'
import type { OpenMount } from './mounts.ts'

const openFilesMax = 4_096

const resource = { cpu: 0, fileSize: 1, data: 2, core: 4, processes: 6, openFiles: 7 } as const

/** Where a program named without a slash is looked for. */
const searched = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin']

/** Where the socket of the proxy is mounted inside, and the port that leads to it. */
export const relay = { socket: '/run/gatehouse/egress', port: 3128 } as const

/** Environment that every program gets. */
export const given = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/tmp',
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
}

/** The variables by which programs find a proxy. */
export const proxiedBy = (url: string): Record<string, string> =>
  Object.fromEntries(
    ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].map((name) => [name, url]),
  )

export const assertTexts = (spec: SandboxSpec): void => {
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

/** Order for the launcher inside. `limited` is false only in tests. */
export const orderOf = (
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
    searched,
    relay: spec.network.kind === 'egress' ? relay : null,
    mounts,
    environment: {
      ...given,
      ...(spec.network.kind === 'egress' ? proxiedBy(`http://127.0.0.1:${relay.port}`) : {}),
      ...spec.environment,
    },
    program: spec.program,
    args: spec.args,
  }
}
