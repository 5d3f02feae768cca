import { createKit, type Kit } from '@gatehouse/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { InvokeOutcome } from '../../src/app/call/invoke.ts'
import { createRegistry } from '../../src/capabilities/registry.ts'
import { standardCapabilities } from '../../src/capabilities/standard.ts'

const registry = createRegistry(standardCapabilities)
/** What clients perform is closed to every agent: client-tools.test.ts. */
const names = registry
  .list()
  .filter(({ performer }) => performer === 'service')
  .map(({ name }) => name)

const everythingRuns = `version: 1
rules:
  - { match: "*", tier: autonomous }
limits:
  - { match: "*", limit: 100000, window: 1m }
`
const onlyTime = `version: 1
rules:
  - { match: system.time, tier: autonomous }
  - { match: "*", tier: blocked }
`

let kit: Kit
let session: { alpha: string; beta: string }

const dataOf = (outcome: InvokeOutcome): Record<string, unknown> => {
  if (outcome.kind !== 'succeeded') throw new Error(JSON.stringify(outcome))
  return outcome.data as Record<string, unknown>
}

const alpha = (capability: string, args: object = {}) =>
  kit.invoke('alpha', capability, args, { session_id: session.alpha })
const beta = (capability: string, args: object = {}) =>
  kit.invoke('beta', capability, args, { session_id: session.beta })

const idOf = async (capability: string, args: object, field: string): Promise<string> =>
  String(dataOf(await alpha(capability, args))[field])

/** An approval of alpha's: policy asks about one call of alpha's alone. */
const asked = async (): Promise<{ approval_id: string }> => ({
  approval_id: await kit.pending('alpha', 'comms.broadcast', {
    filter: { channel: 'x' },
    message: `hello ${Math.random()}`,
  }),
})
const alert = async () => ({
  alert_id: await idOf(
    'alerts.send',
    { message: `look ${Math.random()}`, severity: 'warning' },
    'alert_id',
  ),
})
const schedule = async () => ({
  schedule_id: await idOf(
    'scheduler.create',
    { capability: 'system.time', arguments: {}, delay_seconds: 3600, description: '' },
    'schedule_id',
  ),
})
const file = async (): Promise<string> => {
  const path = `f-${Math.random().toString(36).slice(2)}.txt`
  dataOf(await alpha('filesystem.write', { path, content: 'x' }))
  return path
}
const value = (group: string) => async () => {
  const key = `k-${Math.random().toString(36).slice(2)}`
  dataOf(await alpha(`${group}.set`, { key, value: 1 }))
  return { key }
}

/** Capabilities that act on a record of one agent, and how to make one: for every other agent it is not there. */
const records: Readonly<Record<string, () => Promise<Record<string, unknown>>>> = {
  'alerts.acknowledge': alert,
  'approvals.cancel': asked,
  'approvals.get': asked,
  'approvals.wait': async () => ({ ...(await asked()), timeout_seconds: 0 }),
  'comms.unsubscribe': async () => ({
    subscription_id: await idOf('comms.subscribe', { channel: 'news' }, 'subscription_id'),
  }),
  'filesystem.restore': async () => ({
    trash_id: await idOf('filesystem.delete', { path: await file() }, 'trash_id'),
  }),
  'filesystem.unwatch': async () => ({
    watch_id: await idOf('filesystem.watch', { path: '.', recursive: false }, 'watch_id'),
  }),
  'scheduler.delete': schedule,
  'scheduler.history': schedule,
  'scratch.delete': value('scratch'),
  'scratch.get': value('scratch'),
  'state.delete': value('state'),
  'state.get': value('state'),
  'state.history': value('state'),
}

/**
 * Records of agents whose other half is shown where a sandbox or a service is at hand, and mail, which
 * belongs to a service that all agents share. May only get shorter.
 */
const shownElsewhere: Readonly<Record<string, string>> = {
  'process.kill': 'process-background.test.ts',
  'process.logs': 'process-background.test.ts',
  'process.monitor': 'process-background.test.ts',
  'writes.cancel': 'writes.test.ts',
  'writes.rollback': 'writes.test.ts',
  'calendar.delete': 'the calendar is shared',
  'calendar.read': 'the calendar is shared',
  'calendar.update': 'the calendar is shared',
  'email.delete': 'the mailbox is shared',
  'email.flag': 'the mailbox is shared',
  'email.forward': 'the mailbox is shared',
  'email.move': 'the mailbox is shared',
  'email.read': 'the mailbox is shared',
  'email.reply': 'the mailbox is shared',
}

/** Only the listed paths are private to an agent; everything with an id in its inputs acts on some record. */
const namesARecord = (name: string): boolean => {
  const inputs = registry.find(name)?.argument_names ?? []
  const isOwnValue = /^(state|scratch)\.(get|delete|history)$/.test(name)
  return isOwnValue || inputs.some((input) => /_ids?$/.test(input))
}

beforeAll(async () => {
  kit = await createKit({ policy: everythingRuns })
  for (const name of ['alpha', 'beta', 'gamma', 'paused', 'gone']) await kit.agent(name)
  const ask = 'version: 1\nrules:\n  - { match: comms.broadcast, tier: approval_required }\n'
  await kit.app.savePolicy(kit.operator(), { agent: 'alpha', text: ask })
  await kit.app.savePolicy(kit.operator(), { agent: 'gamma', text: onlyTime })
  await kit.app.pauseAgent(kit.operator(), { name: 'paused' })
  await kit.app.revokeAgent(kit.operator(), { name: 'gone' })
  const open = async (agent: string) =>
    (await kit.app.openSession(kit.op(agent), { transport: 'rpc', client: null })).session_id
  session = { alpha: await open('alpha'), beta: await open('beta') }
})
afterAll(() => kit[Symbol.asyncDispose]())

test('every capability that acts on a record is in the matrix, and nothing else', () => {
  const listed = [...Object.keys(records), ...Object.keys(shownElsewhere)].filter((name) =>
    names.includes(name),
  )
  expect(listed.sort()).toEqual(names.filter(namesARecord).sort())
})

describe.each(names)('%s', (name) => {
  test('is closed to an agent that policy blocks, one that is paused, and one that is gone', async () => {
    const blocked = await kit.invoke('gamma', name, {})
    // A rule for everything leaves an agent its own requests, its name and what finds its tools.
    const isOwn = name === 'agent.whoami' || /^(?:approvals|tools)\./.test(name)
    const isOpen = name === 'system.time' || isOwn
    if (isOpen) expect(blocked.kind).not.toBe('denied')
    else expect(blocked).toMatchObject({ kind: 'denied', reason: 'policy' })
    const listed = await kit.app.listCapabilities(kit.op('gamma'), {})
    // A list as short as this one needs no search.
    const isListed = isOpen && !name.startsWith('tools.')
    expect(listed.some(({ capability }) => capability.name === name)).toBe(isListed)
    expect(await kit.invoke('paused', name, {})).toMatchObject({
      kind: 'denied',
      reason: 'agent_paused',
    })
    await expect(kit.invoke('gone', name, {})).rejects.toMatchObject({
      type: 'AuthenticationFailed',
    })
  })
})

describe.each(Object.entries(records))('%s', (name, make) => {
  test('finds a record of its agent, and none of another', async () => {
    const args = await make()
    const foreign = await beta(name, args)
    expect(foreign).toMatchObject({
      kind: 'failed',
      error: { type: expect.stringMatching(/NotFound$/) as string },
    })
    expect(await alpha(name, args)).toMatchObject({ kind: 'succeeded' })
  })
})

test('no listing of an agent shows what belongs to another', async () => {
  await alert()
  await schedule()
  await asked()
  await value('state')()
  await value('scratch')()
  const lists: Readonly<Record<string, string>> = {
    'alerts.list': 'alerts',
    'approvals.list': 'approvals',
    'scheduler.list': 'schedules',
    'state.list': 'keys',
    'scratch.list': 'keys',
    'process.list': 'processes',
    'writes.list': 'writes',
  }
  for (const [name, field] of Object.entries(lists)) {
    const own = dataOf(await beta(name))[field]
    expect([name, own]).toEqual([name, []])
  }
  expect(dataOf(await alpha('alerts.list'))['alerts']).not.toEqual([])
})
