import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

test('says what holds, and what to do where nothing does, for people and for scripts', async () => {
  const holds = await createCliKit().gatehouse(['setup', 'sandbox'])
  expect(holds).toMatchObject({ code: 0, out: expect.stringContaining('"bubblewrap"') })
  const detail = 'bubblewrap is not installed'
  const remedy = 'Run as root: apt-get install bubblewrap'
  const kit = createCliKit({ sandbox: { usable: false, reason: detail, remedy } })
  const lacks = await kit.gatehouse(['setup', 'sandbox'])
  expect(lacks.code).toBe(1)
  expect(lacks.out).toContain('Programs do not run: bubblewrap is not installed.')
  expect(lacks.out).toContain('apt-get install bubblewrap')
  const json = await kit.gatehouse(['setup', 'sandbox', '--json'])
  expect(json.code).toBe(1)
  expect(JSON.parse(json.out)).toEqual({ usable: false, backend: 'none', detail, remedy })
})
