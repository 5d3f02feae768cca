import { admissionErrors } from './errors/admission-errors.ts'
import { agentsErrors } from './errors/agents-errors.ts'
import { approvalsErrors } from './errors/approvals-errors.ts'
import { argumentsErrors } from './errors/arguments-errors.ts'
import { engineErrors } from './errors/engine-errors.ts'
import type { ErrorEntry, Recovery } from './errors/error-entry.ts'
import { filesystemErrors } from './errors/filesystem-errors.ts'
import { gitErrors } from './errors/git-errors.ts'
import { messagesErrors } from './errors/messages-errors.ts'
import { modelsErrors } from './errors/models-errors.ts'
import { networkErrors } from './errors/network-errors.ts'
import { permissionsErrors } from './errors/permissions-errors.ts'
import { processesErrors } from './errors/processes-errors.ts'
import { proxyErrors } from './errors/proxy-errors.ts'
import { runningErrors } from './errors/running-errors.ts'
import { sandboxErrors } from './errors/sandbox-errors.ts'
import { secretsErrors } from './errors/secrets-errors.ts'
import { serviceErrors } from './errors/service-errors.ts'
import { stateErrors } from './errors/state-errors.ts'
import { upstreamErrors } from './errors/upstream-errors.ts'

export type { ErrorEntry, Recovery } from './errors/error-entry.ts'

/**
 * Every error that can leave the process. Each transport maps it once, at its edge, and the reference
 * page is generated from it.
 */
export const errorTable = {
  ...argumentsErrors,
  ...permissionsErrors,
  ...admissionErrors,
  ...approvalsErrors,
  ...agentsErrors,
  ...filesystemErrors,
  ...stateErrors,
  ...messagesErrors,
  ...proxyErrors,
  ...secretsErrors,
  ...gitErrors,
  ...networkErrors,
  ...sandboxErrors,
  ...modelsErrors,
  ...engineErrors,
  ...processesErrors,
  ...upstreamErrors,
  ...runningErrors,
  ...serviceErrors,
} as const satisfies Record<string, ErrorEntry>

export type ErrorType = keyof typeof errorTable
export type Facts = Readonly<Record<string, unknown>>

const fill = (say: string, facts: Facts): string =>
  say.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const fact = facts[name]
    return fact === undefined ? whole : typeof fact === 'string' ? fact : JSON.stringify(fact)
  })

/** Facts that clients act on and no sentence names. */
const factsOfAll = [
  'correlation_id',
  'current',
  'limit',
  'member',
  'pointer',
  'reason',
  'requested',
  'retry_after_seconds',
  'supported',
  'window',
]

/** The facts that may leave the process beside the sentence: those it names, and the few above. */
export const declaredFacts = ({ type, facts }: GatehouseError): Facts =>
  Object.fromEntries(
    Object.entries(facts).filter(
      ([name]) =>
        name !== 'detail' &&
        (factsOfAll.includes(name) || errorTable[type].say.includes(`{${name}}`)),
    ),
  )

/**
 * Failure with a type from the table and facts for its sentence. Only the sentence,
 * the facts that the table declares and `recovery` leave the process; `cause` is for the log.
 */
export class GatehouseError extends Error {
  readonly type: ErrorType
  readonly facts: Facts
  readonly recovery: readonly Recovery[]

  constructor(
    type: ErrorType,
    facts: Facts = {},
    options: { readonly cause?: unknown; readonly recovery?: readonly Recovery[] } = {},
  ) {
    super(
      fill(errorTable[type].say, facts),
      options.cause === undefined ? {} : { cause: options.cause },
    )
    this.name = 'GatehouseError'
    this.type = type
    this.facts = facts
    this.recovery = options.recovery ?? errorTable[type].recovery
  }

  get entry(): ErrorEntry {
    return errorTable[this.type]
  }

  /** Next steps of a person, who has commands where an agent has capabilities. */
  get stepsOfPeople(): readonly Recovery[] {
    return this.recovery === this.entry.recovery ? this.entry.people : this.recovery
  }
}
