import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '@gatehouse/testkit'
import { until } from '@gatehouse/testkit/until'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { exportedEntries } from '../packages/cli/src/selftest/exported-entries.ts'
import { createDatabase, query } from '../packages/server/src/storage/postgres/testing.ts'
import { openDatabaseAddress, portOf } from './support/database-address.ts'
import { Installation, invokeOnce as invoke, pause, type Run } from './support/server.ts'

// GATEHOUSE_FULL=1 runs all of it, which takes the better part of an hour; GATEHOUSE_CHAOS_CALLS makes it smaller.
const full = process.env['GATEHOUSE_FULL'] === '1'
const size = full
  ? { calls: Number(process.env['GATEHOUSE_CHAOS_CALLS'] ?? 60_000), agents: 200, rounds: 30 }
  : { calls: 400, agents: 8, rounds: 3 }
const stopMs = full ? 30_000 : 1_000
const cutMs = full ? 15_000 : 1_000

const script = fileURLToPath(new URL('../scripts/verify_audit.py', import.meta.url))

const server = await startPostgres()
const missing = 'missing' in server ? server.missing : null
afterAll(async () => {
  if ('stop' in server) await server.stop()
})

const whoamiMax = 20
const [listMax, listWindowMs] = [10, 5_000]
const policy = `version: 1
rules:
  - { match: filesystem.append, tier: approval_required }
limits:
  - { match: agent.whoami, limit: ${whoamiMax}, window: 1h }
  - { match: state.list, limit: ${listMax}, window: ${listWindowMs / 1000}s }
`

type Node = {
  readonly gate: Installation
  readonly flags: readonly string[]
  readonly address: Awaited<ReturnType<typeof openDatabaseAddress>>
}

/**
 * Three nodes, each with its own way to the database. Two share a folder of workspaces; the third has none of these agents, and forwards
 * what reaches into them.
 */
const startNodes = async (databaseUrl: string): Promise<readonly Node[]> => {
  const nodes: Node[] = []
  for (let at = 0; at < 3; at += 1) {
    const address = await openDatabaseAddress(portOf(databaseUrl))
    const url = new URL(databaseUrl)
    url.port = String(address.port)
    const node = { gate: new Installation(), flags: ['--database-url', url.href], address }
    onTestFinished(async () => {
      await node.gate[Symbol.asyncDispose]()
      address[Symbol.dispose]()
    })
    const first = nodes[0]?.gate.dataDir
    for (const file of first ? ['vault.key', 'policy.key', 'tls/ca.pem', 'tls/ca-key.pem'] : [])
      cpSync(join(first ?? '', file), join(node.gate.dataDir, file), { recursive: true })
    if (first && at === 1)
      symlinkSync(join(first, 'workspaces'), join(node.gate.dataDir, 'workspaces'))
    await node.gate.start(node.flags)
    if (!first) await api(node, 'PUT', 'policies/organisation', { text: policy })
    nodes.push(node)
  }
  // Each follows it in its own time, and until then lets through what is to wait for a person.
  const versions = async () =>
    new Set(await Promise.all(nodes.map(async (node) => (await policyOf(node)).version))).size
  await expect.poll(versions).toBe(1)
  return nodes
}

const policyOf = (node: Node) => api<{ readonly version: string }>(node, 'GET', 'policies')

/** A limited call that was let through, by when it was asked for and when it was answered. */
type Use = { readonly askedMs: number; readonly answeredMs: number }

/** What clients were told. */
class Acknowledged {
  readonly keys: string[] = []
  readonly whoami = new Map<string, number>()
  readonly lists = new Map<string, Use[]>()
  readonly asked: string[] = []

  get count(): number {
    const uses = [...this.lists.values()].reduce((sum, list) => sum + list.length, 0)
    return this.keys.length + this.asked.length + uses
  }
}

const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T

type Call = (capability: string, args: object) => ReturnType<typeof invoke>

/** Calls of a client: whether each was acknowledged, which is noted. */
const kindsOfCalls = {
  async append(call: Call, seen: Acknowledged, _name: string, mark: string) {
    const { error } = await call('filesystem.append', {
      ...{ path: 'approved.log', content: `${mark}\n` },
    })
    if (!error?.data?.['approval_id']) return false
    seen.asked.push(mark)
    return true
  },
  async whoami(call: Call, seen: Acknowledged, name: string) {
    const { result } = await call('agent.whoami', {})
    if (!result?.success) return false
    seen.whoami.set(name, (seen.whoami.get(name) ?? 0) + 1)
    return true
  },
  async list(call: Call, seen: Acknowledged, name: string) {
    const askedMs = performance.now()
    const { result } = await call('state.list', {})
    const use = { askedMs, answeredMs: performance.now() }
    if (!result?.success) return false
    seen.lists.set(name, [...(seen.lists.get(name) ?? []), use])
    return true
  },
  async set(call: Call, seen: Acknowledged, _name: string, mark: string) {
    const { result } = await call('state.set', { key: mark, value: mark })
    if (!result?.success) return false
    seen.keys.push(mark)
    return true
  },
}
const { append, whoami, list, set } = kindsOfCalls
const order = [append, whoami, list, list, set, set, set, set] as const

/** One client of an agent, which goes from node to node. */
const work = async (
  nodes: readonly Node[],
  { name, token }: { readonly name: string; readonly token: string },
  seen: Acknowledged,
  over: AbortSignal,
): Promise<void> => {
  for (let n = 0; !over.aborted; n += 1) {
    const { run } = pick(nodes).gate
    const call: Call = (capability, args) => invoke(run as Run, token, capability, args)
    // The connection may end in the middle, or the node is not there: nothing was acknowledged then.
    const made = (order[n % order.length] ?? set)(call, seen, name, `${name}-${n}`)
    // A refusal that is answered at once, as of a machine that is too busy, is not asked for again at once.
    if (!(await made.catch(() => false))) await pause(50)
  }
}

type Approval = {
  readonly id: string
  readonly status: string
  readonly arguments: { readonly content: string }
  readonly execution: { readonly state: string }
}

const api = async <T>(
  { gate }: Node,
  method: string,
  path: string,
  body: object = {},
): Promise<T> => {
  const token = readFileSync(join(gate.dataDir, 'cli-token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(`${gate.run?.user_api_url}/api/${path}`, {
    ...{ method, headers },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  })
  return (await answer.json()) as T
}

/** Somebody who approves what is asked, on whichever node is there, and sometimes on two at once. */
const approve = async (nodes: readonly Node[], over: AbortSignal): Promise<void> => {
  while (!over.aborted) {
    try {
      const { approvals } = await api<{ approvals: Approval[] }>(pick(nodes), 'GET', 'approvals')
      const decide = (id: string) =>
        api(pick(nodes), 'POST', `approvals/${id}/approve`).catch(() => null)
      await Promise.all(approvals.slice(0, 20).flatMap(({ id }) => [decide(id), decide(id)]))
    } catch {
      // That node is not there now.
    }
    await pause(20)
  }
}

const disturbances = {
  kill: async ({ gate, flags }: Node) => {
    await gate.kill()
    await gate.start(flags)
  },
  stop: async ({ gate }: Node) => {
    const pid = gate.run?.pid ?? 0
    process.kill(pid, 'SIGSTOP')
    await pause(stopMs)
    process.kill(pid, 'SIGCONT')
  },
  cut: async ({ address }: Node, databaseUrl: string) => {
    address.pointTo(null)
    await pause(cutMs)
    address.pointTo(portOf(databaseUrl))
  },
}

/** The most uses that lay in one window for certain, whenever each of them was counted. */
const mostInWindow = (uses: readonly Use[], windowMs: number): number =>
  Math.max(
    0,
    ...uses.map(
      ({ askedMs: from }) =>
        uses.filter(({ askedMs, answeredMs }) => askedMs >= from && answeredMs < from + windowMs)
          .length,
    ),
  )

const approvedIn = async (node: Node): Promise<readonly Approval[]> => {
  const found: Approval[] = []
  for (let total = 1; found.length < total; ) {
    const path = `approvals?status=approved&limit=100&offset=${found.length}`
    const page = await api<{ approvals: Approval[]; total: number }>(node, 'GET', path)
    found.push(...page.approvals)
    total = page.total
    if (page.approvals.length === 0) break
  }
  return found
}

test.skipIf(missing !== null)(
  `three nodes that are killed, stopped and cut off lose nothing, exceed no limit and run nothing twice${missing === null ? '' : ` (skipped: ${missing})`}`,
  async () => {
    await using database = await createDatabase('url' in server ? server.url : '')
    const nodes = await startNodes(database.url)
    const [first] = nodes as [Node, ...Node[]]
    const agents = []
    for (let at = 0; at < size.agents; at += 1) {
      const name = `agent-${at}`
      const { token } = await api<{ token: string }>(first, 'POST', 'agents', { name })
      writeFileSync(join(first.gate.dataDir, 'workspaces', name, 'approved.log'), '')
      agents.push({ name, token })
    }
    const seen = new Acknowledged()
    const over = new AbortController()
    const working = [
      ...agents.map((agent) => work(nodes, agent, seen, over.signal)),
      approve(nodes, over.signal),
    ]
    const kinds = ['kill', 'stop', 'cut'] as const
    for (let round = 0; round < size.rounds || seen.count < size.calls; round += 1) {
      const target = Math.min(size.calls, ((round + 1) * size.calls) / size.rounds)
      await until(async () => seen.count >= target)
      // Each kind once, then any of them.
      await disturbances[kinds[round] ?? pick(kinds)](pick(nodes), database.url)
    }
    over.abort()
    await Promise.all(working)

    let approvals: readonly Approval[] = []
    await until(async () => {
      approvals = await approvedIn(first)
      return !approvals.some(({ execution }) => ['waiting', 'running'].includes(execution.state))
    })
    // What was acknowledged is in the store, in the log, and the log of each node is whole.
    const [stored] = await query(database.url, 'select key from state')
    const keys = new Set((stored?.rows as { key: string }[]).map(({ key }) => key))
    expect(seen.keys.filter((key) => !keys.has(key))).toEqual([])
    // Of one that was down, others hear within two seconds that it is back.
    for (const { gate } of nodes)
      await expect
        .poll(async () => (await gate.cli(['audit', 'verify', '--json'])).stdout)
        .toMatch(/"integrity": ?"verified"/)
    // Counted before: each goes on writing to its own.
    const [copied] = await query(database.url, 'select count(*) as n from audit_copies')
    const entries = await exportedEntries(first.gate)
    expect(entries.length).toBeGreaterThanOrEqual(Number(copied?.rows[0].n))
    const recorded = new Set(
      entries
        .filter(({ capability, result }) => capability === 'state.set' && result === 'success')
        .map(({ arguments: args }) => args['key']),
    )
    expect(seen.keys.filter((key) => !recorded.has(key))).toEqual([])
    // All logs are under one root, which a node that stops makes where it is its turn, or another one made before.
    await nodes.at(-1)?.gate.stop()
    const root = { logs: nodes.length }
    const verified = { integrity: 'verified', root }
    expect(await first.gate.json(['audit', 'verify'])).toMatchObject(verified)
    const file = join(first.gate.dataDir, 'export.jsonl')
    await first.gate.cli(['audit', 'export', '--output', file])
    expect(await first.gate.json(['audit', 'verify', '--export', file])).toMatchObject(verified)
    const python = spawnSync('python3', [script, file], { encoding: 'utf8' })
    if (!python.error) expect(JSON.parse(python.stdout)).toMatchObject(verified)

    // No limit was exceeded.
    expect(Math.max(0, ...seen.whoami.values())).toBeLessThanOrEqual(whoamiMax)
    for (const uses of seen.lists.values())
      expect(mostInWindow(uses, listWindowMs)).toBeLessThanOrEqual(listMax)

    // What was approved ran at most once, and as its state says.
    const ran = agents.flatMap(({ name }) => {
      const file = join(first.gate.dataDir, 'workspaces', name, 'approved.log')
      return readFileSync(file, 'utf8').split('\n').filter(Boolean)
    })
    const states = new Map(
      approvals.map(({ arguments: args, execution }) => [args.content.trim(), execution.state]),
    )
    expect(ran.filter((mark, at) => ran.indexOf(mark) !== at)).toEqual([])
    const missed = [...states].filter(
      ([mark, state]) => state === 'succeeded' && !ran.includes(mark),
    )
    expect(missed).toEqual([])
    const odd = ran.filter((mark) => !['succeeded', 'interrupted'].includes(states.get(mark) ?? ''))
    expect(odd).toEqual([])
    expect(states.size).toBeGreaterThan(0)
    expect(seen.lists.size).toBeGreaterThan(0)
    if (full)
      process.stderr.write(
        `${seen.count} acknowledged, of them ${seen.keys.length} values; ${states.size} approved, ${ran.length} ran; ${entries.length} entries\n`,
      )
  },
  full ? 3_600_000 : undefined,
)
