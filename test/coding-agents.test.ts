import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type CodingAgent, codingAgents, runCodingAgent, settle } from './support/coding-agents.ts'
import { type Person, personAt } from './support/person.ts'
import { openScriptedModel, type ScriptedModel } from './support/scripted-model.ts'
import { Installation } from './support/server.ts'

const policy = `
version: 1
rules:
  - { match: filesystem.*, when: 'args.path.endsWith("payroll.txt")', tier: blocked, reason: Payroll is for people }
  - { match: filesystem.delete, tier: approval_required }
  - { match: process.run, when: 'args.command == "touch"', tier: autonomous }
  - { match: process.run, when: 'args.command == "mkdir"', tier: blocked, reason: No new folders }
`

const ofHome = ['XDG_CONFIG_HOME', 'CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'GEMINI_CLI_HOME']

let gate: Installation
let person: Person
let model: ScriptedModel

beforeAll(async () => {
  gate = new Installation()
  await gate.start()
  person = personAt(gate)
  await person.api.saveOrganisationPolicy({ text: policy })
  model = await openScriptedModel()
})
afterAll(async () => {
  await gate[Symbol.asyncDispose]()
  await model[Symbol.asyncDispose]()
})

/** What the audit log holds of an agent's calls, the oldest first. */
const callsOf = async (agent: CodingAgent, capability: string) =>
  (await person.api.queryAudit({ agent: agent.client, capability })).entries.toReversed()

describe.each(codingAgents)('$name', (agent) => {
  const { client } = agent
  let home: string
  const at = (file: string): string => join(home, 'work', file)

  beforeAll(async () => {
    if (!agent.isHere) return
    home = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-home-')))
    vi.stubEnv('HOME', home)
    for (const name of ofHome) vi.stubEnv(name, undefined)
    settle(agent, home)
    await gate.json(['connect', agent.client, '--yes', '--mount', `${at('')}:rw`])
    await agent.prepare?.(home)
  })
  afterAll(() => {
    vi.unstubAllEnvs()
    if (home) rmSync(home, { recursive: true, force: true })
  })

  /** Runs the agent to its end while a person decides. */
  const run = async (decide: () => Promise<unknown>) => {
    const ended = runCodingAgent(agent, { home, model })
    await Promise.race([decide(), ended])
    const { code, output } = await ended
    expect([code, output]).toEqual([0, expect.stringContaining('done')])
    expect(model.unknown).toEqual([])
    return model.results
  }

  test.skipIf(!agent.isHere)(
    'uses the tools of the gate, reads why one was refused, and waits for a person',
    async () => {
      const { workspace } = await person.api.showAgent({ name: agent.client })
      mkdirSync(workspace, { recursive: true })
      for (const file of ['notes', 'old', 'payroll'])
        writeFileSync(join(workspace, `${file}.txt`), `hello from ${file}`)
      model.play([
        { tool: 'filesystem__read', input: { path: 'notes.txt' } },
        { tool: 'filesystem__read', input: { path: 'payroll.txt' } },
        { tool: 'filesystem__delete', input: { path: 'old.txt' } },
      ])
      const [read, refused, deleted] = await run(() => person.approveNext(agent.client))
      expect(read).toContain('hello from notes')
      expect(refused).toContain('Payroll is for people')
      expect(refused).not.toContain('hello')
      expect(deleted).toContain('old.txt')
      expect(deleted).not.toContain('pending_approval')
      expect(existsSync(join(workspace, 'old.txt'))).toBe(false)

      const calls = await callsOf(agent, 'filesystem.*')
      expect(calls.map(({ capability, result }) => `${capability} ${result}`)).toEqual([
        'filesystem.read success',
        'filesystem.read denied',
        'filesystem.delete pending',
        'filesystem.delete pending',
        'filesystem.delete success',
      ])
    },
  )

  test.skipIf(!agent.isHere)('is found with its hooks in place and trusted', async () => {
    const { clients } = await gate.json<{ clients: readonly { client: string }[] }>(['connect'])
    const hooks = 'decided by the gate'
    expect(clients.find((one) => one.client === client)).toEqual({ client, connected: true, hooks })
  })

  test.skipIf(!agent.isHere)('asks before it uses tools of its own', async () => {
    for (const file of ['notes', 'payroll']) writeFileSync(at(`${file}.txt`), 'hello')
    model.play([
      agent.shell('touch allowed.txt'),
      agent.shell('mkdir refused'),
      agent.shell('cp notes.txt approved.txt'),
      agent.shell('rm notes.txt'),
      agent.write(at('written.txt'), 'hello'),
      agent.write(at('payroll.txt'), 'nothing'),
    ])
    const results = await run(async () => {
      await person.approveNext(agent.client)
      await person.rejectNext(agent.client, 'Keep your notes')
    })
    expect(results).toHaveLength(6)
    expect(results[1]).toContain('No new folders')
    expect(results[3]).toContain('Keep your notes')
    expect(results[5]).toContain('Payroll is for people')
    const there = ['allowed.txt', 'refused', 'approved.txt', 'notes.txt', 'written.txt']
    expect(there.filter((file) => existsSync(at(file)))).toEqual([
      ...['allowed.txt', 'approved.txt', 'notes.txt', 'written.txt'],
    ])
    expect(readFileSync(at('payroll.txt'), 'utf8')).toBe('hello')

    const uses = (await callsOf(agent, 'client.*')).filter(
      ({ capability, detail }) => capability !== 'client.plan' && !detail?.['delivered'],
    )
    const ended = uses.filter(({ result }) => ['success', 'denied'].includes(result))
    expect(ended.map(({ capability, result }) => `${capability} ${result}`)).toEqual([
      ...['client.shell success', 'client.shell denied', 'client.shell success'],
      ...[`${agent.writing} success`, `${agent.writing} denied`],
    ])
    const asked = new Map(uses.toReversed().map(({ request_id, detail }) => [request_id, detail]))
    expect([...asked.values()]).toEqual(
      Array(6).fill(expect.objectContaining({ tool_use: expect.objectContaining({ client }) })),
    )
    expect((await callsOf(agent, 'approval.*')).slice(-2)).toMatchObject([
      { capability: 'approval.approved' },
      { capability: 'approval.rejected', detail: { reason: 'Keep your notes' } },
    ])
  })
})
