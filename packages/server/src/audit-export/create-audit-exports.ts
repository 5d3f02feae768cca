import path from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { AuditExports, ExportSource } from '../ports/audit-export.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { Outbound } from '../ports/outbound.ts'
import type { Secrets } from '../ports/secrets.ts'
import { credentialOf } from './credential.ts'
import { filesTarget } from './files-target.ts'
import { gitWitness } from './git-witness.ts'
import { type S3Settings, s3Target } from './s3-target.ts'
import { Shipper } from './shipper.ts'
import { type SyslogSettings, syslogTarget } from './syslog-target.ts'
import type { Target } from './target.ts'
import { urlWitness } from './url-witness.ts'

export type TargetSettings = { readonly name: string } & (
  | { readonly kind: 'files'; readonly folder: string }
  | ({ readonly kind: 'syslog' } & SyslogSettings)
  | ({ readonly kind: 's3'; readonly secret: string } & S3Settings)
  | { readonly kind: 'url'; readonly url: string; readonly secret: string | null }
  | { readonly kind: 'git'; readonly remote: string; readonly branch: string }
)

type Parts = {
  readonly targets: readonly TargetSettings[]
  readonly source: ExportSource
  readonly outbound: Pick<Outbound, 'request'>
  readonly secrets: Pick<Secrets, 'use'>
  readonly clock: Clock
  readonly log: Log
  /** For the objects of git remotes. */
  readonly folder: string
  /** Name of this node, whose file in a git repository is named after it. */
  readonly node: string
  /** Environment that git inherits. */
  readonly environment: Readonly<Record<string, string>>
  /** False for a command that works on the store while no server runs: nothing is carried anywhere. */
  readonly runs: boolean
}

export type RunningExports = AuditExports &
  AsyncDisposable & {
    /** Targets of entries, each with the first one that it lacks. */
    positions(): readonly { readonly name: string; readonly next: number }[]

    /** Why one of them lags, or null. */
    failure(): string | null
  }

const targetOf = (parts: Parts, settings: TargetSettings): Target => {
  const { outbound, secrets, folder, node, environment, source } = parts
  const credential = (name: string, url: string) => credentialOf(secrets, name, new URL(url).host)
  switch (settings.kind) {
    case 'files':
      return filesTarget(settings.folder)
    case 'syslog':
      return syslogTarget(settings)
    case 's3':
      return s3Target(settings, credential(settings.secret, settings.url), outbound)
    case 'url': {
      const { url, secret } = settings
      return urlWitness(url, secret === null ? null : credential(secret, url), outbound)
    }
    case 'git':
      return gitWitness({
        ...{ remote: settings.remote, branch: settings.branch, environment },
        folder: path.join(folder, settings.name),
        file: `${node}.checkpoints`,
        compare: (notes, from) => source.compare(notes, from),
      })
  }
}

const placeOf = (settings: TargetSettings): string => {
  switch (settings.kind) {
    case 'files':
      return settings.folder
    case 'syslog':
      return `tls://${settings.host}:${settings.port}`
    case 's3':
      return `${settings.url}/${settings.bucket}/${settings.prefix}`
    case 'url':
      return settings.url
    case 'git':
      return `${settings.remote} ${settings.branch}`
  }
}

export const createAuditExports = (parts: Parts): RunningExports => {
  const { source, clock, log } = parts
  const stop = new AbortController()
  const shippers = parts.targets.map(
    (settings) =>
      new Shipper({
        ...{ name: settings.name, kind: settings.kind, place: placeOf(settings) },
        target: targetOf(parts, settings),
        ...{ source, clock, log, signal: stop.signal },
      }),
  )
  const running = parts.runs ? shippers.map((shipper) => shipper.run()) : []
  return {
    list: () => Promise.all(shippers.map((shipper) => shipper.status())),
    test(name) {
      const shipper = shippers.find((one) => one.name === name)
      if (!shipper) throw new GatehouseError('NotFound', { path: name })
      return shipper.test()
    },
    positions: () =>
      shippers.filter(({ takesEntries }) => takesEntries).map(({ name, next }) => ({ name, next })),
    failure: () => shippers.map(({ failure }) => failure).find((one) => one !== null) ?? null,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await Promise.all(running)
    },
  }
}
