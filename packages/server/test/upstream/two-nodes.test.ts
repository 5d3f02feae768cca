import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const notes = {
  name: 'notes',
  server: 'notes-server',
  version: '1.0.0',
  protocol: '2025-11-25',
  tools: [{ name: 'add', inputSchema: { type: 'object' } }],
}

test('a node takes in what another has changed', async () => {
  // What stands in the store is all that one node knows of another.
  await using kit = await createKit({
    storage: (opened) =>
      new Proxy(opened, { get: (to, key) => (key === 'isShared' ? true : Reflect.get(to, key)) }),
  })
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
