import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seeded } from '@gatehouse/testkit/installation/seeds'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

test('sets a password from the input, for the first operator or for one by name', async () => {
  const kit = createCliKit()
  const first = await kit.gatehouse(['operator', 'set-password'], { input: 'correct horse\n' })
  expect([first.code, first.out]).toEqual([0, expect.stringContaining('ana has a new password')])
  const named = await kit.gatehouse(['operator', 'set-password', '--name', 'ben'], {
    input: 'correct horse',
  })
  expect(named.out).toContain('ben can now log in')
  const none = await kit.gatehouse(['operator', 'set-password'], { input: '' })
  expect([none.code, none.err]).toEqual([2, expect.stringContaining('no password')])
})

test('makes the operator called operator where there is none', async () => {
  const kit = createCliKit()
  await kit.gatehouse(['operator', 'remove', 'ana', '--yes'])
  const made = await kit.gatehouse(['operator', 'set-password'], { input: 'correct horse' })
  expect(made.out).toContain('operator can now log in')
})

test('lists and removes operators', async () => {
  const kit = createCliKit()
  expect((await kit.gatehouse(['operator', 'list'])).out).toContain('ana')
  expect((await kit.gatehouse(['operator', 'remove', 'ana', '--yes'])).out).toContain(
    'cannot log in',
  )
  expect((await kit.gatehouse(['operator', 'remove', 'eva', '--yes'])).code).toBe(5)
})

test('lists logins and ends one of them', async () => {
  const kit = createCliKit()
  const listed = await kit.gatehouse(['operator', 'logins'])
  expect([listed.code, listed.out]).toEqual([0, expect.stringContaining(`${seeded.login}  ana`)])
  const ended = await kit.gatehouse(['operator', 'end-login', seeded.login])
  expect(ended.out).toBe(`The login ${seeded.login} of ana has ended.\n`)
  expect(await kit.gatehouse(['operator', 'logins'])).toMatchObject({
    code: 0,
    out: 'Nobody is logged in to the dashboard.\n',
  })
  const again = await kit.gatehouse(['operator', 'end-login', seeded.login])
  expect([again.code, again.err]).toEqual([5, expect.stringContaining('LoginNotFound')])
})

test('a viewer and an approver neither see logins nor end one', async () => {
  const kit = createCliKit()
  for (const role of ['viewer', 'approver'] as const) {
    kit.role = role
    for (const line of [['logins'], ['end-login', seeded.login]])
      expect((await kit.gatehouse(['operator', ...line])).code).toBe(4)
  }
})

test('prints a link for the browser, which a script reads too', async () => {
  const kit = createCliKit()
  await kit.gatehouse(['operator', 'remove', 'ana', '--yes'])
  const url = /https:\/\/gatehouse\.localhost:7800\/#setup=[\w-]{43}$/m
  const { out } = await kit.gatehouse(['setup-link'])
  expect(out).toMatch(url)
  const { out: json } = await kit.gatehouse(['setup-link', '--json'])
  expect(JSON.parse(json)).toMatchObject({ url: expect.stringMatching(url) })
})

test.each([['trust'], ['tls', 'fingerprint']])(
  'says that %s needs an installation that has started once',
  async (...line) => {
    const dataDir = makeTemporaryFolder()
    writeFileSync(join(dataDir, 'store.json'), '{}')
    const { code, err } = await createCliKit().gatehouse([...line, '--data-dir', dataDir])
    expect([code, err]).toEqual([5, expect.stringContaining('gatehouse serve')])
  },
)
