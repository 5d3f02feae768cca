import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Attempt, attempt, tally } from './attempt.ts'
import { Installation, invoke, pause, rpc } from './installation.ts'
import { type Ready, startWithAgent } from './load-agent.ts'
import { patientFetch } from './patient-fetch.ts'
import { bySize, type SectionContext } from './section.ts'

type Approval = {
  readonly id: string
  readonly status: string
  readonly digest: string
  readonly execution: { readonly state: string }
}

const policy = `version: 1
rules:
  - { match: filesystem.delete, tier: approval_required }
`

const ended = ['succeeded', 'failed', 'refused', 'interrupted', 'none']

/** The User API as an operator's program uses it. */
const people = ({ run, userToken }: Ready) => {
  const ask = async (method: string, path: string, body?: object) => {
    const response = await patientFetch(`${run.user_api_url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${userToken}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return { status: response.status, body: (await response.json()) as Approval }
  }
  const show = async (id: string): Promise<Approval> => (await ask('GET', `/approvals/${id}`)).body
  return {
    ask,
    show,
    decide: (id: string, decision: 'approve' | 'reject', body: object = {}) =>
      ask('POST', `/approvals/${id}/${decision}`, body),
    /** The request once its run is over. */
    async resolved(id: string): Promise<Approval> {
      for (let tries = 0; ; tries += 1) {
        const approval = await show(id)
        if (approval.status !== 'approved' || ended.includes(approval.execution.state))
          return approval
        if (tries === 1_200) return approval
        await pause(50)
      }
    },
  }
}

type Agent = { readonly token: string; readonly workspace: string }

const made = async (gate: Installation, name: string): Promise<Agent> => {
  const agent = await gate.createAgent(name)
  mkdirSync(agent.workspace, { recursive: true })
  return agent
}

/** Asks to delete a file, and says under which id the request waits. */
const askToDelete = async (
  { run }: Ready,
  { token, workspace }: Agent,
  path: string,
): Promise<string> => {
  writeFileSync(join(workspace, path), 'kept')
  const { error } = await invoke(run, token, 'filesystem.delete', { path })
  return String(error?.data?.['approval_id'])
}

const isThere = ({ workspace }: Agent, path: string): boolean => existsSync(join(workspace, path))

const decided = (
  context: SectionContext,
  gate: Installation,
  ready: Ready,
  agent: Agent,
): Attempt[] => {
  const { decide, resolved, ask } = people(ready)
  return [
    attempt('A01 other arguments after an approval', async () => {
      const id = await askToDelete(ready, agent, 'one.txt')
      await decide(id, 'approve')
      const { execution } = await resolved(id)
      const second = await askToDelete(ready, agent, 'two.txt')
      if (second === id || !isThere(agent, 'two.txt')) return 'another file was deleted as well'
      return execution.state === 'succeeded' && !isThere(agent, 'one.txt')
        ? null
        : `the run ${execution.state}`
    }),
    attempt('A02 people who decide at once', async () => {
      for (let round = 0; round < bySize(context, 3, 50, 200); round += 1) {
        const id = await askToDelete(ready, agent, `race-${round}.txt`)
        const statuses = await tally(
          10,
          async (i) => (await decide(id, i % 2 ? 'approve' : 'reject')).status,
        )
        if (statuses.get(200) !== 1 || statuses.get(409) !== 9)
          return `${statuses.get(200) ?? 0} won, ${statuses.get(409) ?? 0} got 409`
        const { status } = await resolved(id)
        if (isThere(agent, `race-${round}.txt`) !== (status === 'rejected'))
          return `it was ${status}, and the file says otherwise`
      }
      return null
    }),
    attempt('A02 an approval after the agent was revoked', async () => {
      const gone = await made(gate, 'gone')
      const id = await askToDelete(ready, gone, 'late.txt')
      await ask('POST', '/agents/gone/revoke', {})
      const { status } = await decide(id, 'approve')
      await resolved(id)
      if (!isThere(gone, 'late.txt')) return 'it ran'
      return status === 409 ? null : `answered ${status}`
    }),
    attempt('A02 an approval after policy blocks the call', async () => {
      const barred = await made(gate, 'barred')
      const id = await askToDelete(ready, barred, 'barred.txt')
      const file = join(gate.dataDir, 'barred.yaml')
      writeFileSync(file, 'version: 1\nrules:\n  - { match: filesystem.delete, tier: blocked }\n')
      await gate.json(['policy', 'set', '--agent', 'barred', file])
      await decide(id, 'approve')
      const { execution } = await resolved(id)
      return isThere(barred, 'barred.txt') ? null : `it ran: ${execution.state}`
    }),
    attempt('A04 the digest of another request', async () => {
      const id = await askToDelete(ready, agent, 'digest.txt')
      const { status } = await decide(id, 'approve', { digest: 'sha256:0' })
      return status === 409 && isThere(agent, 'digest.txt') ? null : `answered ${status}`
    }),
  ]
}

const claimed = (gate: Installation, ready: Ready, agent: Agent): Attempt[] => {
  const { run } = ready
  const { show } = people(ready)
  return [
    attempt('A03 the request of another agent', async () => {
      const id = await askToDelete(ready, agent, 'mine.txt')
      const stranger = await gate.createAgent('stranger')
      const seen = await rpc(run, stranger.token, 'approvals.get', { approval_id: id })
      if (seen.error?.code !== -32602) return 'another agent may look at it'
      const used = await invoke(run, agent.token, 'filesystem.delete', {
        path: 'mine.txt',
        approval_id: id,
      })
      if (used.result?.success === true || !isThere(agent, 'mine.txt'))
        return 'its id let a call run'
      return (await show(id)).status === 'pending' ? null : 'it does not wait any more'
    }),
    attempt('A05 an agent that approves over HTTP, JSON-RPC and a capability', async () => {
      const id = await askToDelete(ready, agent, 'own.txt')
      const answer = await patientFetch(`${run.user_api_url}/api/approvals/${id}/approve`, {
        ...{ method: 'POST', body: '{}' },
        headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
      })
      if (answer.status !== 401 && answer.status !== 429)
        return `the User API answered ${answer.status}`
      for (const method of ['approvals.approve', 'approvals.decide']) {
        const { error } = await rpc(run, agent.token, method, { approval_id: id })
        if (!error) return `${method} is there`
      }
      await invoke(run, agent.token, 'network.request', {
        url: `${run.user_api_url}/api/approvals/${id}/approve`,
        method: 'POST',
      })
      const { status } = await show(id)
      return status === 'pending' && isThere(agent, 'own.txt') ? null : `it is ${status}`
    }),
  ]
}

const grants = (gate: Installation, ready: Ready): Attempt =>
  attempt('A09 a standing grant beyond what it is for', async () => {
    const { ask, decide, resolved } = people(ready)
    const [agent, other] = [await made(gate, 'granted'), await made(gate, 'ungranted')]
    const id = await askToDelete(ready, agent, 'again.txt')
    const remember = { ttl_seconds: 3_600, match: 'same_arguments' }
    await decide(id, 'approve', { remember })
    await resolved(id)
    // The result of the approved call is delivered once, to the call that asks for it again.
    await invoke(ready.run, agent.token, 'filesystem.delete', { path: 'again.txt' })
    const waits = async (by: Agent, path: string): Promise<boolean> => {
      await askToDelete(ready, by, path)
      return isThere(by, path)
    }
    if (await waits(agent, 'again.txt')) return 'it does not let the same call run'
    if (!(await waits(agent, 'other.txt'))) return 'it let other arguments run'
    if (!(await waits(other, 'again.txt'))) return 'it let another agent run'
    const { body } = await ask('GET', '/grants?agent=granted')
    const [grant] = (body as unknown as { grants: { id: string }[] }).grants
    await ask('DELETE', `/grants/${grant?.id}`)
    return (await waits(agent, 'again.txt')) ? null : 'it let a call run after it was revoked'
  })

const pendingMax = 100

const flood = (gate: Installation, ready: Ready): Attempt =>
  attempt('A07 more requests than an agent may have waiting', async () => {
    const agent = await made(gate, 'flood')
    for (let i = 0; i < pendingMax + 20; i += 1)
      writeFileSync(join(agent.workspace, `${i}.txt`), '')
    const codes = await tally(pendingMax + 20, async (i) => {
      const { error } = await invoke(ready.run, agent.token, 'filesystem.delete', {
        path: `${i}.txt`,
      })
      return error?.data?.['approval_id'] === undefined ? String(error?.code) : 'waits'
    })
    if (codes.get('waits') !== pendingMax) return `${codes.get('waits') ?? 0} wait`
    if (codes.get('-32000') !== 20) return [...codes].join()
    const { status } = await people(ready).ask('GET', '/approvals?limit=100')
    return status === 200 ? null : `the list answered ${status}`
  })

/** Nobody is told, and nobody decides: the request ends by itself, as a refusal. On a service of its own, which asks for a second. */
const expiring = (context: SectionContext): Attempt =>
  attempt('A08 A02 a request that nobody decides on', async () => {
    await using gate = new Installation(context.program)
    const ready = await startWithAgent(gate, policy, ['--approvals-ttl', '1s'])
    const id = await askToDelete(ready, ready, 'nobody.txt')
    const { show, decide } = people(ready)
    let { status } = await show(id)
    for (let tries = 0; status === 'pending' && tries < 1_200; tries += 1) {
      await pause(50)
      status = (await show(id)).status
    }
    const late = await decide(id, 'approve')
    if (!isThere(ready, 'nobody.txt')) return 'it ran'
    return status === 'expired' && late.status === 409
      ? null
      : `it is ${status}, and an approval answered ${late.status}`
  })

/** Attacks on approvals. Kills between their steps (A06) are those of the section `kills`. */
export const approvalAttempts = async (
  context: SectionContext,
  gate: Installation,
  ready: Ready,
): Promise<Attempt[]> => {
  const agent = await made(gate, 'asker')
  return [
    ...decided(context, gate, ready, agent),
    ...claimed(gate, ready, agent),
    grants(gate, ready),
    flood(gate, ready),
    expiring(context),
  ]
}
