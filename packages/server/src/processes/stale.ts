import { isDeepStrictEqual } from 'node:util'
import { GatehouseError } from '@gatehouse/contract'
import type { ProcessFacts } from '../ports/processes.ts'

const told: Readonly<Record<keyof ProcessFacts, string>> = {
  program: 'the program was changed',
  working_directory: 'the working directory is another one now',
  files: 'a file that the arguments name was changed',
  network: 'policy names other hosts now',
  sandbox: 'the sandbox is another one now',
}

export const stale = (detail: string): GatehouseError =>
  new GatehouseError('ApprovalStale', { detail })

/** @SECURITY A program starts only as a person was shown it, part by part (process-mutations.test.ts). */
export const assertSame = (approved: ProcessFacts, found: ProcessFacts): void => {
  for (const [part, detail] of Object.entries(told) as [keyof ProcessFacts, string][])
    if (!isDeepStrictEqual(approved[part], found[part])) throw stale(detail)
}
