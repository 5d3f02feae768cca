import { AgentName, type PersonRole, type Role } from '@gatehouse/contract'
import type { Kit } from '../kit.ts'
import { until } from '../until.ts'
import { change, loginHash, password, roles, seeded, seedMs } from './seeds.ts'

/** Tokens of people by their role, and that of the agent. */
export type Tokens = Readonly<Record<Role | 'mailbot', string>>

const fillPeople = async (kit: Kit): Promise<Record<PersonRole, string>> => {
  const op = kit.operator()
  await kit.app.setPassword(op, { name: 'ana', password, present: null })
  const now = kit.clock.now()
  await kit.storage.webSessions.insert({
    id_hash: loginHash,
    operator: 'ana',
    created_ms: now,
    expires_ms: now + 12 * 3_600_000,
  })
  const tokens: [PersonRole, string][] = []
  for (const role of roles) {
    const { token } = await kit.app.createUserToken(op, { label: `the ${role}`, role })
    tokens.push([role, token])
  }
  return Object.fromEntries(tokens) as Record<PersonRole, string>
}

/** One write that took place, one of which nobody knows, and one that waits. */
const fillMailbox = async (kit: Kit): Promise<void> => {
  const op = kit.operator()
  await kit.app.connectService(op, {
    kind: 'mail',
    settings: { address: 'mailbot@example.com' },
    secrets: { password: 'open sesame' },
    agents: ['mailbot'],
  })
  const status = async (id: string) =>
    (await kit.app.listWrites(op, { limit: 10, offset: 0 })).writes.find((one) => one.id === id)
      ?.status
  await until(async () => {
    const { services } = await kit.app.showProxy(op)
    return services[0]?.status === 'connected'
  })
  await kit.run('mailbot', 'mailbox.put', change)
  await kit.run('mailbot', 'mailbox.blind', { text: 'Hello' })
  kit.clock.move(30_000)
  await until(async () => (await status(seeded.doneWrite)) === 'executed')
  await until(async () => (await status(seeded.deadLetter)) === 'failed')
}

const fillModels = async (kit: Kit): Promise<void> => {
  const op = kit.operator()
  await kit.app.refreshCatalog(op)
  for (const id of ['tiny', 'odd']) {
    const { id: job_id } = await kit.app.installModel(op, { id })
    await until(async () => {
      return (await kit.app.showModelJob(op, { job_id })).status === 'done'
    })
  }
  await kit.app.setDefaultModel(op, { id: 'tiny' })
  await kit.app.startEngine(op, { model: 'tiny' })
  const { id: job_id } = await kit.app.installModel(op, { id: 'slow' })
  await until(async () => {
    return (await kit.app.showModelJob(op, { job_id })).downloaded_bytes > 0
  })
}

const fillAgent = async (kit: Kit): Promise<void> => {
  const op = kit.operator()
  await kit.run('mailbot', 'filesystem.write', { path: 'notes.txt', content: 'x' })
  await kit.run('mailbot', 'state.set', { key: 'notes/a', value: { open: true } })
  await kit.run('mailbot', 'shared.set', { key: 'notes/a', value: 'x' })
  await kit.run('mailbot', 'scheduler.create', {
    capability: 'email.search',
    arguments: { unread: true },
    schedule: '0 9 * * 1-5',
    time_zone: 'Europe/Berlin',
    description: 'Morning mail',
  })
  await kit.app.addSecret(op, {
    name: seeded.secret,
    value: 'ghp-nothing-that-opens-anything',
    description: 'Reads the issues',
    capabilities: ['network.credentialed_request'],
    hosts: ['api.github.com'],
    agents: ['mailbot'],
  })
  await kit.run('mailbot', 'network.credentialed_request', {
    url: 'https://api.github.com/user',
    secret_name: seeded.secret,
  })
  await kit.invoke('mailbot', 'git.push', { path: 'repository' })
}

/** One request that waits, and one that was approved for those after it, too. */
const fillApprovals = async (kit: Kit): Promise<void> => {
  await kit.pending('mailbot', 'email.send', {
    to: ['ana@example.com'],
    subject: 'Hello',
    body: 'Hi Ana',
  })
  const files = ['a.txt', 'b.txt', 'c.txt']
  for (const path of files) await kit.run('mailbot', 'filesystem.write', { path, content: 'x' })
  const [first = '', ...others] = files
  const id = await kit.pending('mailbot', 'filesystem.delete', { path: first })
  const remember = { ttl_seconds: 3_600, match: 'same_capability', uses: 5 } as const
  await kit.decide(id, 'approve', { remember })
  await kit.resolved('mailbot', id)
  for (const path of others) await kit.run('mailbot', 'filesystem.delete', { path })
}

/** Puts one of everything into a service whose clock stands a minute before the time of the rest. */
const fillUpstreams = async (kit: Kit): Promise<void> => {
  const op = kit.operator()
  const grants = { folders: [], hosts: [], environment: {} }
  const rest = { grants, credentials: {}, per_agent: true, dry_run: false }
  const name = seeded.upstream
  const { digest } = await kit.app.addUpstream(op, {
    name,
    server: { kind: 'stdio', command: 'notes-server', args: [] },
    ...rest,
  })
  await kit.app.acceptUpstream(op, { name, digest })
  await kit.app.addUpstream(op, {
    name: seeded.waitingUpstream,
    server: { kind: 'http', url: 'https://tickets.example/mcp' },
    ...rest,
  })
}

export const fill = async (kit: Kit): Promise<Tokens> => {
  const people = await fillPeople(kit)
  const op = kit.operator()
  const { token: mailbot } = await kit.app.createAgent(op, {
    name: 'mailbot',
    purpose: 'Answers mail',
    approvals: 'pending',
    mounts: [],
    tools: [],
    limits: [],
  })
  await kit.authenticate(mailbot)
  const alert = { message: 'The mailbox is nearly full.', severity: 'warning' }
  for (let times = 0; times < 2; times += 1) await kit.run('mailbot', 'alerts.send', alert)
  await fillMailbox(kit)
  await fillModels(kit)
  await fillUpstreams(kit)
  kit.clock.move(seedMs - kit.clock.wall())
  await kit.storage.nodes.put({
    ...{ name: seeded.node, place: 'gone.example:/var/lib/gatehouse', version: '0.1.0' },
    ...{ address: null, state: 'active', started_ms: seedMs, seen_ms: seedMs, facts_json: '{}' },
  })
  await fillAgent(kit)
  await fillApprovals(kit)
  await kit.run('mailbot', 'mailbox.put', { id: 'b', value: 'later' })
  const asks = { label: 'the hook', role: 'hook', agent: AgentName.parse('mailbot') } as const
  const { token: hook } = await kit.app.createUserToken(op, asks)
  return { ...people, hook, mailbot }
}
