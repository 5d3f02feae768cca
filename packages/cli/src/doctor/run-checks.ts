import type { RunFile } from '@gatehouse/contract'
import type { Client } from '@gatehouse/rest-client'
import type { Place } from '../clients/client.ts'
import { toFailure } from '../failure.ts'

/** State of the data directory; `unknown` says why nobody could tell. */
export type Surroundings =
  | { readonly state: 'running'; readonly run: RunFile }
  | { readonly state: 'stopped' }
  | { readonly state: 'unknown'; readonly error: unknown }

export type CheckInput = {
  readonly api: Client
  readonly dataDir: string
  readonly found: Surroundings
  /** Where the clients of this person keep their configuration. */
  readonly place: Place
}
export type Finding = {
  readonly status: 'ok' | 'warning' | 'failed'
  readonly detail: string
  /** Fix for the finding. */
  readonly fix?: string
}
export type Check = {
  readonly name: string
  /** Findings of this check keep the data from being opened, so that each check that needs them fails by them, too. */
  readonly isCause?: true
  /** Left out where there is none: without a server nothing can be said of its health. */
  readonly needs?: 'server' | 'data'
  /** Null for what is not on this machine. */
  run(input: CheckInput): Promise<Finding | null>
}

export const fine = (detail: string): Finding => ({ status: 'ok', detail })
export const warn = (detail: string, fix: string): Finding => ({ status: 'warning', detail, fix })
export const fail = (detail: string, fix: string): Finding => ({ status: 'failed', detail, fix })

export type Report = {
  readonly ok: boolean
  /** Whether a server answers. */
  readonly running: boolean
  readonly checks: readonly (Finding & { readonly name: string })[]
}

/** Whether the failure of a check is one that an earlier finding explains. */
const isExplained = ({ status, detail }: Finding, causes: readonly string[]): boolean =>
  status === 'failed' && causes.some((cause) => cause.includes(detail))

/** One after the other; a check that breaks is a finding, too. */
export async function runChecks(checks: readonly Check[], input: CheckInput): Promise<Report> {
  const findings: (Finding & { readonly name: string })[] = []
  const { state } = input.found
  const has = { server: state === 'running', data: state !== 'unknown' }
  const causes: string[] = []
  for (const { name, needs, isCause, run } of checks) {
    if (needs && !has[needs]) continue
    const finding = await run(input).catch((error: unknown) => {
      const { message, recovery } = toFailure(error)
      const [first] = recovery
      return fail(message, first ? `${first.action}: ${first.description}` : 'see the message')
    })
    if (!finding || isExplained(finding, causes)) continue
    if (isCause && finding.status === 'failed') causes.push(finding.detail)
    findings.push({ name, ...finding })
  }
  const ok = findings.every(({ status }) => status !== 'failed')
  return { ok, running: has.server, checks: findings }
}
