import { GatehouseError } from '@gatehouse/contract'
import { afterTurns } from '@gatehouse/testkit/after-turns'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import { createClock } from '../../platform/clock.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ServerList, UpstreamConnection, WireTool } from '../../ports/upstream.ts'
import { type ConnectionDeps, Connections } from './connections.ts'
import type { UpstreamRecord } from './stored.ts'

const { signal } = new AbortController()

const record = {
  name: 'notes',
  config: {
    server: { kind: 'stdio', command: 'notes', args: [] },
    grants: { folders: [], hosts: [], environment: {} },
    credentials: {},
    per_agent: false,
  },
  accepted: {},
  login: null,
  agent_logins: {},
} as unknown as UpstreamRecord

/** A server whose one tool has another name after each change. */
class ChangingServer {
  #changes = 0
  closes = 0
  #tell: (list: ServerList) => void = () => undefined
  /** Told of each answer to a listing, before it is given. */
  answering: (answer: Promise<readonly WireTool[]>) => void = () => undefined

  readonly connection = {
    listTools: () => {
      const tool = { name: `tool-${this.#changes}`, inputSchema: { type: 'object' } } as WireTool
      const answer = Promise.resolve([tool])
      this.answering(answer)
      return answer
    },
    isForgotten: false,
    changingLists: [],
    onListChanged: (tell: (list: ServerList) => void) => {
      this.#tell = tell
    },
    onForgotten: () => undefined,
    closed: new Promise<string>(() => undefined),
    hostsRefused: () => [],
    close: async () => {
      this.closes += 1
    },
  } as unknown as UpstreamConnection

  change(): void {
    this.#changes += 1
    this.#tell('tools')
  }
}

const open = (
  server: Pick<ChangingServer, 'connection'>,
  change: Partial<ConnectionDeps> = {},
): Connections =>
  new Connections({
    host: { connect: async () => server.connection },
    table: { find: () => record },
    clock: createClock(0),
    log: { warn: () => undefined } as never,
    settings: { 'upstream.idle': 60_000 },
    signal,
    seen: async () => undefined,
    listChanged: () => undefined,
    ...change,
  })

const toolsOf = (connections: Connections) =>
  connections.with('notes', 'ada', signal, async ({ tools }) => tools.map(({ name }) => name))

test('tools that change in whichever turn they were listed are listed once more', async () => {
  for (let turns = 0; turns < 12; turns += 1) {
    const server = new ChangingServer()
    const connections = open(server)
    const toolsNow = () => toolsOf(connections)
    expect(await toolsNow()).toEqual(['tool-0'])
    await new Promise<void>((changed) => {
      server.answering = (answer) => {
        server.answering = () => undefined
        void afterTurns(answer, turns, () => {
          server.change()
          changed()
        })
      }
      server.change()
    })
    expect([turns, ...(await toolsNow())]).toEqual([turns, 'tool-2'])
    await connections.stopped()
  }
})

test('tools that change in whichever turn they were first listed are listed once more', async () => {
  for (let turns = 0; turns < 12; turns += 1) {
    const server = new ChangingServer()
    server.answering = (answer) => {
      server.answering = () => undefined
      void afterTurns(answer, turns, () => server.change())
    }
    const connections = open(server)
    // A call that began before the change may have seen the list that was true then.
    await toolsOf(connections)
    expect([turns, ...(await toolsOf(connections))]).toEqual([turns, 'tool-1'])
    await connections.stopped()
  }
})

test('tools that change while what was first seen of them is stored are listed once more', async () => {
  const server = new ChangingServer()
  let seen = 0
  const connections = open(server, {
    seen: async () => {
      seen += 1
      if (seen === 1) server.change()
    },
  })
  expect(await toolsOf(connections)).toEqual(['tool-1'])
  expect(seen).toBe(2)
})

test('a connection that is being made when its server is removed is used by nobody', async () => {
  const server = new ChangingServer()
  const known = new Map([['notes', record]])
  const connections = open(server, {
    table: {
      find: (name) => {
        const found = known.get(name)
        if (!found) throw new GatehouseError('UpstreamNotFound', { upstream: name })
        return found
      },
    },
    seen: async () => {
      known.clear()
    },
  })
  await expect(toolsOf(connections)).rejects.toMatchObject({ type: 'UpstreamNotFound' })
  expect([connections.countOf('notes'), server.closes]).toEqual([0, 1])
})

const held = () => {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return { ended, end: () => end() }
}

/** Connections of single agents of which the first is made, and was listed, until `finished` ends. */
const openHeld = () => {
  const [first, second] = [new ChangingServer(), new ChangingServer()]
  const [begun, finished] = [held(), held()]
  let connects = 0
  const connections = open(second, {
    table: { find: () => ({ ...record, config: { ...record.config, per_agent: true } }) },
    host: {
      connect: async () => {
        connects += 1
        return connects === 1 ? first.connection : second.connection
      },
    },
    seen: async () => {
      if (connects > 1) return
      begun.end()
      await finished.ended
    },
  })
  return { connections, first, second, begun, finished, connects: () => connects }
}

test('a connection that is being made when its server ends ends before that resolves, and a call makes another', async () => {
  const { connections, first, second, begun, finished, connects } = openHeld()
  const call = toolsOf(connections)
  await begun.ended
  const ended = connections.end('notes')
  finished.end()
  await ended
  expect([first.closes, second.closes]).toEqual([1, 0])
  expect(await call).toEqual(['tool-0'])
  expect([connects(), connections.countOf('notes'), connections.failureOf('notes')]).toEqual([
    2,
    1,
    null,
  ])
})

test('a connection that is being made when its agent is revoked ends, and its call makes no other', async () => {
  const { connections, first, begun, finished, connects } = openHeld()
  const call = toolsOf(connections)
  call.catch(() => undefined)
  await begun.ended
  const ended = connections.endOfAgent('ada')
  finished.end()
  await ended
  await expect(call).rejects.toMatchObject({ type: 'AuthenticationFailed' })
  expect([first.closes, connects(), connections.countOf('notes')]).toEqual([1, 1, 0])
  expect(connections.failureOf('notes')).toBeNull()
  // Of an agent that was restored.
  expect(await toolsOf(connections)).toEqual(['tool-0'])
  expect(connects()).toBe(2)
})

test('a call that waits for tools that changed makes no other connection when its agent is revoked', async () => {
  const { connections, first, finished, connects } = openHeld()
  finished.end()
  expect(await toolsOf(connections)).toEqual(['tool-0'])
  const closed = held()
  first.connection.listTools = () => closed.ended.then(() => Promise.reject(new Error('closed')))
  first.connection.close = async () => closed.end()
  first.change()
  const call = toolsOf(connections)
  call.catch(() => undefined)
  await connections.endOfAgent('ada')
  await expect(call).rejects.toMatchObject({ type: 'AuthenticationFailed' })
  expect([connects(), connections.countOf('notes')]).toEqual([1, 0])
})

test('a server whose tools change whenever they are listed is listed no more than once in a while, and can be ended', async () => {
  const server = new ChangingServer()
  let lists = 0
  server.answering = () => {
    lists += 1
    if (lists > 20) throw new Error('it was listed again and again')
    server.change()
  }
  let wake = () => {}
  let pauses = 0
  const clock: Clock = {
    ...createClock(0),
    now: () => 0,
    sleep: () =>
      new Promise((resolve) => {
        pauses += 1
        wake = resolve
      }),
  }
  const connections = open(server, { clock })
  const caller = new AbortController()
  const call = connections.with('notes', 'ada', caller.signal, async ({ tools }) => tools)
  call.catch(() => undefined)
  const paused = (times: number) => until(() => pauses === times)
  await Promise.race([paused(1), call])
  expect([lists, connections.countOf('notes')]).toEqual([3, 1])
  wake()
  await paused(2)
  expect(lists).toBe(4)
  caller.abort(new Error('the caller has left'))
  await expect(call).rejects.toThrow('the caller has left')
  // Once it keeps them.
  const next = toolsOf(connections)
  server.answering = () => undefined
  wake()
  expect(await next).toEqual(['tool-4'])
  await connections.end('notes')
  expect([server.closes, connections.countOf('notes')]).toEqual([1, 0])
})
