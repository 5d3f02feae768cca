import type { StoredNode } from '@gatehouse/server/ports/nodes'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { signLink } from './node-link.ts'
import { Ways } from './ways.ts'

const openKit = async (): Promise<Kit> => {
  const opened: { kit: Kit | null } = { kit: null }
  const wallMs = async () => opened.kit?.clock.wall() ?? 0
  opened.kit = await createKit({
    storage: (own) => ({ ...own, isShared: true, isNetworked: true, wallMs }),
  })
  return opened.kit
}

/** Parts of a node that has the key. */
const depsOf = ({ storage, clock, parts }: Kit, site: string | null = 'site-a', key = 'ours') => ({
  ...{ storage, clock, node: parts.node, registry: parts.registry, digest: parts.digest },
  ...{ workspaces: { site }, policyShare: { key: (): string | null => key } },
})

const waysOf = (kit: Kit, site?: string | null): Ways => new Ways(depsOf(kit, site))

const linkOf = (kit: Kit, name: string, url = `http://${name}.example:7700`, key?: string) =>
  signLink(depsOf(kit, null, key), name, { url, certificate: `of ${name}` })

const putNode = async (
  kit: Kit,
  { name, ...facts }: { readonly name: string } & Readonly<Record<string, unknown>>,
  over: Partial<StoredNode> = {},
): Promise<void> => {
  const nowMs = kit.clock.wall()
  await kit.storage.nodes.put({
    ...{ name, place: `${name}:/data`, version: '0.1.0', address: `http://${name}.example:7700` },
    ...{ state: 'active', started_ms: nowMs, seen_ms: nowMs },
    facts_json: JSON.stringify({ site: 'site-b', link: linkOf(kit, name), ...facts }),
    ...over,
  })
}

const away = { name: 'alpha', site: 'site-b' }

test('an agent is away where its folder is that of another node, and never where there is one folder', async () => {
  await using kit = await openKit()
  const ways = waysOf(kit)
  expect(ways.areNeeded).toBe(true)
  expect([away, { site: 'site-a' }, { site: null }].map((agent) => ways.isAway(agent))).toEqual([
    ...[true, false, false],
  ])
  expect(await ways.to({ name: 'alpha', site: 'site-a' })).toBeNull()
  const alone = waysOf(kit, null)
  expect(alone.areNeeded).toBe(false)
  expect(alone.isAway(away)).toBe(false)
})

test.each<[string, object, boolean]>([
  ['filesystem.read', { path: 'a' }, true],
  ['filesystem.unwatch', { watch_id: 'w' }, true],
  ['process.list', {}, true],
  ['git.status', {}, true],
  ['network.download', { path: 'a', url: 'https://a.example' }, true],
  ['email.send', { to: ['a@b.example'], attachments: ['a'] }, true],
  ['email.send', { to: ['a@b.example'] }, false],
  ['state.get', { key: 'k' }, false],
  ['tools.call', { name: 'filesystem__read', arguments: { path: 'a' } }, true],
  ['tools.call', { name: 'state__get', arguments: { key: 'k' } }, false],
  ['nothing.known', { path: 'a' }, false],
])('whether a call of %s with %j is for the node with the folders: %s', async (...row) => {
  const [capability, args, expected] = row
  await using kit = await openKit()
  expect(waysOf(kit).isOfNode({ capability, arguments: args })).toBe(expected)
})

test('the way leads to a node that runs and has the folder, to one that drains where no other has it', async () => {
  await using kit = await openKit()
  const ways = waysOf(kit)
  const later = () => kit.clock.move(1_000)
  expect(await ways.to(away)).toBeNull()
  await putNode(kit, { name: 'b' }, { state: 'draining' })
  // What is known is a second old at most.
  expect(await ways.to(away)).toBeNull()
  later()
  expect(await ways.to(away)).toEqual({
    ...{ node: 'b', site: 'site-b', url: 'http://b.example:7700' },
    ...{ host: 'b.example', port: 7700, certificate: 'of b' },
  })
  await putNode(kit, { name: 'c', link: linkOf(kit, 'c', 'http://[fd00::3]:7701') })
  await putNode(kit, { name: 'd', site: 'site-d' })
  await putNode(kit, { name: 'e', site: 'site-a' })
  later()
  expect(await ways.to(away)).toMatchObject({ node: 'c', host: 'fd00::3', port: 7701 })
  expect((await ways.all()).map(({ node }) => node)).toEqual(['c', 'd', 'b'])
  expect(await ways.isKnown('of b')).toBe(true)
  expect(await ways.isKnown('of e')).toBe(true)
})

test.each<[string, Readonly<Record<string, null>>, Partial<StoredNode>]>([
  ['has stopped', {}, { state: 'stopped' }],
  ['is missing', {}, { seen_ms: 0 }],
  ['has an older version, or does not listen', { link: null }, {}],
  ['has no folder', { site: null }, {}],
])('no way leads to a node that %s', async (_, facts, over) => {
  await using kit = await openKit()
  const ways = waysOf(kit)
  await putNode(kit, { name: 'b', ...facts }, over)
  expect(await ways.to(away)).toBeNull()
  expect(await ways.all()).toEqual([])
})

test('a link that no node of the installation signed leads nowhere, and its certificate is a stranger', async () => {
  await using kit = await openKit()
  const ways = waysOf(kit)
  const genuine = linkOf(kit, 'b')
  const forged = [
    // Written by somebody who has no key, or another one.
    { ...genuine, mac: '' },
    { ...genuine, mac: 5 },
    {},
    linkOf(kit, 'b', 'http://b.example:7700', 'theirs'),
    // Another place, another certificate, or the link of another node.
    { ...genuine, url: 'http://evil.example:7700' },
    { ...genuine, certificate: 'of evil' },
    linkOf(kit, 'c'),
  ]
  for (const link of forged) {
    await putNode(kit, { name: 'b', link })
    kit.clock.move(1_000)
    expect(await ways.to(away)).toBeNull()
    expect(await ways.all()).toEqual([])
    const known = ways.isKnown(link && 'certificate' in link ? String(link.certificate) : '')
    kit.clock.move(100)
    expect(await known).toBe(false)
  }
  const keyless = new Ways({ ...depsOf(kit), policyShare: { key: () => null } })
  await putNode(kit, { name: 'b', link: genuine })
  expect(await keyless.to(away)).toBeNull()
  expect(signLink({ ...depsOf(kit), policyShare: { key: () => null } }, 'b', genuine)).toBeNull()
  kit.clock.move(1_000)
  expect(await ways.to(away)).toMatchObject({ node: 'b' })
})

test('agents are spread over the nodes that see one folder, each always to the same', async () => {
  await using kit = await openKit()
  const ways = waysOf(kit)
  await putNode(kit, { name: 'b' })
  await putNode(kit, { name: 'c' })
  const nodeOf = async (name: string) => (await ways.to({ ...away, name }))?.node
  const names = Array.from({ length: 40 }, (_, at) => `agent-${at}`)
  const nodes = await Promise.all(names.map(nodeOf))
  expect(nodes.filter((node) => node === 'b').length).toBeGreaterThan(10)
  expect(nodes.filter((node) => node === 'c').length).toBeGreaterThan(10)
  expect(await Promise.all(names.map(nodeOf))).toEqual(nodes)
})

test('a node that could not be reached is left alone for a second, and why is told until it is reached', async () => {
  await using kit = await openKit()
  const ways = waysOf(kit)
  await putNode(kit, { name: 'b' })
  await putNode(kit, { name: 'c' })
  const [first, second] = [(await ways.to(away))?.node ?? '', 'b', 'c'].filter(
    (name, at, all) => all.indexOf(name) === at,
  )
  ways.failed({ node: first ?? '', url: 'http://n' }, 'ECONNREFUSED')
  expect(await ways.to(away)).toMatchObject({ node: second })
  ways.failed({ node: second ?? '', url: 'http://n' }, 'ECONNREFUSED')
  expect(await ways.to(away)).toBeNull()
  kit.clock.move(1_000)
  expect(await ways.to(away)).toMatchObject({ node: first })
  expect(ways.faultOf('b')).toBe('http://n: ECONNREFUSED')
  ways.reached('b')
  expect(ways.faultOf('b')).toBeNull()
})

test('a node that has just started is known, and the database is asked for a stranger ten times a second at most', async () => {
  await using kit = await openKit()
  let asked = 0
  const { nodes } = kit.storage
  const list = () => {
    asked += 1
    return nodes.list()
  }
  let waits = 0
  const clock = {
    now: () => kit.clock.now(),
    sleep: (ms: number) => {
      waits += 1
      return kit.clock.sleep(ms)
    },
  }
  const storage = { ...kit.storage, nodes: { ...nodes, list } }
  const ways = new Ways({ ...depsOf(kit), storage, clock })
  await ways.all()
  await putNode(kit, { name: 'b' })
  const looks = ['of b', 'of x', 'of y'].map((certificate) => ways.isKnown(certificate))
  await expect.poll(() => waits).toBe(3)
  expect(asked).toBe(1)
  kit.clock.move(100)
  expect(await Promise.all(looks)).toEqual([true, false, false])
  expect(asked).toBe(2)
})

test('a database that does not answer is asked again by the next one', async () => {
  await using kit = await openKit()
  let fails = true
  const { nodes } = kit.storage
  const list = async () => {
    if (fails) throw new Error('away')
    return nodes.list()
  }
  const storage = { ...kit.storage, nodes: { ...nodes, list } }
  const ways = new Ways({ ...depsOf(kit), storage })
  await putNode(kit, { name: 'b' })
  await expect(ways.to(away)).rejects.toThrow('away')
  fails = false
  expect(await ways.to(away)).toMatchObject({ node: 'b' })
})
