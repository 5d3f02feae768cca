import type { AddUpstream } from '@gatehouse/contract'
import { createKit, type Kit } from '@gatehouse/testkit'
import { replacing } from '@gatehouse/testkit/replacing'
import { expect, test } from 'vitest'
import type { UpstreamConnection, UpstreamHost, WireTool } from '../../ports/upstream.ts'
import type { UpstreamLogins } from '../../ports/upstream-login.ts'
import { recordSeen } from './record-seen.ts'
import { orderOf, readRow, type UpstreamRecord } from './stored.ts'

const tool = (name: string, description = `Does ${name}.`): WireTool => ({
  name,
  description,
  inputSchema: { type: 'object' },
})

/** A server in this process; the test acts in between. */
class Between {
  tools: readonly WireTool[] = [tool('say')]
  connecting: () => Promise<unknown> = async () => undefined
  closing: () => Promise<unknown> = async () => undefined
  /** Once the next transaction stands, before whoever made it goes on. */
  committed: () => Promise<unknown> = async () => undefined
  /** As the login of an agent is ended, or all that is left of a server is forgotten. */
  forgetting: (what: string) => Promise<unknown> = async () => undefined
  /** Of whom the logins were ended. */
  readonly ended: (string | null)[] = []

  readonly #host: Pick<UpstreamHost, 'connect' | 'forget'> = {
    connect: async () => {
      await this.#once('connecting')
      return this.connection()
    },
    forget: async () => {
      await this.forgetting('its folders')
    },
  }

  readonly #logins: Pick<UpstreamLogins, 'end' | 'finish'> = {
    finish: async () => ({ agent: 'ben', issuer: 'https://as', client_id: 'c', scopes: [] }),
    end: async ({ agent }) => {
      this.ended.push(agent)
      await this.forgetting(`the login of ${agent}`)
      return { revoked: true }
    },
  }

  async #once(hook: 'connecting' | 'closing' | 'committed'): Promise<void> {
    const act = this[hook]
    this[hook] = async () => undefined
    await act()
  }

  connection(tools = this.tools): UpstreamConnection {
    return {
      identity: { name: 'notes', version: '1', protocol: '2025-11-25' },
      certificate: null,
      tellsChanges: false,
      changingLists: [],
      isForgotten: false,
      listTools: async () => tools,
      call: async () => ({ content: [{ type: 'text', text: 'said' }] }),
      onListChanged: () => undefined,
      onForgotten: () => undefined,
      closed: new Promise<string>(() => undefined),
      hostsRefused: () => [],
      close: () => this.#once('closing'),
    } as unknown as UpstreamConnection
  }

  async open(): Promise<Kit> {
    const kit = await createKit({
      policy: 'version: 1\nrules:\n  - {match: notes.*, tier: autonomous}\n',
      parts: ({ upstreams, auditLog }) => ({
        upstreams: {
          ...upstreams,
          host: replacing(upstreams.host, this.#host),
          logins: replacing(upstreams.logins, this.#logins),
        },
        auditLog: replacing(auditLog, {
          transaction: async (work) => {
            const done = await auditLog.transaction(work)
            await this.#once('committed')
            return done
          },
        }),
      }),
    })
    await kit.agent('ada')
    return kit
  }
}

const order = (change: Partial<AddUpstream> = {}): AddUpstream => ({
  name: 'notes',
  server: { kind: 'http', url: 'https://notes.example/mcp' },
  grants: { folders: [], hosts: [], environment: {} },
  credentials: {},
  per_agent: true,
  dry_run: false,
  ...change,
})

const withToken = (value: string, change: Partial<AddUpstream> = {}) =>
  order({ credentials: { authorization: { value } }, ...change })

/** Value of the credential that is kept for the server; null where there is none. */
const keptToken = async ({ parts, storage }: Kit): Promise<string | null> => {
  const name = 'service:upstream.notes.authorization'
  if (!(await storage.secrets.find(name))) return null
  const use = { name, agent: null, capability: 'service:upstream.notes', host: null }
  let kept = ''
  await parts.secrets.use(use, async (value) => {
    kept = value
  })
  return kept
}

const ready = async (kit: Kit): Promise<void> => {
  const op = kit.operator()
  const { digest } = await kit.app.addUpstream(op, order())
  await kit.app.acceptUpstream(op, { name: 'notes', digest })
  await kit.run('ada', 'notes.say')
}

test.each([false, true])(
  'of two who add a server at once one adds it, and its credential stays (the first only tries it: %s)',
  async (dry_run) => {
    const between = new Between()
    await using kit = await between.open()
    const op = kit.operator()
    const add = (input: AddUpstream) => kit.app.addUpstream(op, input)
    const refused: unknown[] = []
    between.connecting = async () => {
      // The token of the first is on its way to the server.
      await add(withToken('token-of-the-second')).catch((cause: unknown) => refused.push(cause))
    }
    await add(withToken('token-of-the-first', { dry_run }))
    expect(refused).toMatchObject([
      { type: 'Conflict', message: expect.stringContaining('try again in a moment') },
    ])
    expect(await keptToken(kit)).toBe(dry_run ? null : 'token-of-the-first')
    expect(await kit.storage.upstreams.list()).toHaveLength(dry_run ? 0 : 1)
  },
)

test('a try that fails keeps nothing, and the next one begins at once', async () => {
  const between = new Between()
  await using kit = await between.open()
  const op = kit.operator()
  between.connecting = () => Promise.reject(new Error('gone'))
  await expect(kit.app.addUpstream(op, withToken('token-of-the-first'))).rejects.toThrow('gone')
  expect(await keptToken(kit)).toBeNull()
  await kit.app.addUpstream(op, withToken('token-of-the-second'))
  expect(await keptToken(kit)).toBe('token-of-the-second')
  await kit.app.removeUpstream(op, { name: 'notes' })
  expect(await keptToken(kit)).toBeNull()
})

test('a removed server stays removed, whatever was stored of it while its connections ended', async () => {
  const between = new Between()
  await using kit = await between.open()
  await ready(kit)
  const op = kit.operator()
  between.tools = [tool('say'), tool('more')]
  between.closing = () => kit.app.refreshUpstream(op, { name: 'notes' })
  await kit.app.removeUpstream(op, { name: 'notes' })
  expect(() => kit.parts.upstreams.table.find('notes')).toThrow('notes')
  expect(await kit.invoke('ada', 'notes.say')).toMatchObject({ kind: 'unknown' })
})

test('a removed server is not offered by what was stored before and goes on after', async () => {
  const between = new Between()
  await using kit = await between.open()
  await ready(kit)
  const op = kit.operator()
  between.tools = [tool('say'), tool('more')]
  between.committed = () => kit.app.removeUpstream(op, { name: 'notes' })
  await expect(kit.app.refreshUpstream(op, { name: 'notes' })).rejects.toMatchObject({
    type: 'UpstreamNotFound',
  })
  expect(() => kit.parts.upstreams.table.find('notes')).toThrow('notes')
  expect(await kit.invoke('ada', 'notes.say')).toMatchObject({ kind: 'unknown' })
  // One that is added under its name in the same moment is another server.
  await ready(kit)
  expect(kit.parts.upstreams.table.find('notes').name).toBe('notes')
})

test('the login of an agent that is finished while its server is removed ends with it', async () => {
  const between = new Between()
  await using kit = await between.open()
  await ready(kit)
  const op = kit.operator()
  const redirected = 'http://127.0.0.1:4711/callback'
  between.closing = () => kit.app.finishUpstreamLogin(op, { name: 'notes', redirected })
  await kit.app.removeUpstream(op, { name: 'notes' })
  expect(between.ended).toEqual([null, 'ben'])
})

test('nobody adds a server of the name before all of the removed one is gone, however long that takes', async () => {
  const between = new Between()
  await using kit = await between.open()
  await ready(kit)
  const op = kit.operator()
  const redirected = 'http://127.0.0.1:4711/callback'
  await kit.app.finishUpstreamLogin(op, { name: 'notes', redirected })
  const met: string[] = []
  between.forgetting = async (what) => {
    // Shorter than a turn, and two of them longer.
    kit.clock.move(100_000)
    const added = await kit.app.addUpstream(op, withToken('token-of-another')).then(
      () => 'added',
      ({ type }: { type: string }) => type,
    )
    met.push(`${what}: ${added}`)
  }
  await kit.app.removeUpstream(op, { name: 'notes' })
  expect(met).toEqual([
    'the login of null: Conflict',
    'the login of ben: Conflict',
    'its folders: Conflict',
  ])
  expect(await keptToken(kit)).toBeNull()
})

test('what two connections show at once is put together, each with what the other has stored', async () => {
  const between = new Between()
  await using kit = await between.open()
  await ready(kit)
  const record: UpstreamRecord = readRow((await kit.storage.upstreams.find('notes')) as never)
  const own = { authorization: 'a-secret' }
  const config = { ...record.config, agent_credentials: { ada: own, ben: own } }
  const orderFor = (agent: string) => orderOf({ ...record, config }, agent)
  const { auditLog, clock, ids, log, digest, secrets } = kit.parts
  const deps = {
    ...{ auditLog, clock, ids, log, digest, secrets, storage: kit.storage },
    ...kit.parts.upstreams,
    connections: {} as never,
    signal: new AbortController().signal,
  }
  const see = (agent: string, tools: readonly WireTool[], given = deps) =>
    recordSeen(given, orderFor(agent), between.connection(tools), tools)
  let finds = 0
  const upstreams = replacing(kit.storage.upstreams, {
    find: async (name) => {
      const found = await kit.storage.upstreams.find(name)
      finds += 1
      if (finds === 1) await see('ada', [tool('say', 'Says it louder.'), tool('new')])
      return found
    },
  })
  await see('ben', [tool('other')], { ...deps, storage: replacing(kit.storage, { upstreams }) })
  const { seen } = readRow((await kit.storage.upstreams.find('notes')) as never)
  expect(seen?.tools).toEqual([tool('say', 'Says it louder.'), tool('new'), tool('other')])
  // The same again is nothing new.
  const version = (await kit.storage.upstreams.find('notes'))?.change_number
  await see('ben', [tool('other')])
  expect((await kit.storage.upstreams.find('notes'))?.change_number).toBe(version)
})
