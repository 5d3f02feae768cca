import type { JsonObject } from '@gatehouse/server/ports/json'
import type { FoundEntry, ReplicaChange } from '@gatehouse/server/ports/replica'
import type {
  Capture,
  ServiceAdapter,
  ServiceConnection,
  ServiceOperation,
  ServiceWrite,
  UndoPoint,
  WriteFile,
} from '@gatehouse/server/ports/service-adapter'
import { describe, expect, test } from 'vitest'
import { toJSONSchema } from 'zod'

/** One write to try: fresh each time, so that ids do not repeat. */
export type AdapterSample = {
  readonly operation: string
  readonly arguments: JsonObject
  readonly files?: readonly WriteFile[]
}

/** A real service, filled with a little, and all that the suite needs to do to it from outside. */
export type AdapterHarness<C extends AsyncDisposable> = AsyncDisposable & {
  readonly adapter: ServiceAdapter<C>
  readonly connection: ServiceConnection
  /** The same with a wrong credential, and a text that no message may hold. */
  readonly wrong: { readonly connection: ServiceConnection; readonly secret: string }
  /** A unique id for a write, of the form `wr-…`. */
  writeId(): string
  /** Everything at the service that a write could change, to be compared. */
  snapshot(): Promise<unknown>
  /** A write for each operation of the adapter; asked anew for each test. */
  samples(): Promise<readonly AdapterSample[]>
  /** Interference: somebody else changes what the write of this operation has touched. */
  interfere(sample: AdapterSample): Promise<void>
  /** Addition by somebody else that a sync must bring. */
  add(): Promise<void>
  /** No connection is taken, or it is again. */
  reachable(yes: boolean): Promise<void>
}

type Opened<C extends AsyncDisposable> = {
  readonly harness: AdapterHarness<C>
  readonly service: C
  readonly signal: AbortSignal
}

const seconds = 30

/** Conformance of every adapter, as the comments of the port have it. */
export const describeServiceAdapter = <C extends AsyncDisposable>(
  name: string,
  open: () => Promise<AdapterHarness<C>>,
): void => {
  const withService = async (work: (opened: Opened<C>) => Promise<void>): Promise<void> => {
    await using harness = await open()
    await using service = await harness.adapter.open(harness.connection)
    await work({ harness, service, signal: AbortSignal.timeout(seconds * 1000) })
  }

  const read = async (opened: Opened<C>, cursor: string | null) => {
    const { adapter } = opened.harness
    const entries = new Map<string, FoundEntry>()
    let last = cursor
    let changes: ReplicaChange[] = []
    for await (const batch of adapter.sync(opened.service, { cursor }, opened.signal)) {
      expect(batch.changes.length).toBeLessThanOrEqual(500)
      changes = [...changes, ...batch.changes]
      for (const change of batch.changes)
        if (change.kind === 'put')
          entries.set(JSON.stringify([change.entry.collection, change.entry.id]), change.entry)
      last = batch.cursor ?? last
    }
    return { entries, changes, cursor: last }
  }

  const operationOf = (harness: AdapterHarness<C>, sample: AdapterSample): ServiceOperation<C> => {
    const found = harness.adapter.operations.find((o) => o.name === sample.operation)
    if (!found) throw new Error(`there is no operation ${sample.operation}`)
    return found
  }

  const writeOf = (harness: AdapterHarness<C>, sample: AdapterSample): ServiceWrite => ({
    id: harness.writeId(),
    operation: sample.operation,
    agent: 'mailbot',
    arguments: sample.arguments,
    files: sample.files ?? [],
  })

  const captured = async (
    { service, signal }: Opened<C>,
    operation: ServiceOperation<C>,
    write: ServiceWrite,
  ): Promise<Capture> => {
    const found = await operation.capture(service, write, signal)
    if ('kind' in found && found.kind === 'refused')
      throw new Error(`the sample of ${write.operation} was refused`)
    // Captures are stored before they are used: whatever JSON does not carry is lost.
    return JSON.parse(JSON.stringify(found)) as Capture
  }

  const executed = async (opened: Opened<C>, sample: AdapterSample) => {
    const operation = operationOf(opened.harness, sample)
    const write = writeOf(opened.harness, sample)
    const capture = await captured(opened, operation, write)
    const outcome = await operation.execute(opened.service, write, capture, opened.signal, () => {})
    expect(outcome, sample.operation).toMatchObject({ kind: 'executed' })
    const result = outcome.kind === 'executed' ? outcome.result : {}
    expect(JSON.parse(JSON.stringify(result))).toEqual(result)
    const { files: _files, ...bare } = write
    const point: UndoPoint = { write: bare, capture, result }
    return { operation, write, capture, point }
  }

  describe(`the adapter for ${name}`, () => {
    test('declares each operation once, with its time, its undo and its words', async () => {
      await withService(async ({ harness }) => {
        const { operations, kind, settings } = harness.adapter
        expect(kind).toMatch(/^[a-z][a-z0-9-]*$/)
        expect(new Set(operations.map((o) => o.name)).size).toBe(operations.length)
        for (const o of operations) {
          expect(o.timeout_seconds).toBeGreaterThan(0)
          expect(o.delay_seconds).toBeGreaterThanOrEqual(0)
          expect(o.undo_note.length).toBeGreaterThan(10)
        }
        const { properties = {} } = toJSONSchema(settings, { io: 'input', unrepresentable: 'any' })
        for (const [field, schema] of Object.entries(properties))
          expect((schema as { description?: string }).description, field).toBeTruthy()
        const sampled = (await harness.samples()).map((sample) => sample.operation)
        expect(sampled.toSorted()).toEqual(operations.map((o) => o.name).toSorted())
      })
    })

    test('finds nothing wrong with a good connection, and names what is wrong with a bad one', async () => {
      await withService(async ({ harness, signal }) => {
        const { adapter, connection, wrong } = harness
        const good = await adapter.test(connection, signal)
        expect(good.length).toBeGreaterThan(0)
        expect(good.filter(({ ok }) => !ok)).toEqual([])
        const bad = await adapter.test(wrong.connection, signal)
        const faults = bad.filter(({ ok }) => !ok)
        expect(faults.length).toBeGreaterThan(0)
        for (const { detail, fix } of faults) {
          expect(detail.length).toBeGreaterThan(5)
          expect(fix?.length ?? 0).toBeGreaterThan(5)
        }
        expect(JSON.stringify(bad)).not.toContain(wrong.secret)
        await harness.reachable(false)
        const away = await adapter.test(connection, signal)
        expect(away.some(({ ok }) => !ok)).toBe(true)
        await harness.reachable(true)
      })
    })

    test('yields everything once, then only what changed', async () => {
      await withService(async (opened) => {
        const all = await read(opened, null)
        expect(all.entries.size).toBeGreaterThan(0)
        const again = await read(opened, all.cursor)
        expect([...again.entries.keys()].filter((key) => !all.entries.has(key))).toEqual([])
        await opened.harness.add()
        const more = await read(opened, again.cursor)
        const added = [...more.entries.keys()].filter((key) => !all.entries.has(key))
        expect(added.length).toBeGreaterThan(0)
        const anew = await read(opened, null)
        for (const key of added) expect(anew.entries.has(key)).toBe(true)
        for (const entry of anew.entries.values())
          expect(JSON.parse(JSON.stringify(entry.body))).toEqual(entry.body)
      })
    })

    test('says that it cannot be reached, and goes on when it can', async () => {
      await withService(async (opened) => {
        const { harness, signal } = opened
        await harness.reachable(false)
        {
          await using other = await harness.adapter.open(harness.connection)
          await expect(read({ ...opened, service: other }, null)).rejects.toMatchObject({
            type: 'ServiceUnavailable',
          })
        }
        await harness.reachable(true)
        await using fresh = await harness.adapter.open(harness.connection)
        expect(
          (await read({ ...opened, service: fresh, signal }, null)).entries.size,
        ).toBeGreaterThan(0)
      })
    })

    test('changes nothing by looking: before, to prove, and to plan', async () => {
      await withService(async (opened) => {
        const { harness, service, signal } = opened
        for (const sample of await harness.samples()) {
          const operation = operationOf(harness, sample)
          const write = writeOf(harness, sample)
          const before = await harness.snapshot()
          const capture = await captured(opened, operation, write)
          const proof = await operation.prove(service, write, capture, signal)
          expect(['not_executed', 'unknown'], sample.operation).toContain(proof.kind)
          expect(await harness.snapshot(), sample.operation).toEqual(before)
        }
      })
    })

    test('executes each operation, and proves what it did where it says that it can', async () => {
      await withService(async (opened) => {
        const { harness, service, signal } = opened
        for (const sample of await harness.samples()) {
          const before = await harness.snapshot()
          const { operation, write, capture } = await executed(opened, sample)
          const after = await harness.snapshot()
          expect(after, sample.operation).not.toEqual(before)
          const proof = await operation.prove(service, write, capture, signal)
          expect(['executed', 'unknown'], sample.operation).toContain(proof.kind)
          expect(await harness.snapshot(), sample.operation).toEqual(after)
        }
      })
    })

    test('undoes exactly, also when it is told so again', async () => {
      await withService(async (opened) => {
        const { harness, service, signal } = opened
        for (const sample of await harness.samples()) {
          const before = await harness.snapshot()
          const { operation, point } = await executed(opened, sample)
          const after = await harness.snapshot()
          const plan = await operation.planUndo(service, point, signal)
          expect(await harness.snapshot(), sample.operation).toEqual(after)
          expect(plan.kind, sample.operation).toBe(operation.undoable ? 'possible' : 'refused')
          const undone = await operation.undo(service, point, signal)
          expect(undone.kind, sample.operation).toBe(operation.undoable ? 'undone' : 'refused')
          expect(await harness.snapshot(), sample.operation).toEqual(
            operation.undoable ? before : after,
          )
          if (!operation.undoable) continue
          expect((await operation.undo(service, point, signal)).kind, sample.operation).toBe(
            'undone',
          )
          expect(await harness.snapshot(), sample.operation).toEqual(before)
        }
      })
    })

    test('refuses to undo what others have changed since, and says what it found', async () => {
      await withService(async (opened) => {
        const { harness, service, signal } = opened
        for (const sample of await harness.samples()) {
          const { operation, point } = await executed(opened, sample)
          if (!operation.undoable) continue
          await harness.interfere(sample)
          const found = await harness.snapshot()
          const plan = await operation.planUndo(service, point, signal)
          expect(plan.kind, sample.operation).toBe('refused')
          if (plan.kind === 'refused') expect(plan.differences.length).toBeGreaterThan(0)
          expect((await operation.undo(service, point, signal)).kind).toBe('refused')
          expect(await harness.snapshot(), sample.operation).toEqual(found)
        }
      })
    })

    test('never claims to have done what could not reach the service', async () => {
      await withService(async (opened) => {
        const { harness, signal } = opened
        for (const sample of await harness.samples()) {
          const operation = operationOf(harness, sample)
          const write = writeOf(harness, sample)
          const before = await harness.snapshot()
          const capture = await captured(opened, operation, write)
          await harness.reachable(false)
          {
            await using away = await harness.adapter.open(harness.connection)
            const outcome = await operation
              .execute(away, write, capture, signal, () => {})
              .catch(() => null)
            if (outcome) {
              expect(outcome.kind, sample.operation).toBe('not_executed')
              if (outcome.kind === 'not_executed') expect(outcome.retry).not.toBe('never')
            }
          }
          await harness.reachable(true)
          expect(await harness.snapshot(), sample.operation).toEqual(before)
        }
      })
    })
  })
}
