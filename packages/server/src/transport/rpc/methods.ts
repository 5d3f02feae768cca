import { capabilityName, GatehouseError, rpcCodes } from '@gatehouse/contract'
import { agentReasonMax } from '../http/agent-reason.ts'
import type { Members } from '../http/envelope.ts'
import { refusedOutcome, rpcOutcome } from '../http/outcome.ts'
import { discoverMethod, sessionField } from './discover.ts'
import type { Method } from './method.ts'

const waitSecondsMax = 60

/** Parameter of a call that is kept with it and is no part of it. */
export const reasonField = 'reason'

const capabilityField = {
  type: 'string',
  maxLength: 256,
  description: 'Its name, such as filesystem.read or filesystem__read',
} as const
const approvalId = { type: 'string', maxLength: 64, description: 'appr-<id>' } as const
const timeoutSeconds = {
  type: 'number',
  minimum: 0,
  maximum: waitSecondsMax,
  description: `How long to wait, at most ${waitSecondsMax}`,
} as const

const text = (params: Members, name: string): string => params[name] as string
const waitMs = (params: Members, byDefault: number): number =>
  Math.round(((params['timeout_seconds'] as number | undefined) ?? byDefault) * 1000)

const list: Method = {
  name: 'capabilities.list',
  summary: 'The capabilities that policy lets this agent use.',
  fields: {
    category: { type: 'string', maxLength: 128, description: 'A capability group' },
  },
  required: [],
  result: { name: 'capabilities', description: '{capabilities: [...]}' },
  inSession: true,
  async answer(app, op, params) {
    const entries = await app.listCapabilities(op, params)
    return { result: { capabilities: entries.map((entry) => app.listing(entry)) } }
  },
}

const describe: Method = {
  name: 'capabilities.describe',
  summary: 'Everything there is to know about one capability.',
  fields: { name: capabilityField },
  required: ['name'],
  result: { name: 'capability', description: 'The full definition' },
  inSession: true,
  async answer(app, op, params) {
    const name = capabilityName(text(params, 'name'))
    const outcome = await app.describeCapability(op, { name })
    switch (outcome.kind) {
      case 'described':
        return { result: outcome.description }
      case 'unknown':
        return { error: refusedOutcome(outcome) }
      case 'blocked':
        return {
          error: {
            code: rpcCodes.policyDenied,
            message: outcome.message,
            data: { reason: 'policy', ...outcome.data },
          },
        }
    }
  },
}

const invoke: Method = {
  name: 'capabilities.invoke',
  summary: 'Calls a capability through the gate.',
  fields: {
    capability: capabilityField,
    arguments: { type: 'object', description: 'The arguments, as the capability defines them' },
    [reasonField]: {
      type: 'string',
      maxLength: agentReasonMax,
      description: 'Why you make the call, in your own words; people see it, policy does not',
    },
  },
  required: ['capability'],
  result: { name: 'outcome', description: '{success: true, data} or {success: false, error}' },
  inSession: true,
  async answer(app, op, params, unreadable) {
    const capability = capabilityName(text(params, 'capability'))
    const args = params['arguments'] ?? {}
    const input = unreadable
      ? { capability, arguments: args, unreadable }
      : { capability, arguments: args }
    try {
      return rpcOutcome(await app.invoke(op, input))
    } catch (thrown) {
      // A failure of the capability stays one, whichever way it reaches us.
      if (!(thrown instanceof GatehouseError) || thrown.entry.rpc !== null) throw thrown
      const { type, message, recovery } = thrown
      return { result: { success: false, error: { type, message, recovery } } }
    }
  },
}

const createSession: Method = {
  name: 'session.create',
  summary: 'Begins a session; name it in the header Gatehouse-Session or as session_id.',
  fields: {
    client: {
      type: 'object',
      description: 'Name and version of the client',
      fields: {
        name: { type: 'string', maxLength: 200, description: 'Name of the program' },
        version: { type: 'string', maxLength: 100, description: 'Its version' },
      },
      required: ['name', 'version'],
    },
  },
  required: [],
  result: { name: 'session', description: '{session_id, agent, created_at}' },
  inSession: false,
  async answer(app, op, params) {
    const client = (params['client'] ?? null) as { name: string; version: string } | null
    const session = await app.openSession(op, { transport: 'rpc', client })
    const { session_id, agent, created_at } = session
    return { result: { session_id, agent, created_at } }
  },
}

const endSession: Method = {
  name: 'session.end',
  summary: 'Ends a session of this agent.',
  fields: { session_id: sessionField },
  required: [],
  result: { name: 'ended', description: '{session_id, ended_at}' },
  inSession: false,
  async answer(app, op) {
    if (op.session_id === null) {
      throw new GatehouseError('InvalidParams', {
        detail: 'session_id is missing',
        member: 'session_id',
      })
    }
    return { result: await app.endSession(op, { session_id: op.session_id }) }
  },
}

const getApproval: Method = {
  name: 'approvals.get',
  summary: 'Where an approval of this agent stands, with the result once there is one.',
  fields: { approval_id: approvalId },
  required: ['approval_id'],
  result: { name: 'approval', description: '{approval_id, status, result?}' },
  inSession: true,
  async answer(app, op, params) {
    const approval_id = text(params, 'approval_id')
    return { result: await app.getApprovalOutcome(op, { approval_id }) }
  },
}

const waitApproval: Method = {
  name: 'approvals.wait',
  summary: 'The same, but waits until it is decided and done, or the time is up.',
  fields: { approval_id: approvalId, timeout_seconds: timeoutSeconds },
  required: ['approval_id'],
  result: { name: 'approval', description: '{approval_id, status, result?}' },
  inSession: true,
  async answer(app, op, params) {
    const approval_id = text(params, 'approval_id')
    const timeout_ms = waitMs(params, waitSecondsMax)
    return { result: await app.waitApprovalOutcome(op, { approval_id, timeout_ms }) }
  },
}

const pollEvents: Method = {
  name: 'events.poll',
  summary: 'Events of this agent: the same that MCP clients are pushed.',
  fields: {
    after: { type: 'string', maxLength: 64, description: 'The id of the last event seen' },
    timeout_seconds: timeoutSeconds,
  },
  required: [],
  result: { name: 'events', description: '{events: [...]}, oldest first' },
  inSession: true,
  async answer(app, op, params) {
    const after = params['after'] as string | undefined
    const events = await app.pollEvents(op, {
      timeout_ms: waitMs(params, 0),
      ...(after === undefined ? {} : { after }),
    })
    return { result: { events } }
  },
}

const all = [
  list,
  describe,
  invoke,
  createSession,
  endSession,
  getApproval,
  waitApproval,
  pollEvents,
] as const

/** By exact name in a Map: `constructor` and `__proto__` are names nobody registered. */
export const methods: ReadonlyMap<string, Method> = new Map(
  [...all, discoverMethod(all)].map((method) => [method.name, method]),
)
