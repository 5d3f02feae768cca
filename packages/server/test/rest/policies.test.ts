import { expect, test } from 'vitest'
import { createRestKit } from './kit.ts'

const role = 'operator' as const

test('checks a policy file without saving it', async () => {
  const kit = createRestKit()
  const good = await kit.call('POST', '/api/policies/validate', {
    role,
    body: { text: 'version: 1' },
  })
  expect(good.body).toEqual({ valid: true, problems: [], rules: 1, tests_passed: 0 })
  const bad = await kit.call('POST', '/api/policies/validate', {
    role,
    body: { text: 'version: 2', agent: 'mailbot' },
  })
  expect(bad.body).toMatchObject({ valid: false, problems: [{ file: 'agents/mailbot.yaml' }] })
  expect(kit.fake.calls).not.toContain('savePolicy')
})

test('says what would be decided on a call, and why', async () => {
  const body = { agent: 'mailbot', capability: 'email.send', arguments: { to: 'a@b.c' } }
  const answer = await createRestKit().call('POST', '/api/policies/test', { role, body })
  expect(answer.body).toMatchObject({ decision: { kind: 'ask', rule: { line: 4 } } })
})

test('refuses to save a policy that is not valid, with the place of each error', async () => {
  const kit = createRestKit()
  const save = (text: string) =>
    kit.call('PUT', '/api/policies/organisation', { role, body: { text } })
  expect((await save('version: 1')).body).toEqual({
    version: 'sha256:01',
    problems: [],
    previous: '.previous/organisation.yaml',
  })
  const bad = await save('version: 2')
  expect(bad.status).toBe(422)
  expect(bad.body).toMatchObject({
    code: 'PolicyInvalid',
    detail: 'organisation.yaml:1:1: version must be 1',
    errors: [{ pointer: '/text', detail: '1:1: version must be 1' }],
  })
})
