// Something to see on every page: agents, calls, requests, a shared value, a secret. Real calls through the gate.

/**
 * What the gateway answers to a message of an agent.
 *
 * @returns {Promise<any>}
 */
const ask = async (run, token, headers, method, params) => {
  const response = await fetch(`${run.gateway_url}/rpc`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return response.json()
}

/** One call of an agent, as any client makes it. */
const caller = (run, token, session) => (capability, args, reason) =>
  ask(run, token, { 'gatehouse-session': session }, 'capabilities.invoke', {
    capability,
    arguments: args,
    ...(reason ? { reason } : {}),
  })

/** A session, so that the calls of an agent stand in one timeline. */
const begin = async (run, token) => {
  const client = { name: 'claude-code', version: '2.1' }
  const { result } = await ask(run, token, {}, 'session.create', { client })
  return result.session_id
}

const letter = `# Release 1.4

- The importer reads files of any size
- Dates are shown in the reader's zone
`

const handbook = `# Release 1.4

- The importer reads files of up to 2 GB
- Dates are shown in the reader's zone
- Limits are in the settings, under Import
`

const organisation = `# What holds for every agent
version: 1
rules:
  - match: process.run
    when: '!(args.command in ["npm", "node"])'
    tier: approval_required
    floor: true
    reason: Programs other than npm and node are looked at first
  - match: filesystem.delete
    when: args.path.startsWith("build/")
    tier: autonomous
    notify: true
    reason: What was built can be built again
  - { match: "network.*", tier: blocked }
  - match: filesystem.write
    when: args.path == "handbook.md"
    tier: approval_required
    reason: Customers read the handbook
  - { match: email.send, tier: approval_required, reason: A person reads every mail }
tests:
  - { capability: filesystem.delete, args: { path: build/a.js }, expect: autonomous }
`

/** What stays until its time is over: a mute, a schedule, a grant. */
async function leaveStanding(api, write) {
  await api.muteAlerts({
    kind: 'agent',
    agent: 'builder',
    seconds: 28_800,
    reason: 'Its nightly run is being moved',
  })
  await write('scheduler.create', {
    capability: 'filesystem.read',
    arguments: { path: 'release.md' },
    schedule: '0 7 * * 1',
    time_zone: 'Europe/Zurich',
    description: 'Looks at the notes every Monday',
  })
  const allowed = await write('filesystem.delete', { path: 'old-notes.md' })
  await api.approveApproval({
    id: allowed.error.data.approval_id,
    remember: { match: 'same_arguments', ttl_seconds: 14_400 },
  })
}

/** A working day of two agents. `api` is the REST API as an operator has it. Returns a way to make more calls, a request that waits, and a session. */
export async function fill(run, api) {
  const docs = await api.createAgent({
    name: 'docs-writer',
    purpose: 'Keeps the handbook and the release notes up to date',
  })
  const builder = await api.createAgent({
    name: 'builder',
    purpose: 'Builds and tests the importer',
    tools: ['filesystem.*', 'git.*', 'process.*', 'scratch.*', 'state.*', 'alert.*', 'time.*'],
  })
  const session = await begin(run, docs.token)
  const write = caller(run, docs.token, session)
  const build = caller(run, builder.token, await begin(run, builder.token))
  for (const name of ['release.md', 'handbook.md', 'old-draft.md', 'old-notes.md'])
    await write('filesystem.write', { path: name, content: letter })
  for (let at = 0; at < 3; at += 1) await write('filesystem.read', { path: 'release.md' })
  await write('filesystem.read', { path: 'missing.md' })
  await write('filesystem.list', { path: '.' })
  await write('state.set', { key: 'last-release', value: { version: '1.4', checked: true } })
  await build('filesystem.mkdir', { path: 'src' })
  await build('filesystem.write', { path: 'src/import.ts', content: 'export const limit = 1\n' })
  await build('filesystem.read', { path: '../secrets' })
  await build('state.set', { key: 'last-build', value: { commit: '4f1c2aa', passed: 212 } })
  await write('alerts.send', { message: 'The link checker has failed three times in a row.' })
  const first = await write(
    'filesystem.delete',
    { path: 'old-draft.md' },
    'It is replaced by release.md',
  )
  await api.approveApproval({ id: first.error.data.approval_id, reason: 'Agreed' })
  const second = await write('filesystem.delete', { path: 'handbook.md' })
  await api.rejectApproval({ id: second.error.data.approval_id, reason: 'The handbook stays' })
  await write(
    'filesystem.delete',
    { path: 'release.md' },
    'The notes of 1.4 are published; nothing links here',
  )
  const test = () =>
    build(
      'process.run',
      { command: 'npm', args: ['test', '--', '--watch=false'] },
      'The last change touched the importer',
    )
  for (let at = 0; at < 3; at += 1) {
    const approval_id = (await test()).error.data.approval_id
    await api.approveApproval({ id: approval_id })
    await build('approvals.wait', { approval_id, timeout_seconds: 30 })
  }
  await test()
  await api.addSecret({
    name: 'release-token',
    value: 'a value that nobody sees',
    description: 'Publishes the release notes',
    hosts: ['api.example.com'],
    agents: ['docs-writer'],
  })
  await leaveStanding(api, write)
  await api.saveOrganisationPolicy({ text: organisation })
  for (let at = 0; at < 2; at += 1)
    await write('network.http_request', { url: 'https://example.com/news' })
  const changed = await write(
    'filesystem.write',
    { path: 'handbook.md', content: handbook },
    'Release 1.4 changed how dates are shown, and people asked about limits',
  )
  const { entries } = await api.queryAudit({ capability: 'filesystem.delete', result: 'success' })
  return { call: write, request: changed.error.data.approval_id, session, entry: entries[0].id }
}
