import { mkdirSync } from 'node:fs'
import { createKit, type Kit, type KitOptions } from '@gatehouse/testkit'
import type { InvokeOutcome } from '../../src/app/call/invoke.ts'
import type { SandboxOptions } from '../../src/sandbox/create-sandbox.ts'

export const freely = `version: 1
rules:
  - { match: "process.*", tier: autonomous }
limits:
  - { match: "process.*", limit: 100000, window: 1m }
`

export const asking = `version: 1
rules:
  - { match: process.run, tier: approval_required }
limits:
  - { match: "process.*", limit: 100000, window: 1m }
`

/** A whole service with the real sandbox, and an agent `alpha` whose workspace is there. */
export const openProcessKit = async (
  policy = freely,
  options: Omit<KitOptions, 'policy' | 'sandbox'> = {},
  mode: SandboxOptions['mode'] = 'auto',
): Promise<Kit> => {
  const kit = await createKit({
    ...options,
    policy,
    sandbox: 'real',
    settings: { 'sandbox.mode': mode, ...options.settings },
  })
  await kit.agent('alpha')
  mkdirSync(kit.workspace('alpha'), { recursive: true })
  return kit
}

type Ran = {
  readonly process_id: string
  readonly state: string
  readonly exit_code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
  readonly duration_ms: number
  readonly resource_usage: { readonly cpu_ms: number | null }
}

export const dataOf = <T = Ran>(outcome: InvokeOutcome): T => {
  if (outcome.kind === 'succeeded') return outcome.data as T
  throw new Error(JSON.stringify(outcome))
}

export const failureOf = (outcome: InvokeOutcome): string =>
  outcome.kind === 'failed' ? outcome.error.type : outcome.kind
