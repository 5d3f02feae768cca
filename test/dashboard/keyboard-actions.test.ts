import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Route, type RouteName, routes } from '@gatehouse/contract/routes'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { password } from '../support/dashboard.ts'
import { actions } from './keyboard/actions.ts'
import { World } from './keyboard/world.ts'

const sources = new URL('../../packages/dashboard/src/', import.meta.url).pathname

/** Operations that change something or judge something, as far as the page asks for them. */
const asked = [
  ...new Set(
    readdirSync(sources, { recursive: true, encoding: 'utf8' })
      .filter((name) => /(?<!\.test)\.tsx?$/.test(name))
      .flatMap((name) => [...readFileSync(join(sources, name), 'utf8').matchAll(/\bapi\.(\w+)\(/g)])
      .map(([, name = '']) => name)
      .filter((name) => (routes as Readonly<Record<string, Route>>)[name]?.method !== 'GET'),
  ),
].toSorted()

/** Actions that need more than this service has, and where they are tested. */
const elsewhere: readonly RouteName[] = [
  // Other nodes on one PostgreSQL: several-nodes.test.ts.
  ...(['drainNode', 'forgetNode', 'inviteNode', 'moveAgent', 'resumeNode'] as const),
  // An engine of 30 MB: local-models.test.ts.
  ...(['setUpEngine', 'startEngine', 'stopEngine'] as const),
  // A day of failed deliveries, a log of a megabyte.
  ...(['applyRetention', 'retryNotifications'] as const),
]

/** Buttons that change only what is on the screen, by kind. */
const views: readonly string[] = [
  'An operation of the reference',
  'Arguments as they were sent',
  'Arguments that will run',
  'As a table',
  'Close',
  'Copy the token',
  'Dark theme',
  'Download the authority',
  'Edit agents/mailbot.yaml at line N',
  'Edit organisation.yaml at line N',
  'Find or do… Ctrl K',
  'Keyboard shortcuts',
  'Light theme',
  'Line N, column N',
  'Pause the stream',
  'Rules of system.yaml',
  'Text of agents/mailbot.yaml',
  'Text of organisation.yaml',
  'Text of system.yaml',
  'organisation.yaml:N:N',
  // Of actions that are tested elsewhere.
  'Load a model',
  'Set up the engine',
]

/** Pages where no action begins, or that show more of themselves a moment later. */
const withoutActions = [
  '/overview',
  ...['/policy', '/reference', '/agents/mailbot?tab=sessions', '/agents/mailbot?tab=statistics'],
  '/agents/mailbot?tab=policy',
  ...['/settings?tab=certificate', '/settings?tab=retention', '/settings?tab=appearance'],
]

const canRun = (['chromium', 'dovecot', 'bwrap'] as const).every(hasProgram)

describe.skipIf(!canRun)('every action of the dashboard by keyboard alone', () => {
  let world: World
  const walked = new Set<RouteName>(['setUp'])

  beforeAll(async () => {
    world = await World.open()
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  test('setUp: the first operator is created', async () => {
    const { dashboard, keys } = world
    const { token } = await dashboard.api.createSetupLink()
    await dashboard.page.goto(`${dashboard.run.dashboard_url}/#setup=${token}`)
    await keys.fill('Name', 'ana')
    await keys.fill('Password', password)
    await keys.fill('Password again', password)
    await keys.press('Create operator and log in')
    await keys.to('Account of ana')
    expect((await dashboard.api.listOperators()).operators).toMatchObject([{ name: 'ana' }])
    expect(keys.done).toContain('setUp')
  })

  test.each(Object.keys(actions))('%s', async (subject) => {
    const { dashboard, keys } = world
    for (const { does, at, first, by, holds } of actions[subject]?.(world) ?? []) {
      const name = `${does} on ${at}`
      try {
        await first?.()
        if (at !== null) {
          await dashboard.goTo(at)
          await dashboard.page.locator('#content').focus()
        }
        keys.done.length = 0
        await by(keys)
      } catch (error) {
        throw new Error(`${name}: ${(error as Error).message}`, { cause: error })
      }
      await expect.poll(() => keys.done, { message: name }).toContain(does)
      await expect.poll(() => holds(dashboard.api), { message: name }).toBe(true)
      walked.add(does)
    }
  })

  test('no operation that the page asks for is left out', () => {
    expect(asked.length).toBeGreaterThan(60)
    expect(asked.filter((name) => !walked.has(name as RouteName))).toEqual(elsewhere.toSorted())
  })

  test('no button that was seen is left out', async () => {
    const { dashboard, keys } = world
    for (const address of withoutActions) {
      await dashboard.goTo(address)
      await dashboard.loaded()
      if (address === '/overview') await keys.to('As a table: Calls')
      await keys.look()
    }
    const { offered, pressed } = world.keys
    const left = [...offered].filter((name) => !pressed.has(name))
    expect(left.toSorted()).toEqual(views.toSorted())
  })
})
