import { createKit, type KitOptions } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { outboundWith } from '../../src/outbound/testing.ts'
import { openNotes } from './features-server.ts'

// What stands in the store is all that one node knows of another.
const shared: Pick<KitOptions, 'storage'> = {
  storage: (opened) =>
    new Proxy(opened, {
      get: (to, key) => (key === 'isShared' || key === 'isNetworked' ? true : Reflect.get(to, key)),
    }),
}

const notes = {
  name: 'notes',
  server: 'notes-server',
  version: '1.0.0',
  protocol: '2025-11-25',
  tools: [{ name: 'add', inputSchema: { type: 'object' } }],
}

test('a node takes in what another has changed', async () => {
  await using kit = await createKit(shared)
  const row = {
    name: 'notes',
    config_json: JSON.stringify({
      server: { kind: 'stdio', command: 'notes', args: [] },
      grants: { folders: [], hosts: [], environment: {} },
      credentials: {},
      per_agent: true,
    }),
    accepted_json: JSON.stringify({
      server: 'notes-server',
      tools: [{ position: 0, hash: 'sha256:ab', definition: notes.tools[0] }],
    }),
    seen_json: null,
    change_number: 1,
    added_ms: 0,
    seen_ms: null,
  }
  const names = () =>
    kit.registry
      .list()
      .filter(({ group }) => group === 'notes')
      .map(({ name }) => name)
  await kit.storage.upstreams.put(row)
  const look = async (expected: readonly string[]) => {
    kit.clock.move(2_000)
    await expect.poll(names).toEqual(expected)
  }
  await look(['notes.add'])
  const changed = JSON.parse(row.accepted_json)
  changed.tools.push({
    position: 1,
    hash: 'sha256:cd',
    definition: { name: 'list', inputSchema: { type: 'object' } },
  })
  await kit.storage.upstreams.put({
    ...row,
    accepted_json: JSON.stringify(changed),
    change_number: 2,
  })
  await look(['notes.add', 'notes.list'])
  await kit.storage.upstreams.remove('notes')
  await look([])
})

test('a node calls nothing over the connection of a server that another node has replaced', async () => {
  await using first = await openNotes()
  await using second = await openNotes()
  const outbound = outboundWith({
    privateTargets: [new URL(first.url).host, new URL(second.url).host],
  })
  await using kit = await createKit({ ...shared, outbound })
  const { digest } = await kit.app.addUpstream(kit.operator(), {
    name: 'notes',
    server: { kind: 'http', url: first.url },
    grants: { folders: [], hosts: [], environment: {} },
    credentials: {},
    per_agent: true,
    dry_run: false,
  })
  await kit.app.acceptUpstream(kit.operator(), { name: 'notes', digest })
  await kit.parts.policy.save({
    text: 'version: 1\nrules:\n  - {match: notes.*, tier: autonomous}\n',
  })
  await kit.agent('alpha')
  const call = () => kit.invoke('alpha', 'notes.of_region', { region: 'x' })
  const calls = ({ requests }: typeof first) =>
    requests.filter(({ headers }) => headers['mcp-method'] === 'tools/call').length
  expect(await call()).toMatchObject({ kind: 'succeeded' })

  const row = await kit.storage.upstreams.find('notes')
  if (!row) throw new Error('it was not kept')
  await kit.storage.upstreams.remove('notes')
  await kit.storage.upstreams.put({
    ...row,
    config_json: row.config_json.replace(first.url, second.url),
    added_ms: row.added_ms + 1,
  })
  kit.clock.move(2_000)
  await expect.poll(() => first.requests.every(({ socket }) => socket.destroyed)).toBe(true)
  expect(await call()).toMatchObject({ kind: 'succeeded' })
  expect([calls(first), calls(second)]).toEqual([1, 1])
})
