/** A next step: `action` is a capability, a command or a short phrase. */
export type Recovery = { readonly action: string; readonly description: string }

export type ErrorDetails = {
  /** JSON-RPC code; null for a failure of the capability itself. */
  readonly code?: number | null
  readonly data?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

const isRecovery = (value: unknown): value is Recovery =>
  typeof value === 'object' && value !== null && 'action' in value && 'description' in value

/**
 * The gate said no, or could not be asked. Each type is a class of its own in `errors`: act on the class,
 * never on the text.
 */
export class GatehouseError<T extends string = string> extends Error {
  readonly type: T
  readonly code: number | null
  readonly data: Readonly<Record<string, unknown>>

  constructor(type: T, message: string, { code = null, data = {}, cause }: ErrorDetails = {}) {
    super(message, cause === undefined ? {} : { cause })
    this.name = type
    this.type = type
    this.code = code
    this.data = data
  }

  /** Steps that can be taken next. */
  get recovery(): readonly Recovery[] {
    const { recovery } = this.data
    return Array.isArray(recovery) ? (recovery as unknown[]).filter(isRecovery) : []
  }
}

/** Nothing ran: too much was asked for at once. */
export class LimitError<T extends string = string> extends GatehouseError<T> {
  /** A call made then succeeds, as far as this limit goes; one made earlier does not. Null if not said. */
  get retryAfterSeconds(): number | null {
    const { retry_after_seconds: seconds } = this.data
    return typeof seconds === 'number' ? seconds : null
  }
}

/** Nothing ran: there is no such name. */
export class UnknownNameError<T extends string = string> extends GatehouseError<T> {
  get didYouMean(): readonly string[] {
    const { did_you_mean: names } = this.data
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
  }
}

/**
 * Nobody has decided yet. `gate.wait(approvalId)` goes on waiting, also in another process, and the same
 * call finds the same request.
 */
export class ApprovalPending extends GatehouseError<'ApprovalPending'> {
  readonly approvalId: string

  constructor(approvalId: string, message: string, details?: ErrorDetails) {
    super('ApprovalPending', message, details)
    this.approvalId = approvalId
  }
}

/**
 * No answer. If `sent` is true the call may have run: look at what it would have changed before you make
 * it again. If it is false, nothing was run.
 */
export class Unreachable extends GatehouseError<'Unreachable'> {
  readonly sent: boolean

  constructor(message: string, details: ErrorDetails & { readonly sent: boolean }) {
    super('Unreachable', message, details)
    this.sent = details.sent
  }
}

/** Something answered that no Gatehouse of this version answers. The call may have run. */
export class UnexpectedAnswer extends GatehouseError<'UnexpectedAnswer'> {
  constructor(message: string, details?: ErrorDetails) {
    super('UnexpectedAnswer', message, details)
  }
}
