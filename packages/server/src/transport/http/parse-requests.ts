import { GatehouseError, type RpcErrorObject, type RpcId } from '@gatehouse/contract'
import type { UnreadableValue } from '../../app/call/invoke.ts'
import { toRpcError } from './describe-thrown.ts'
import {
  type Envelope,
  FaultyRequest,
  isId,
  isMembers,
  type Members,
  readEnvelope,
} from './envelope.ts'
import { findId } from './find-id.ts'
import { decode, type ParsedJson, parseText, parseTextInSlices } from './parse-json.ts'
import {
  isOfValue,
  type JsonLimits,
  pathText,
  type ScanFault,
  sayUnreadable,
  scanError,
} from './scan-json.ts'

/** The methods whose arguments a capability judges, so that a model can mend them. */
const calls = new Set<unknown>(['capabilities.invoke', 'tools/call'])

const isOfArgument = ({ path, reason }: ScanFault): boolean =>
  isOfValue(reason) && path.length > 2 && path[0] === 'params' && path[1] === 'arguments'

const refusal = (id: RpcId, { path, reason }: ScanFault): Envelope => ({
  kind: 'invalid',
  id,
  error: toRpcError(scanError(reason, path)),
})

/** The arguments as they may be recorded: a note in place of each that has a fault. */
const withNotes = (given: Members, faults: readonly ScanFault[]): Members => {
  const reasons = new Map(faults.map(({ path, reason }) => [path[2], reason]))
  const noted = Object.entries(given).map(([name, value]) => {
    const shown = name.toWellFormed()
    const reason = reasons.get(shown)
    return [shown, reason === undefined ? value : `[unreadable: ${reason}]`]
  })
  return Object.fromEntries(noted) as Members
}

const toFaultyRequest = (request: Members, faults: readonly ScanFault[]): FaultyRequest => {
  const plain = readEnvelope(request)
  const ofId = faults.some(({ path }) => path[0] === 'id')
  const id = !ofId && isId(request['id']) ? request['id'] : null
  const worst = faults.find((fault) => !isOfArgument(fault))
  if (plain.kind === 'invalid') return new FaultyRequest({ ...plain, id }, request)
  const { params } = plain
  const given = isMembers(params) ? params['arguments'] : undefined
  const [first] = faults
  if (!calls.has(plain.method) || worst || !isMembers(params) || !isMembers(given)) {
    const shown = worst ?? first
    return new FaultyRequest(shown ? refusal(id, shown) : plain, request)
  }
  const values: readonly UnreadableValue[] = faults.map(({ path, reason }) => ({
    at: pathText(path.slice(2)),
    detail: sayUnreadable(reason),
  }))
  const readable = { ...params, arguments: withNotes(given, faults) }
  return new FaultyRequest(
    { ...plain, params: readable, unreadable: values },
    { ...request, params: readable },
  )
}

/** Gives each fault to the request that has it. */
const assign = ({ value, faults }: ParsedJson): unknown => {
  const [first] = faults
  if (!first) return value
  if (isMembers(value)) return toFaultyRequest(value, faults)
  if (!Array.isArray(value)) throw scanError(first.reason, first.path)
  const byRequest = new Map<unknown, ScanFault[]>()
  for (const { path, reason } of faults) {
    const own = byRequest.get(path[0]) ?? []
    own.push({ path: path.slice(1), reason })
    byRequest.set(path[0], own)
  }
  return value.map((request: unknown, i) => {
    const own = byRequest.get(i)
    if (!own) return request
    if (isMembers(request)) return toFaultyRequest(request, own)
    if (own.some(({ reason }) => reason === 'depth')) throw scanError('depth')
    return request
  })
}

/** A request that is refused unparsed, under its id where the text says it. */
const refusedUnparsed = (text: string, error: RpcErrorObject): FaultyRequest | null => {
  const id = findId(text)
  return id === null ? null : new FaultyRequest({ kind: 'invalid', id, error }, {})
}

const isRefusal = (thrown: unknown): thrown is GatehouseError =>
  thrown instanceof GatehouseError && thrown.type === 'InvalidRequest'

const orRefused = (text: string, thrown: unknown): FaultyRequest => {
  const refused = isRefusal(thrown) ? refusedUnparsed(text, toRpcError(thrown)) : null
  if (refused === null) throw thrown
  return refused
}

/**
 * The requests in a body or frame. One that has a fault is a `FaultyRequest`, with its id where the text
 * says it. Raises `ParseError`, or `InvalidRequest` where the fault is of no one request.
 */
export const parseRequests = (bytes: Buffer, limits: JsonLimits): unknown => {
  const text = decode(bytes)
  try {
    return assign(parseText(text, limits))
  } catch (thrown) {
    return orRefused(text, thrown)
  }
}

/** The same for large bodies: others get their turn between slices of 1 MiB. */
export const parseRequestsInSlices = async (
  bytes: Buffer,
  limits: JsonLimits,
): Promise<unknown> => {
  const text = decode(bytes)
  try {
    return assign(await parseTextInSlices(text, limits))
  } catch (thrown) {
    return orRefused(text, thrown)
  }
}
