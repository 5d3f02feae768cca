import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, onTestFinished, test } from 'vitest'
import type { MetaStore, Storage } from '../../ports/storage.ts'

const nowMs = Date.UTC(2026, 0, 1)

/** Rows that several services share, of which the rest is each one's own. */
class Rows {
  readonly kept = new Map<string, string>()
  /** Runs once, ahead of the next transaction that finds it. */
  before: (() => Promise<unknown>) | null = null
  readonly #meta: Pick<MetaStore, 'get' | 'set'> = {
    get: async (key) => this.kept.get(key) ?? null,
    set: async (key, value) => void this.kept.set(key, value),
  }

  share = (opened: Storage): Storage => {
    const isPolicy = (key: string) => key === 'policy'
    const over = (own: MetaStore): MetaStore => ({
      ...own,
      get: (key) => (isPolicy(key) ? this.#meta.get(key) : own.get(key)),
      set: (key, value) => (isPolicy(key) ? this.#meta.set(key, value) : own.set(key, value)),
    })
    return {
      ...opened,
      id: 'one-store',
      isShared: true,
      isNetworked: true,
      wallMs: async () => nowMs,
      meta: over(opened.meta),
      transaction: async (work) => {
        const { before } = this
        this.before = null
        await before?.()
        return opened.transaction((tx) => work({ ...tx, meta: over(tx.meta) }))
      },
    }
  }
}

const rule = (match: string) => `version: 1\nrules:\n  - { match: ${match}, tier: blocked }\n`
const file = (kit: Kit, name = 'organisation.yaml') => join(kit.folder, 'policies', name)
const textOf = (kit: Kit, name?: string) => readFileSync(file(kit, name), 'utf8')

const open = async (rows: Rows, policy?: string): Promise<Kit> => {
  const kit = await createKit({
    storage: rows.share,
    startsLater: true,
    nowMs,
    ...(policy === undefined ? {} : { policy }),
  })
  onTestFinished(() => kit[Symbol.asyncDispose]())
  return kit
}

/** What a node does before it serves, and again whenever it looks. */
const look = async (kit: Kit) => {
  await kit.parts.policy.reload()
  await kit.app.nodes.assertFits()
}

/** Two nodes, the second with the key of the first. */
const pair = async (rows: Rows, policies: { one?: string; two?: string } = {}) => {
  const one = await open(rows, policies.one)
  await look(one)
  const two = await open(rows, policies.two)
  copyFileSync(join(one.folder, 'policy.key'), join(two.folder, 'policy.key'))
  await look(two)
  return { one, two }
}

const save = (kit: Kit, text: string) => kit.app.savePolicy(kit.operator(), { text })
const acts = async (kit: Kit, act: string) =>
  (await kit.app.queryAudit(kit.operator(), { limit: 50, offset: 0 })).entries
    .filter(({ capability }) => capability === act)
    .map((entry) => entry.arguments)
const reasonOf = async (kit: Kit) =>
  (await kit.app.health(kit.operator())).components['nodes']?.reason ?? null

test('a node takes the policy of the others, and gives them its own changes', async () => {
  const { one, two } = await pair(new Rows(), { one: rule('git.push') })
  expect(textOf(two)).toBe(rule('git.push'))
  expect(two.parts.policy.current().version).toBe(one.parts.policy.current().version)

  await save(two, rule('git.commit'))
  expect(await acts(two, 'policy.shared')).toMatchObject([{ version: 2, author: 'user:ana' }])
  await look(one)
  expect(textOf(one)).toBe(rule('git.commit'))
  expect(textOf(one, '.previous/organisation.yaml')).toBe(rule('git.push'))
  expect(await acts(one, 'policy.followed')).toMatchObject([
    { version: 2, author: 'user:ana', files: ['organisation.yaml'] },
  ])

  writeFileSync(file(one, 'agents/mailbot.yaml'), rule('email.send'))
  await look(one)
  await look(two)
  expect(textOf(two, 'agents/mailbot.yaml')).toBe(rule('email.send'))
  expect(two.parts.policy.current().version).toBe(one.parts.policy.current().version)
})

test('a node does not serve without the key, or with another', async () => {
  const rows = new Rows()
  await look(await open(rows))
  const stranger = await open(rows)
  await expect(look(stranger)).rejects.toMatchObject({
    type: 'NodeUnfit',
    message: expect.stringContaining('it has no policy.key'),
  })
  writeFileSync(join(stranger.folder, 'policy.key'), 'another\n')
  await expect(look(stranger)).rejects.toMatchObject({
    type: 'NodeUnfit',
    message: expect.stringContaining('is not the one'),
  })
})

test('whoever writes to the database loosens nothing', async () => {
  const rows = new Rows()
  const { one, two } = await pair(rows, { one: rule('git.push') })
  const first = rows.kept.get('policy') ?? ''
  await save(one, rule('git.commit'))
  await look(two)

  rows.kept.set('policy', first)
  await two.app.savePolicy(two.operator(), { text: 'no: policy' }).catch(() => null)
  expect(textOf(two)).toBe(rule('git.commit'))
  expect(await reasonOf(two)).toContain('is version 1, and this node had version 2')

  rows.kept.delete('policy')
  await look(two)
  expect(textOf(two)).toBe(rule('git.commit'))
  expect(await reasonOf(two)).toContain('the database has no policy any more')

  const [mac = '', json = ''] = first.split('\n')
  rows.kept.set('policy', `${mac}\n${json.replace('"version":1', '"version":9')}`)
  await expect(look(two)).rejects.toMatchObject({ type: 'NodeUnfit' })
  expect(textOf(two)).toBe(rule('git.commit'))

  // A person says what holds.
  await save(two, rule('git.branch'))
  expect(await reasonOf(two)).toBeNull()
  await look(one)
  expect(textOf(one)).toBe(rule('git.branch'))
})

test('without the key nothing is genuine, and a base that cannot be read is no beginning', async () => {
  const rows = new Rows()
  const { one, two } = await pair(rows, { one: rule('git.push') })
  const json = JSON.stringify({
    ...{ version: 9, author: 'nobody', node: 'node-x' },
    files: { 'organisation.yaml': rule('git.branch') },
  })
  const { digest } = two.parts
  for (const key of ['', '\n']) {
    writeFileSync(join(two.folder, 'policy.key'), key)
    rows.kept.set('policy', `${digest.hmac('', `gatehouse policy\none-store\n${json}`)}\n${json}`)
    await expect(look(two)).rejects.toMatchObject({ type: 'NodeUnfit' })
    expect(textOf(two)).toBe(rule('git.push'))
  }
  writeFileSync(file(one, '.shared.json'), '{"version":')
  await expect(look(one)).rejects.toMatchObject({
    type: 'InvalidConfiguration',
    message: expect.stringContaining('.shared.json'),
  })
})

test('of two changes of one file the first holds, and the other is kept aside and said', async () => {
  const { one, two } = await pair(new Rows())
  await save(one, rule('git.push'))
  writeFileSync(file(two), rule('git.commit'))
  await look(two)
  expect(textOf(two)).toBe(rule('git.push'))
  expect(textOf(two, '.previous/organisation.yaml')).toBe(rule('git.commit'))
})

test('of two changes at once the later one is refused where it is of the same file', async () => {
  const rows = new Rows()
  const { one, two } = await pair(rows)
  rows.before = () => save(two, rule('git.commit'))
  await expect(save(one, rule('git.push'))).rejects.toMatchObject({
    type: 'Conflict',
    message: expect.stringContaining('another node changed organisation.yaml'),
  })
  expect(textOf(one)).toBe(rule('git.commit'))
  expect(textOf(one, '.previous/organisation.yaml')).toBe(rule('git.push'))
})

test('of two changes at once both hold where they are of two files, each of who made it', async () => {
  const rows = new Rows()
  const { one, two } = await pair(rows)
  const saveAs = (kit: Kit, who: string, agent: string, match: string) =>
    kit.app.savePolicy(kit.operator(who), { text: rule(match), agent })
  rows.before = async () => {
    await saveAs(two, 'ben', 'webbot', 'git.commit')
    // What the first round took is no change of this node when it is changed again.
    rows.before = () => saveAs(two, 'ben', 'webbot', 'git.branch')
  }
  await saveAs(one, 'ana', 'mailbot', 'git.push')
  await look(two)
  for (const kit of [one, two]) {
    expect(textOf(kit, 'agents/mailbot.yaml')).toBe(rule('git.push'))
    expect(textOf(kit, 'agents/webbot.yaml')).toBe(rule('git.branch'))
  }
  expect((await acts(one, 'policy.shared')).map((facts) => facts?.['author'])).toContain('user:ana')
})

test('a file that is not valid here takes nothing away from the others', async () => {
  const rows = new Rows()
  const { one, two } = await pair(rows, { one: rule('git.push') })
  writeFileSync(file(two), 'version: 1\nrules: broken\n')
  await look(two)
  await look(one)
  expect(textOf(one)).toBe(rule('git.push'))
  expect(textOf(two)).toContain('broken')
  await save(one, rule('git.commit'))
  await look(two)
  expect(textOf(two)).toBe(rule('git.commit'))
})
