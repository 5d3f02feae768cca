import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DrivenClient } from './support/driven-client.ts'
import { foreignClients } from './support/foreign-clients.ts'
import { type Person, personAt } from './support/person.ts'
import { Installation } from './support/server.ts'

const policy = `
version: 1
rules:
  - { match: filesystem.read, when: 'args.path == "payroll.txt"', tier: blocked, reason: Payroll is for people }
  - { match: filesystem.copy, tier: blocked }
  - { match: filesystem.delete, tier: approval_required }
limits:
  - { match: filesystem.stat, limit: 1, window: 1h }
`

let gate: Installation
let person: Person

beforeAll(async () => {
  gate = new Installation()
  await gate.start()
  person = personAt(gate)
  await person.api.saveOrganisationPolicy({ text: policy })
})
afterAll(() => gate[Symbol.asyncDispose]())

describe.each(foreignClients)('$name', ({ name, isHere, follows, open }) => {
  const agent = name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  let client: DrivenClient

  beforeAll(async () => {
    if (!isHere) return
    const { token, agent: made } = await person.api.createAgent({ name: agent })
    mkdirSync(made.workspace, { recursive: true })
    for (const file of ['notes', 'old', 'older', 'payroll'])
      writeFileSync(join(made.workspace, `${file}.txt`), `hello from ${file}`)
    client = await open({ url: `${gate.run?.gateway_url}/mcp`, token })
  })
  afterAll(() => client?.[Symbol.asyncDispose]())

  test.skipIf(!isHere)('is offered what policy lets it use, and no more', async () => {
    const tools = await client.list()
    expect(tools).toContain('filesystem__read')
    expect(tools).not.toContain('filesystem__copy')
  })

  test.skipIf(!isHere)('calls a tool, and is told why it may not', async () => {
    const read = await client.call('filesystem__read', { path: 'notes.txt' })
    expect(read).toEqual({ text: expect.stringContaining('hello from notes'), failed: false })
    const refused = await client.call('filesystem__read', { path: 'payroll.txt' })
    expect(refused).toEqual({
      text: expect.stringContaining('Payroll is for people'),
      failed: true,
    })
    expect(refused.text).not.toContain('hello')
  })

  test.skipIf(!isHere).each(follows)(
    'is told of a request that waits, and follows it to its result by %s',
    async (tool) => {
      const held = await client.call('filesystem__delete', { path: 'old.txt' })
      expect(held.failed).toBe(false)
      const { approval_id } = JSON.parse(held.text)
      const followed = client.call(tool, { approval_id, timeout_seconds: 30 })
      expect((await person.approveNext(agent)).id).toBe(approval_id)
      const told = JSON.parse((await followed).text)
      expect(told).toMatchObject({ status: 'approved', result: { success: true } })
    },
  )

  test.skipIf(!isHere || follows.length > 0)(
    'gets a request that waits as a task, and awaits that',
    async () => {
      // Nothing holds the call open: whoever knew no task would be answered that it waits.
      expect((await person.api.showAgent({ name: agent })).approvals).toBe('pending')
      const call = client.call('filesystem__delete', { path: 'old.txt' })
      await person.approveNext(agent)
      const { text, failed } = await call
      expect([text, failed]).toEqual([expect.stringContaining('old.txt'), false])
      expect(text).not.toContain('pending')
    },
  )

  test.skipIf(!isHere)('waits with an open call until a person has approved it', async () => {
    await person.api.editAgent({ name: agent, approvals: 'hold' })
    const call = client.call('filesystem__delete', { path: 'older.txt' })
    await person.approveNext(agent)
    const { text, failed } = await call
    expect([text, failed]).toEqual([expect.stringContaining('older.txt'), false])
    expect(text).not.toContain('pending')
  })

  test.skipIf(!isHere)('is limited, and all of it is in the audit log', async () => {
    const first = await client.call('filesystem__stat', { path: 'notes.txt' })
    const second = await client.call('filesystem__stat', { path: 'notes.txt' })
    expect([first.failed, second.failed]).toEqual([false, true])
    expect(second.text).toContain('Rate limit exceeded: 1 calls/1h')

    const { entries } = await person.api.queryAudit({ agent, capability: 'filesystem.*' })
    const outcomes = entries.map(({ capability, result }) => `${capability} ${result}`)
    const count = (outcome: string) => outcomes.filter((one) => one === outcome).length
    // A result that a call waited for has an entry without an intent: nothing ran a second time.
    const runs = entries.filter(({ intent_id }) => intent_id !== null)
    expect({
      read: count('filesystem.read success'),
      refused: count('filesystem.read denied'),
      deleted: runs.map(({ capability }) => capability),
      stated: count('filesystem.stat success'),
      limited: count('filesystem.stat denied'),
    }).toEqual({
      ...{ read: 1, refused: 1, stated: 1, limited: 1 },
      deleted: Array(1 + Math.max(1, follows.length)).fill('filesystem.delete'),
    })
  })
})
