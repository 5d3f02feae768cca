import * as classes from './error-classes.ts'
import { GatehouseError } from './gatehouse-error.ts'
import { isMembers, type Members, textOf } from './members.ts'

type ErrorClass = new (...given: ConstructorParameters<typeof GatehouseError>) => GatehouseError

/** By exact name: `constructor` is a type that nobody registered. A newer service may know more types. */
const classOf = (type: string): ErrorClass =>
  Object.hasOwn(classes, type)
    ? ((classes as unknown as Readonly<Record<string, ErrorClass>>)[type] ?? GatehouseError)
    : GatehouseError

/** The type where an error names none: refusals of the front, of policy and of limits have a code alone. */
const typeOfCode: Readonly<Record<string, string>> = {
  '-32700': 'ParseError',
  '-32600': 'InvalidRequest',
  '-32601': 'MethodNotFound',
  '-32602': 'InvalidParams',
  '-32603': 'InternalError',
  '-32000': 'RateLimited',
  '-32001': 'PolicyDenied',
  '-32003': 'AuthenticationFailed',
}

/** Some of these say more exactly what it was. */
const typeOfReason: Readonly<Record<string, string>> = {
  agent_paused: 'AgentPaused',
  tool_set: 'OutsideToolSet',
  overloaded: 'Overloaded',
  too_many_pending: 'TooManyPending',
}

const entryOf = (table: Readonly<Record<string, string>>, key: unknown): string | undefined =>
  (typeof key === 'string' || typeof key === 'number') && Object.hasOwn(table, key)
    ? table[key]
    : undefined

/** An `error` object of JSON-RPC. */
export const toRpcError = (error: Members): GatehouseError => {
  const { code, message } = error
  const data = isMembers(error['data']) ? error['data'] : {}
  const type = entryOf(typeOfReason, data['reason']) ?? entryOf(typeOfCode, code) ?? 'InternalError'
  const named = textOf(data['type'], type)
  const details = { code: typeof code === 'number' ? code : null, data }
  return new (classOf(named))(named, textOf(message, named), details)
}

/** The `error` of a capability that failed: `type` over JSON-RPC, `error` over MCP. */
export const toFailure = (error: Members): GatehouseError => {
  const { error: named, type = named, message, ...data } = error
  const name = textOf(type, 'InternalError')
  return new (classOf(name))(name, textOf(message, name), { data })
}
