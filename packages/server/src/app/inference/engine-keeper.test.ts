import { GatehouseError } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { HandClock, silent } from '../../log/testing.ts'
import type { Engine, EngineExit, EngineHost, EngineOrder } from '../../ports/engine.ts'
import type { InstalledModel } from '../../ports/models.ts'
import { EngineKeeper } from './engine-keeper.ts'
import type { ModelRecords } from './model-records.ts'

const never = new AbortController().signal
const GiB = 2 ** 30

const modelOf = (id: string): InstalledModel => ({
  id,
  label: null,
  file: `/models/${id}.gguf`,
  sha256: id.repeat(64).slice(0, 64),
  size_bytes: 132_160,
  header: {
    architecture: 'llama',
    name: id,
    parameters: 115_008,
    context_length: 2_048,
    embedding_length: 64,
    layers: 2,
    weights_bytes: 123_136,
    kv_bytes_per_token: 256,
    fully_checked: true,
  },
})
const [a, b] = [modelOf('a'), modelOf('b')]

class FakeEngine implements Engine {
  readonly pid = 1
  readonly backend = 'bubblewrap'
  readonly context_tokens = 2_048
  readonly memory_bytes = 7
  readonly exited: Promise<EngineExit>
  readonly model: string
  killed = false
  obeys = true
  end: (how: string) => void = () => {}

  constructor(model: string) {
    this.model = model
    this.exited = new Promise((resolve) => {
      this.end = (how) => resolve({ how, said: '' })
    })
  }

  async generate() {
    const usage = { prompt_tokens: 2, completion_tokens: 8, total_tokens: 10 }
    return { text: 'x', finish_reason: 'stop' as const, usage }
  }
  async embed() {
    return { vectors: [], usage: { prompt_tokens: 0, total_tokens: 0 } }
  }
  async becomesIdle() {
    return this.obeys
  }
  async kill() {
    this.killed = true
    this.end('signal SIGKILL')
  }
}

/** A keeper of engines that come up at once, unless `start` says otherwise. */
function createKeeper(
  start: (order: EngineOrder, signal: AbortSignal) => Promise<FakeEngine> = async ({ model }) =>
    new FakeEngine(model.id),
) {
  const clock = new HandClock()
  const [started, measured, struck]: [FakeEngine[], string[], string[]] = [[], [], []]
  const orders: EngineOrder[] = []
  const records = {
    quarantine: async () => null,
    strike: async (_op: unknown, { id }: { id: string }) => {
      struck.push(id)
      return false
    },
    forgive: async () => undefined,
    measure: async ({ id }: { id: string }) => (measured.includes(id) ? {} : null),
    measured: async ({ id }: { id: string }) => void measured.push(id),
  } as unknown as ModelRecords
  const host: EngineHost = {
    availableMemory: async () => GiB,
    async start(order, signal) {
      orders.push(order)
      const engine = await start(order, signal)
      started.push(engine)
      return engine
    },
  }
  let changes = 0
  const op = () => ({ actor: { kind: 'system' }, request_id: 'r', session_id: null, signal: never })
  const keeper = new EngineKeeper({
    host,
    records,
    clock,
    log: silent,
    idleMs: 1_000,
    changed: () => {
      changes += 1
    },
    op: op as never,
  })
  const name = (model: InstalledModel, signal = never) =>
    keeper.use(model, signal, async (engine) => (engine as FakeEngine).model)
  return { keeper, clock, started, orders, measured, struck, name, changes: () => changes }
}

const failure = (detail: string, refused = false) =>
  new GatehouseError('EngineFailed', { detail, ...(refused ? { refused } : {}) })

test('says each time that what is loaded is another, and nothing while it stays', async () => {
  const { name, changes, keeper } = createKeeper()
  await name(a)
  // Being loaded, loaded, and no longer being loaded.
  expect(changes()).toBe(3)
  await name(a)
  expect(changes()).toBe(3)
  await keeper.stop()
  expect(changes()).toBe(4)
})

test('loads a model once, measures it once, and gives it the memory of the estimate and a quarter more', async () => {
  const { name, started, orders, measured, keeper } = createKeeper()
  expect([await name(a), await name(a)]).toEqual(['a', 'a'])
  expect(started).toHaveLength(1)
  expect(orders[0]?.context_tokens).toBe(2_048)
  const needs = 123_136 * 1.1 + 256 * 2_048 + 142 * 2 ** 20
  expect(orders[0]?.memory_bytes).toBeCloseTo(needs * 1.25 + 2 ** 28, -2)
  await keeper.stop()
  await name(a)
  expect(started).toHaveLength(2)
  expect(measured).toEqual(['a'])
})

test('rests longer each time that an engine does not come up, and no more once it did', async () => {
  let broken = true
  const { name, clock, struck, keeper } = createKeeper(async ({ model }) => {
    if (broken) throw failure('signal SIGABRT')
    return new FakeEngine(model.id)
  })
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
    await expect(name(a)).rejects.toThrow('ended: signal SIGABRT')
    await expect(name(a)).rejects.toThrow(`it starts again in ${seconds} s`)
    clock.move(seconds * 1_000 - 1)
    await expect(name(a)).rejects.toThrow('it starts again in 1 s')
    clock.move(1)
  }
  expect(struck).toHaveLength(8)
  expect(keeper.crashes).toBe(8)
  broken = false
  expect(await name(a)).toBe('a')
  broken = true
  await keeper.stop()
  await expect(name(a)).rejects.toThrow('ended: signal SIGABRT')
  await expect(name(a)).rejects.toThrow('it starts again in 1 s')
})

test('holds nothing against a model that an engine refuses by itself, and nothing against the next one', async () => {
  const { name, struck } = createKeeper(async ({ model }) => {
    if (model.id === 'a') throw failure('unknown architecture', true)
    return new FakeEngine(model.id)
  })
  await expect(name(a)).rejects.toThrow('unknown architecture')
  expect(struck).toEqual([])
  expect(await name(b)).toBe('b')
})

test('goes on loading when a caller leaves, for the next one', async () => {
  let ready: (engine: FakeEngine) => void = () => {}
  const { name, started } = createKeeper(
    () =>
      new Promise((resolve) => {
        ready = resolve
      }),
  )
  const leaving = new AbortController()
  const first = name(a, leaving.signal)
  await new Promise((resolve) => setImmediate(resolve))
  leaving.abort(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  const second = name(a)
  ready(new FakeEngine('a'))
  expect(await second).toBe('a')
  expect(started).toHaveLength(1)
})

test('gives up loading a model when another one is asked for', async () => {
  const { name, keeper } = createKeeper(({ model }, signal) =>
    model.id === 'b'
      ? Promise.resolve(new FakeEngine('b'))
      : new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        }),
  )
  const leaving = new AbortController()
  const first = name(a, leaving.signal)
  await new Promise((resolve) => setImmediate(resolve))
  leaving.abort(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  expect(await name(b)).toBe('b')
  expect(keeper.crashes).toBe(0)
})

test.each([
  [true, false, 0],
  [false, true, 1],
])(
  'when a caller leaves and the engine becomes idle: %s, it is killed: %s',
  async (obeys, killed, crashes) => {
    const { keeper, started, name } = createKeeper()
    await name(a)
    const [engine] = started
    if (engine) engine.obeys = obeys
    const leaving = new AbortController()
    const used = keeper.use(a, leaving.signal, async () => {
      leaving.abort(new Error('gone'))
      throw leaving.signal.reason as Error
    })
    await expect(used).rejects.toThrow('gone')
    expect([engine?.killed, keeper.crashes]).toEqual([killed, crashes])
  },
)

test('forgets an engine that was stopped, whatever it was doing', async () => {
  const { keeper, name, started } = createKeeper()
  await name(a)
  const used = keeper.use(a, never, async (engine) => {
    await engine.exited
    throw failure('signal SIGKILL')
  })
  await new Promise((resolve) => setImmediate(resolve))
  await keeper.stop()
  await expect(used).rejects.toThrow('stopped by an operator')
  expect([keeper.crashes, keeper.loaded]).toEqual([0, null])
  expect(started[0]?.killed).toBe(true)
})

test('does not end an engine for want of use while the request it was loaded for is at work', async () => {
  const { keeper, clock, started } = createKeeper()
  let [begun, end] = [() => {}, () => {}]
  const working = new Promise<void>((resolve) => {
    begun = resolve
  })
  const held = new Promise<void>((resolve) => {
    end = resolve
  })
  const used = keeper.use(a, never, async (engine) => {
    begun()
    await held
    return (engine as FakeEngine).killed
  })
  await working
  clock.move(5_000)
  await new Promise((resolve) => setImmediate(resolve))
  end()
  expect(await used).toBe(false)
  clock.move(1_000)
  await started[0]?.exited
  expect(keeper.loaded).toBe(null)
})
