import type { App } from '../../app/app.ts'
import type { UnreadableValue } from '../../app/call/invoke.ts'
import type { AgentOp } from '../../app/call/op.ts'
import type { Members } from '../http/envelope.ts'
import type { Answered } from '../http/outcome.ts'
import type { Fields } from './params.ts'

/** A method of `/rpc`: data and one `answer`. The dispatcher checks params and session first. */
export type Method = {
  readonly name: string
  readonly summary: string
  readonly fields: Fields
  readonly required: readonly string[]
  /** Shape of `result`, for the OpenRPC document. */
  readonly result: { readonly name: string; readonly description: string }
  /** Whether the named session must be open before `answer`. */
  readonly inSession: boolean
  readonly answer: (
    app: App,
    op: AgentOp,
    params: Members,
    /** Of the arguments of a call, where the request had values that could not be read exactly. */
    unreadable?: readonly UnreadableValue[],
  ) => Promise<Answered>
}
