import { expect, test } from 'vitest'
import { openRestKit, useRestKit } from './kit.ts'

const role = 'operator' as const
const shared = useRestKit()

test('checks a policy file without saving it', async () => {
  const before = (await shared().call('GET', '/api/policies', { role })).body
  const good = await shared().call('POST', '/api/policies/validate', {
    role,
    body: { text: 'version: 1\nrules:\n  - { match: "email.*", tier: blocked }\n' },
  })
  expect(good.body).toEqual({ valid: true, problems: [], rules: 1, tests_passed: 0 })
  const bad = await shared().call('POST', '/api/policies/validate', {
    role,
    body: { text: 'version: 2', agent: 'mailbot' },
  })
  expect(bad.body).toMatchObject({ valid: false, problems: [{ file: 'agents/mailbot.yaml' }] })
  expect((await shared().call('GET', '/api/policies', { role })).body).toEqual(before)
})

test('says what would be decided on a call, and why', async () => {
  const body = { agent: 'mailbot', capability: 'email.send', arguments: { to: ['a@b.c'] } }
  const answer = await shared().call('POST', '/api/policies/test', { role, body })
  expect(answer.body).toMatchObject({ decision: { kind: 'ask', rule: { line: 4 } } })
})

test('refuses to save a policy that is not valid, with the place of each error', async () => {
  await using kit = await openRestKit()
  const save = (text: string) =>
    kit.call('PUT', '/api/policies/organisation', { role, body: { text } })
  expect((await save('version: 1\nrules: []\n')).body).toEqual({
    version: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    problems: [],
    previous: '.previous/organisation.yaml',
  })
  const bad = await save('version: 2\nrules: []\n')
  expect(bad.status).toBe(422)
  expect(bad.body).toMatchObject({
    code: 'PolicyInvalid',
    detail: expect.stringContaining('organisation.yaml:1:'),
    errors: [{ pointer: '/text', detail: expect.stringMatching(/^1:\d+: version/) }],
  })
})
