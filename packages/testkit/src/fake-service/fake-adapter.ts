import { GatehouseError } from '@gatehouse/contract'
import type { Json, JsonObject } from '@gatehouse/server/ports/json'
import type { ReplicaChange } from '@gatehouse/server/ports/replica'
import type {
  Capture,
  ServiceAdapter,
  ServiceOperation,
  ServiceWrite,
  SyncBatch,
  UndoPlan,
  UndoPoint,
  WriteOutcome,
} from '@gatehouse/server/ports/service-adapter'
import { z } from 'zod'
import { type FakeLink, FakeLinkError } from './fake-link.ts'
import type { FakeItem, FakeRequest } from './fake-server.ts'

/** Connection that the adapter opens. `closed` shows that it was given back. */
export type FakeConnection = AsyncDisposable & { readonly link: FakeLink; closed: boolean }

const answerOf = z.union([
  z.object({ version: z.int() }),
  z.object({ conflict: z.unknown() }),
  z.object({ sent: z.literal(true) }),
])
const item = z.object({ version: z.int(), value: z.string(), by: z.string() }).nullable()

type Before = { readonly item: FakeItem | null }
const beforeOf = ({ before }: Capture): Before => before as unknown as Before

const text = (args: JsonObject, name: string): string => String(args[name] ?? '')

/** Outcome of a write, after a failure of the link. */
const outcomeOf = (cause: unknown): WriteOutcome => {
  if (!(cause instanceof FakeLinkError)) throw cause
  const reason = { detail: cause.message }
  return cause.sent
    ? { kind: 'unknown', reason }
    : { kind: 'not_executed', reason, retry: { after_ms: cause.busyMs } }
}

const entryOf = (collection: string, id: string, found: FakeItem): ReplicaChange => ({
  kind: 'put',
  entry: {
    collection,
    id,
    version: String(found.version),
    sort_ms: found.version,
    until_ms: found.version,
    title: found.value.slice(0, 100),
    from: found.by,
    text: found.value,
    flags: [],
    keys: [],
    body: { value: found.value },
    size_bytes: found.value.length,
  },
})

const ask = async ({ link }: FakeConnection, request: FakeRequest, signal: AbortSignal) =>
  link(request, signal)

const current = async (service: FakeConnection, write: ServiceWrite, signal: AbortSignal) => {
  const collection = text(write.arguments, 'collection')
  const id = text(write.arguments, 'id')
  return item.parse(await ask(service, { kind: 'get', collection, id }, signal))
}

const capture = async (
  service: FakeConnection,
  write: ServiceWrite,
  signal: AbortSignal,
): Promise<Capture> => ({
  before: { item: await current(service, write, signal) } as unknown as Json,
  expected: write.id,
})

/** State now, told apart: as the write left it, as it was before, or neither. */
const standing = (point: UndoPoint, now: FakeItem | null): 'after' | 'before' | 'other' => {
  const { item: before } = beforeOf(point.capture)
  const wanted = point.write.operation === 'remove' ? null : text(point.write.arguments, 'value')
  if (now?.by === point.write.id || (now === null && wanted === null && before !== null))
    return 'after'
  if (now?.value === before?.value && (now === null) === (before === null)) return 'before'
  return 'other'
}

const planUndo = async (
  service: FakeConnection,
  point: UndoPoint,
  signal: AbortSignal,
): Promise<UndoPlan> => {
  const now = await current(service, { ...point.write, files: [] }, signal)
  if (standing(point, now) === 'other')
    return {
      kind: 'refused',
      reason: { detail: 'it was changed since' },
      differences: [`${text(point.write.arguments, 'id')} now holds ${now?.value ?? 'nothing'}`],
    }
  const { item: before } = beforeOf(point.capture)
  const id = text(point.write.arguments, 'id')
  return { kind: 'possible', steps: [before ? `Put ${id} back` : `Remove ${id}`] }
}

const putting = (name: 'put' | 'remove'): ServiceOperation<FakeConnection> => ({
  name,
  delay_seconds: 30,
  timeout_seconds: 20,
  undoable: true,
  undo_note: 'It can be undone as long as nobody else changes it.',
  redact: ['private'],
  capture,
  async execute(service, write, captured, signal) {
    const args = write.arguments
    const collection = text(args, 'collection')
    const id = text(args, 'id')
    const value = name === 'remove' ? null : text(args, 'value')
    const expected = beforeOf(captured).item?.version ?? 0
    try {
      const request = { kind: 'put', collection, id, value, expected, by: write.id } as const
      const answer = answerOf.safeParse(await ask(service, request, signal))
      if (!answer.success)
        return { kind: 'unknown', reason: { detail: 'the answer makes no sense' } }
      if ('conflict' in answer.data)
        return {
          kind: 'not_executed',
          reason: { detail: 'it was changed meanwhile' },
          retry: { after_ms: 0 },
        }
      const version = 'version' in answer.data ? answer.data.version : 0
      const change: ReplicaChange =
        value === null
          ? { kind: 'remove', key: { collection, id } }
          : entryOf(collection, id, { version, value, by: write.id })
      return { kind: 'executed', result: { version }, changes: [change] }
    } catch (cause) {
      return outcomeOf(cause)
    }
  },
  async prove(service, write, captured, signal) {
    const now = await current(service, write, signal)
    const before = beforeOf(captured).item
    if (now?.by === write.id) return { kind: 'executed', result: { version: now.version } }
    if (name === 'remove' && before !== null && now === null)
      return { kind: 'executed', result: { version: before.version + 1 } }
    return now?.version === before?.version
      ? { kind: 'not_executed' }
      : { kind: 'unknown', reason: { detail: 'somebody else has changed it since' } }
  },
  planUndo,
  async undo(service, point, signal) {
    const plan = await planUndo(service, point, signal)
    if (plan.kind === 'refused') return plan
    const args = point.write.arguments
    const now = await current(service, { ...point.write, files: [] }, signal)
    if (standing(point, now) === 'before') return { kind: 'undone', result: {} }
    const request = {
      kind: 'put',
      collection: text(args, 'collection'),
      id: text(args, 'id'),
      value: beforeOf(point.capture).item?.value ?? null,
      expected: now?.version ?? 0,
      by: `undo ${point.write.id}`,
    } as const
    try {
      await ask(service, request, signal)
      return { kind: 'undone', result: {} }
    } catch (cause) {
      return { kind: 'not_undone', reason: { detail: String(cause) } }
    }
  },
})

const sending = (name: 'send' | 'blind'): ServiceOperation<FakeConnection> => ({
  name,
  delay_seconds: 30,
  timeout_seconds: 20,
  undoable: false,
  undo_note: 'What was sent cannot be called back; cancel it before.',
  redact: [],
  capture: async (_service, write) => ({ before: null, expected: write.id }),
  async execute(service, write, _capture, signal) {
    try {
      const request = { kind: 'send', text: text(write.arguments, 'text'), by: write.id } as const
      const answer = answerOf.safeParse(await ask(service, request, signal))
      return answer.success && 'sent' in answer.data
        ? { kind: 'executed', result: { receipt: write.id } }
        : { kind: 'unknown', reason: { detail: 'the answer makes no sense' } }
    } catch (cause) {
      return outcomeOf(cause)
    }
  },
  async prove(service, write, _capture, signal) {
    if (name === 'blind') return { kind: 'unknown', reason: { detail: 'it keeps no record' } }
    const { found } = z
      .object({ found: z.boolean() })
      .parse(await ask(service, { kind: 'find', by: write.id }, signal))
    return found ? { kind: 'executed', result: { receipt: write.id } } : { kind: 'not_executed' }
  },
  planUndo: async () => ({
    kind: 'refused',
    reason: { detail: 'what was sent cannot be called back' },
    differences: [],
  }),
  undo: async () => ({
    kind: 'refused',
    reason: { detail: 'what was sent cannot be called back' },
    differences: [],
  }),
})

const changesAnswer = z.object({
  changes: z.array(z.object({ seq: z.int(), collection: z.string(), id: z.string(), item: item })),
  total: z.int(),
})

/** A kind of service for tests, spoken to by a link: in memory, or over HTTP to another process. */
export const fakeAdapter = (
  link: FakeLink,
  { kind = 'fake', pageSize = 3, opened = [] as FakeConnection[] } = {},
): ServiceAdapter<FakeConnection> => ({
  kind,
  title: 'A fake',
  settings: z.strictObject({
    address: z.string().describe('Where it is.').default('fake.example'),
  }),
  secrets: [{ name: 'password', description: 'How it knows you.', required: true }],
  sync_every_seconds: 60,
  operations: [putting('put'), putting('remove'), sending('send'), sending('blind')],

  async test(connection, signal) {
    try {
      const answer = await connection.secret('password', 'fake.example', (password) =>
        link({ kind: 'hello', password }, signal),
      )
      const ok = z.object({ ok: z.boolean() }).parse(answer).ok
      return [
        { name: 'connection', ok: true, detail: 'fake.example answers', fix: null },
        ok
          ? { name: 'login', ok, detail: 'the password is right', fix: null }
          : { name: 'login', ok, detail: 'the password is wrong', fix: 'Enter the right one.' },
      ]
    } catch (cause) {
      if (!(cause instanceof FakeLinkError)) throw cause
      return [{ name: 'connection', ok: false, detail: cause.message, fix: 'Start the service.' }]
    }
  },

  async open() {
    const connection: FakeConnection = {
      link,
      closed: false,
      async [Symbol.asyncDispose]() {
        connection.closed = true
      },
    }
    opened.push(connection)
    return connection
  },

  async *sync(service, { cursor }, signal): AsyncGenerator<SyncBatch> {
    let since = Number(cursor ?? 0)
    for (;;) {
      let found: z.output<typeof changesAnswer>
      try {
        const request = { kind: 'changes', since, limit: pageSize } as const
        found = changesAnswer.parse(await ask(service, request, signal))
      } catch (cause) {
        const detail = cause instanceof FakeLinkError ? cause.message : 'the answer makes no sense'
        throw new GatehouseError('ServiceUnavailable', { service: 'fake', detail }, { cause })
      }
      if (found.changes.length === 0) return
      since += found.changes.length
      yield {
        changes: found.changes.map((change): ReplicaChange => {
          const { collection, id } = change
          return change.item
            ? entryOf(collection, id, change.item)
            : { kind: 'remove', key: { collection, id } }
        }),
        cursor: String(since),
        progress: { done: since, total: found.total },
      }
    }
  },
})
