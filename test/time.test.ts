import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import { Installation, invoke, pause, rpc } from './support/server.ts'

type Event = { readonly type: string; readonly data: Record<string, unknown> }

test('schedules, messages and wakes survive a kill, and each happens once', async () => {
  await using here = new Installation()
  let run = await here.start(['--no-first-agent'])
  const { token, workspace } = await here.createAgent('alpha')
  await invoke(run, token, 'comms.send', { to: 'alpha', message: 'note to self' })
  const woken = await here.cli(['wake', 'alpha', '--reason', 'before the kill'])
  expect(woken).toMatchObject({ code: 0, stdout: 'alpha is woken.\n' })
  const made = await invoke(run, token, 'scheduler.create', {
    capability: 'filesystem.append',
    arguments: { path: 'log.txt', content: 'x' },
    delay_seconds: 10,
  })
  const schedule_id = made.result?.data?.['schedule_id']
  await here.kill()
  expect(existsSync(join(workspace, 'log.txt'))).toBe(false)

  run = await here.start()
  await until(() => (existsSync(join(workspace, 'log.txt')) ? true : undefined))
  const history = await until(async () => {
    const answer = await invoke(run, token, 'scheduler.history', { schedule_id })
    const [first] = (answer.result?.data?.['runs'] ?? []) as {
      outcome: string
      late_seconds: number
    }[]
    return first?.outcome === 'succeeded' ? first : undefined
  })
  expect(history.late_seconds).toBeGreaterThanOrEqual(0)
  const received = await invoke(run, token, 'comms.receive')
  expect(received.result?.data).toMatchObject({
    messages: [{ from: 'alpha', message: 'note to self' }],
    remaining: 0,
  })
  const wakes = await until(async () => {
    const answer = await rpc(run, token, 'events.poll')
    const events = ((answer.result?.['events'] ?? []) as Event[]).filter(
      ({ type }) => type === 'wake',
    )
    return events.length > 0 ? events : undefined
  })
  expect(wakes).toMatchObject([{ data: { reason: 'before the kill', count: 1 } }])

  await pause(300)
  await here.kill()
  run = await here.start()
  await pause(1_500)
  expect(readFileSync(join(workspace, 'log.txt'), 'utf8')).toBe('x')
  expect((await invoke(run, token, 'comms.receive')).result?.data).toEqual({
    messages: [],
    remaining: 0,
  })
  const again = (await rpc(run, token, 'events.poll')).result?.['events'] as Event[]
  expect(again.filter(({ type }) => type === 'wake')).toEqual([])
  expect((await here.json<{ schedules: object[] }>(['schedules', 'list'])).schedules).toMatchObject(
    [{ schedule_id, status: 'done' }],
  )
})

test('a wake starts the command that the operator set, and an unknown agent is not found', async () => {
  await using here = new Installation()
  const script = `require('fs').appendFileSync('woken.txt', process.env.GATEHOUSE_AGENT + '\\n')`
  const argv = [process.execPath, '-e', script]
  writeFileSync(
    join(here.dataDir, 'gatehouse.yaml'),
    `on_wake:\n  alpha: ${JSON.stringify(argv)}\n`,
  )
  await here.start(['--no-first-agent'])
  await here.createAgent('alpha')
  expect((await here.cli(['wake', 'nobody'])).code).toBe(5)
  expect((await here.cli(['wake', 'alpha', '--data', '[1]'])).code).toBe(2)
  await Promise.all([1, 2, 3].map(() => here.cli(['wake', 'alpha'])))
  const file = join(here.dataDir, 'woken.txt')
  // The file is there before its first line is.
  await until(() => (existsSync(file) && readFileSync(file, 'utf8') !== '' ? true : undefined))
  expect(readFileSync(file, 'utf8')).toMatch(/^(?:alpha\n){1,3}$/)
  const entries = await here.json<{ entries: { capability: string; agent: string }[] }>([
    'audit',
    'query',
    '--capability',
    'agent.woken',
  ])
  expect(entries.entries[0]).toMatchObject({ agent: 'alpha' })
  expect(await here.stop()).toBe(0)
  expect((await here.cli(['wake', 'alpha'])).code).toBe(3)
})
