import { createFakeApp } from '@gatehouse/testkit/fake-app'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

test('says what holds, and what to do where nothing does, for people and for scripts', async () => {
  const holds = await createCliKit().gatehouse(['setup', 'sandbox'])
  expect(holds).toMatchObject({ code: 0, out: expect.stringContaining('"bubblewrap"') })
  const report = {
    usable: false,
    backend: 'none',
    detail: 'bubblewrap is not installed',
    remedy: 'Run as root: apt-get install bubblewrap',
  } as const
  const kit = createCliKit(createFakeApp({ probeSandbox: async () => report }))
  const lacks = await kit.gatehouse(['setup', 'sandbox'])
  expect(lacks.code).toBe(1)
  expect(lacks.out).toContain('Programs do not run: bubblewrap is not installed.')
  expect(lacks.out).toContain('apt-get install bubblewrap')
  const json = await kit.gatehouse(['setup', 'sandbox', '--json'])
  expect(json.code).toBe(1)
  expect(JSON.parse(json.out)).toEqual(report)
})
