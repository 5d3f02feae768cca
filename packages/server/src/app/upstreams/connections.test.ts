import { afterTurns } from '@gatehouse/testkit/after-turns'
import { expect, test } from 'vitest'
import { createClock } from '../../platform/clock.ts'
import type { ServerList, UpstreamConnection, WireTool } from '../../ports/upstream.ts'
import { Connections } from './connections.ts'
import type { UpstreamRecord } from './stored.ts'

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
    close: async () => undefined,
  } as unknown as UpstreamConnection

  change(): void {
    this.#changes += 1
    this.#tell('tools')
  }
}

test('tools that change in whichever turn they were listed are listed once more', async () => {
  const { signal } = new AbortController()
  for (let turns = 0; turns < 12; turns += 1) {
    const server = new ChangingServer()
    const connections = new Connections({
      host: { connect: async () => server.connection },
      table: { find: () => record },
      clock: createClock(0),
      log: { warn: () => undefined } as never,
      settings: { 'upstream.idle': 60_000 },
      signal,
      seen: async () => undefined,
      listChanged: () => undefined,
    })
    const toolsNow = () =>
      connections.with('notes', 'ada', signal, async ({ tools }) => tools.map(({ name }) => name))
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
