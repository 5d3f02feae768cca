import type { Client } from '@gatehouse/client'
import { toFailure } from '../failure.ts'

export type CheckInput = { readonly api: Client; readonly dataDir: string }
export type Finding = {
  readonly status: 'ok' | 'warning' | 'failed'
  readonly detail: string
  /** What to do about it. */
  readonly fix?: string
}
export type Check = {
  readonly name: string
  run(input: CheckInput): Promise<Finding>
}

export const fine = (detail: string): Finding => ({ status: 'ok', detail })
export const warn = (detail: string, fix: string): Finding => ({ status: 'warning', detail, fix })
export const fail = (detail: string, fix: string): Finding => ({ status: 'failed', detail, fix })

export type Report = {
  readonly ok: boolean
  readonly checks: readonly (Finding & { readonly name: string })[]
}

/** One after the other; a check that breaks is a finding, too. */
export async function runChecks(checks: readonly Check[], input: CheckInput): Promise<Report> {
  const found: (Finding & { readonly name: string })[] = []
  for (const { name, run } of checks) {
    const finding = await run(input).catch((error: unknown) => {
      const { message, recovery } = toFailure(error)
      const [first] = recovery
      return fail(message, first ? `${first.action}: ${first.description}` : 'see the message')
    })
    found.push({ name, ...finding })
  }
  return { ok: found.every(({ status }) => status !== 'failed'), checks: found }
}
