import { GatehouseError, type HealthStatus } from '@gatehouse/contract'
import { z } from 'zod'
import type { App } from '../../src/app/app.ts'
import type { InvokeInput, InvokeOutcome, ListedCapability } from '../../src/app/call/invoke.ts'
import { MemoryBudget } from '../../src/app/call/memory-budget.ts'
import type { AgentOp } from '../../src/app/call/op.ts'
import { unknownCapability } from '../../src/app/call/unknown-capability.ts'
import type { Tell } from '../../src/app/events/pushes.ts'
import { defineCapability } from '../../src/capabilities/define.ts'
import type { Capability } from '../../src/ports/capability.ts'
import type { Log } from '../../src/ports/log.ts'
import {
  type Gateway,
  type GatewayOptions,
  openGateway,
} from '../../src/transport/gateway/open-gateway.ts'
import { heldBytesFor } from '../../src/transport/http/held-bytes.ts'

export const tokens = { alpha: 'a'.repeat(64), beta: 'b'.repeat(64) } as const

export const echo = defineCapability({
  title: 'Test',
  name: 'test.echo',
  version: '1.0',
  purpose: 'Gives back what it is given.',
  when_to_use: 'In tests.',
  inputs: z.strictObject({ text: z.string(), extra: z.unknown().optional() }),
  outputs: z.object({ text: z.string() }),
  tier: 'autonomous',
  effect: 'none',
  errors: ['FileNotFound'],
  text: ({ text }) => text,
  run: (_ctx, { text }) => Promise.resolve({ text }),
})

export const erase = defineCapability({
  title: 'Test',
  name: 'test.erase',
  version: '1.0',
  purpose: 'Deletes something.',
  when_to_use: 'In tests.',
  inputs: z.strictObject({ path: z.string() }),
  outputs: z.object({ erased: z.boolean() }),
  tier: 'approval_required',
  effect: 'immediate',
  side_effects: [{ what: 'a file is gone', reversible: false }],
  errors: [],
  run: () => Promise.resolve({ erased: true }),
})

const many = Array.from({ length: 230 }, (_, i) =>
  defineCapability({
    title: 'Test',
    name: `many.tool_${String(i).padStart(3, '0')}`,
    version: '1.0',
    purpose: 'One of many.',
    when_to_use: 'In tests.',
    inputs: z.strictObject({}),
    outputs: z.object({}),
    tier: 'autonomous',
    effect: 'none',
    errors: [],
    run: () => Promise.resolve({}),
  }),
)

export const pending = {
  status: 'pending_approval',
  approval_id: 'appr-00000000000000000000000001',
  capability: 'test.erase',
  message: 'test.erase waits for a person.',
  expires_at: '2030-01-01T00:00:00.000Z',
} as const

export const fakeSession = (n: number): string => `sess-${String(n).padStart(26, '0')}`

export const unknownOf = (name: string): InvokeOutcome =>
  unknownCapability({ similar: () => ['test.echo'] }, name)

type Invocation = { readonly op: AgentOp; readonly input: InvokeInput }
type Behaviour = (invocation: Invocation) => InvokeOutcome | Promise<InvokeOutcome>

const succeed = (capability: Capability, data: Record<string, unknown>): InvokeOutcome => ({
  kind: 'succeeded',
  capability,
  data,
  text: capability.text?.(data) ?? null,
})

/** The ways a call may end, each under the name of a capability. */
const behaviours = new Map<string, Behaviour>([
  [
    'test.echo',
    ({ input }) => succeed(echo, { text: (input.arguments as { text?: string }).text ?? '' }),
  ],
  ['test.erase', () => ({ kind: 'pending', pending: pending as never })],
  [
    'test.fail',
    () => ({
      kind: 'failed',
      error: { type: 'FileNotFound', message: 'There is no file at /x.', recovery: [] },
    }),
  ],
  [
    'test.blocked',
    () => ({ kind: 'denied', reason: 'policy', message: 'Policy says no.', data: { rule: 'r1' } }),
  ],
  [
    'test.paused',
    () => ({ kind: 'denied', reason: 'agent_paused', message: 'alpha is paused.', data: {} }),
  ],
  [
    'test.limited',
    () => ({
      kind: 'limited',
      message: 'Rate limit exceeded: 1 calls/1m for test.*',
      data: { retry_after_seconds: 42, limit: 1, window: '1m' },
    }),
  ],
  ['test.busy', () => ({ kind: 'overloaded', message: 'busy', data: {} })],
  [
    'test.crash',
    () => {
      throw new Error('SELECT secret FROM /srv/data/gatehouse.db')
    },
  ],
  [
    'test.unrecorded',
    () => {
      throw new GatehouseError('AuditUnavailable', { detail: 'the disk is full' })
    },
  ],
])

/** A gate without a gate: enough of `App` for the transports in front of it, and a look at what came in. */
export class FakeApp {
  readonly version = '9.9.9'
  readonly calls: Invocation[] = []
  readonly opened: { agent: string; transport: string; client: unknown }[] = []
  readonly ended: string[] = []
  readonly listeners = new Set<{ agent: string; listener: Tell }>()
  readonly open = new Map<string, string>()
  readonly revoked = new Set<string>()
  readonly behaviours = new Map(behaviours)
  manyTools = false
  ready: HealthStatus = 'healthy'
  /** Calls of `test.wait` that have begun, to be ended by hand. */
  readonly waiting: { readonly op: AgentOp; finish: (outcome: InvokeOutcome) => void }[] = []
  #sessions = 0

  constructor() {
    this.behaviours.set(
      'test.wait',
      ({ op }) =>
        new Promise((resolve) => {
          const waiting = { op, finish: resolve }
          this.waiting.push(waiting)
          op.signal.addEventListener('abort', () =>
            resolve({
              kind: 'failed',
              error: { type: 'Cancelled', message: 'The call was cancelled.', recovery: [] },
            }),
          )
        }),
    )
  }

  memory = new MemoryBudget(heldBytesFor())

  /** The stand-in, as the transports see it. */
  readiness(): HealthStatus {
    return this.ready
  }

  asApp(): App {
    return this as unknown as App
  }

  emit(agent: string, type: string, data: Record<string, unknown> = {}): void {
    const event = { id: 'evt-1', type, timestamp: '2030-01-01T00:00:00.000Z', agent, data }
    for (const entry of this.listeners) if (entry.agent === agent) void entry.listener(event)
  }

  authenticateAgent(token: string): Promise<unknown> {
    const name = (Object.keys(tokens) as (keyof typeof tokens)[]).find((k) => tokens[k] === token)
    return Promise.resolve(name && !this.revoked.has(name) ? { name, credential: 7 } : null)
  }

  stillValid(name: string, credential: number): boolean {
    return credential === 7 && !this.revoked.has(name)
  }

  openSession(
    op: AgentOp,
    input: { transport: string; client: unknown },
  ): Promise<Record<string, unknown>> {
    const session_id = fakeSession(++this.#sessions)
    this.open.set(session_id, op.actor.name)
    this.opened.push({ agent: op.actor.name, ...input })
    const created_at = '2030-01-01T00:00:00.000Z'
    return Promise.resolve({ session_id, agent: op.actor.name, created_at })
  }

  assertSession(op: AgentOp, { session_id }: { session_id: string }): Promise<void> {
    if (this.open.get(session_id) === op.actor.name) return Promise.resolve()
    return Promise.reject(new GatehouseError('SessionNotFound', { session_id }))
  }

  async endSession(op: AgentOp, input: { session_id: string }): Promise<unknown> {
    await this.assertSession(op, input)
    this.open.delete(input.session_id)
    this.ended.push(input.session_id)
    return { session_id: input.session_id, ended_at: '2030-01-01T00:00:01.000Z' }
  }

  listCapabilities(_op: AgentOp, { category }: { category?: string }): Promise<ListedCapability[]> {
    const all = this.manyTools ? [erase, ...many, echo] : [erase, echo]
    return Promise.resolve(
      all
        .filter((capability) => category === undefined || capability.group === category)
        .map((capability) => ({ capability, tier: capability.tier })),
    )
  }

  capabilityNames(): string[] {
    return [...[erase, ...many, echo].map(({ name }) => name), 'agent.capabilities']
  }

  listing({ capability, tier }: ListedCapability): unknown {
    return { name: capability.name, permission_tier: tier }
  }

  describeCapability(_op: AgentOp, { name }: { name: string }): Promise<unknown> {
    if (name === 'test.echo') {
      return Promise.resolve({ kind: 'described', description: echo.description })
    }
    return Promise.resolve(
      name === 'test.blocked'
        ? { kind: 'blocked', message: 'Policy says no.', data: {} }
        : unknownOf(name),
    )
  }

  async invoke(op: AgentOp, input: InvokeInput): Promise<InvokeOutcome> {
    this.calls.push({ op, input })
    const behaviour = this.behaviours.get(input.capability)
    if (behaviour) return behaviour({ op, input })
    return unknownOf(input.capability)
  }

  getApprovalOutcome(_op: AgentOp, { approval_id }: { approval_id: string }): Promise<unknown> {
    if (approval_id !== pending.approval_id) {
      return Promise.reject(new GatehouseError('ApprovalNotFound', { approval_id }))
    }
    return Promise.resolve({ approval_id, status: 'pending' })
  }

  /** Waits until the caller goes away, as the last of all reasons to stop waiting. */
  waitApprovalOutcome(
    op: AgentOp,
    { approval_id, timeout_ms }: { approval_id: string; timeout_ms: number },
  ): Promise<unknown> {
    if (timeout_ms === 0) return Promise.resolve({ approval_id, status: 'pending' })
    return new Promise((resolve) => {
      this.waiting.push({ op, finish: () => resolve({ approval_id, status: 'approved' }) })
      op.signal.addEventListener('abort', () => resolve({ approval_id, status: 'pending' }))
    })
  }

  pollEvents(_op: AgentOp, input: { after?: string; timeout_ms: number }): Promise<unknown> {
    return Promise.resolve(
      input.after === undefined ? [{ id: 'evt-1', type: 'tools.changed' }] : [],
    )
  }

  subscribeEvents(agent: string, listener: Tell): Disposable {
    const entry = { agent, listener }
    this.listeners.add(entry)
    return { [Symbol.dispose]: () => void this.listeners.delete(entry) }
  }
}

/** Keeps what is logged, so that a test can look for what must or must not be there. */
export class KeptLog implements Log {
  readonly lines: string[] = []
  debug(facts: object, message: string): void {
    this.#keep(facts, message)
  }
  info(facts: object, message: string): void {
    this.#keep(facts, message)
  }
  warn(facts: object, message: string): void {
    this.#keep(facts, message)
  }
  error(facts: object, message: string): void {
    this.#keep(facts, message)
  }
  #keep(facts: object, message: string): void {
    this.lines.push(
      `${message} ${JSON.stringify(facts, (_k, v: unknown) => (v instanceof Error ? v.message : v))}`,
    )
  }
}

export type GatewayKit = Gateway & { readonly fake: FakeApp; readonly log: KeptLog }

/** A gateway on a free port before a fake app. */
export const openKit = async ({
  memory,
  ...options
}: Partial<GatewayOptions> & { readonly memory?: MemoryBudget } = {}): Promise<GatewayKit> => {
  const fake = new FakeApp()
  if (memory) fake.memory = memory
  const log = new KeptLog()
  let ids = 0
  const gateway = await openGateway({
    host: '127.0.0.1',
    port: 0,
    app: fake.asApp(),
    ids: { next: (prefix) => `${prefix}-${String(++ids).padStart(26, '0')}` },
    log,
    version: fake.version,
    allowedHosts: [],
    allowedOrigins: [],
    ...options,
  })
  return Object.assign(gateway, { fake, log })
}

/** Resolves once `holds` does; what it waits for is an event of the loop, never a time. */
export const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise<void>((resolve) => setImmediate(resolve))
}
