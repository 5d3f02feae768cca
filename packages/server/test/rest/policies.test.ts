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

const simulate = (body: object, kit = shared()) =>
  kit.call('POST', '/api/policies/simulate', { role: 'viewer', body })

test('says who could make a call, by which rule and what else stands in the way', async () => {
  await using kit = await openRestKit()
  const op = kit.kit.operator()
  await kit.kit.app.createAgent(op, {
    ...{ name: 'reader', purpose: '', approvals: 'pending', mounts: [] },
    tools: ['filesystem.*'],
    limits: [],
  })
  const { body } = await simulate(
    {
      agents: ['mailbot', 'reader'],
      capabilities: ['email.send'],
      arguments: { to: ['a@b.c'], subject: 'Hi', body: 'Hi' },
      trace: true,
    },
    kit,
  )
  expect(body).toMatchObject({
    version: expect.stringMatching(/^sha256:/),
    results: [
      {
        agent: 'mailbot',
        tier: 'approval_required',
        barred: null,
        decision: { rule: { line: 4 } },
      },
      { agent: 'reader', tier: 'approval_required', barred: 'tool_set', arguments_fit: true },
    ],
  })
  const [{ steps }] = body['results'] as [{ steps: { outcome: string }[] }]
  expect(steps.at(-1)).toMatchObject({ outcome: 'decided' })
})

test('compares a draft with the policy that is active, and activates nothing', async () => {
  const before = (await shared().call('GET', '/api/policies', { role })).body
  const text = 'version: 1\nrules:\n  - { match: "email.*", tier: blocked }\n'
  const { body } = await simulate({
    agents: ['mailbot'],
    capabilities: ['email.send', 'git.status'],
    draft: { text },
  })
  expect(body).toMatchObject({
    results: [
      {
        capability: 'email.send',
        tier: 'blocked',
        active_tier: 'approval_required',
        decision: null,
      },
      { capability: 'git.status', tier: 'autonomous', active_tier: 'autonomous' },
    ],
  })
  expect(body['version']).not.toBe(before['version'])
  expect((await shared().call('GET', '/api/policies', { role })).body).toEqual(before)
})

test('refuses a draft that is not valid, names that nothing has, and more than can be told', async () => {
  const bad = await simulate({ draft: { text: 'version: 2\nrules: []\n' } })
  expect([bad.status, bad.body]).toMatchObject([
    422,
    {
      code: 'PolicyInvalid',
      errors: [{ pointer: '/draft/text', detail: expect.stringMatching(/^1:\d+: version/) }],
    },
  ])
  const failing = 'tests:\n  - { capability: git.push, expect: autonomous }\n'
  const tested = await simulate({ draft: { text: `version: 1\nrules: []\n${failing}` } })
  expect(tested.body).toMatchObject({
    code: 'PolicyInvalid',
    errors: [{ detail: expect.stringMatching(/^4:5: test: /) }],
  })
  expect((await simulate({ agents: ['nobody'] })).status).toBe(404)
  expect((await simulate({ capabilities: ['git.shove'] })).body).toMatchObject({
    code: 'UnknownCapability',
  })
  const many = Array.from({ length: 9 }, (_, i) => `a${i}`)
  await using kit = await openRestKit()
  for (const name of many)
    await kit.kit.app.createAgent(kit.kit.operator(), {
      ...{ name, purpose: '', approvals: 'pending', mounts: [], tools: [], limits: [] },
    })
  const traced = await simulate({ agents: many, trace: true, arguments: {} }, kit)
  expect(traced.body).toMatchObject({
    code: 'InvalidParams',
    detail: expect.stringContaining('name fewer in agents or capabilities'),
  })
})

test('refuses to save a policy that is not valid, with the place of each error', async () => {
  await using kit = await openRestKit()
  const save = (text: string) =>
    kit.call('PUT', '/api/policies/organisation', { role, body: { text } })
  expect((await save('version: 1\nrules: []\n')).body).toEqual({
    version: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    file_version: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
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

test('saves a policy only where it is as it was read, and records nothing else', async () => {
  await using kit = await openRestKit()
  const put = (path: string, tag: string, text: string) =>
    kit.call('PUT', `/api/policies/${path}`, { role, headers: { 'if-match': tag }, body: { text } })
  const view = (await kit.call('GET', '/api/policies', { role })).body
  const files = view['files'] as { file: string; version: string }[]
  const read = `"${files.find(({ file }) => file === 'organisation.yaml')?.version}"`
  const text = (match: string) => `version: 1\nrules:\n  - { match: "${match}", tier: blocked }\n`
  const first = await put('organisation', read, text('git.*'))
  expect([first.status, first.headers.get('etag')]).toEqual([
    200,
    `"${String(first.body['file_version'])}"`,
  ])
  const late = await put('organisation', read, text('email.*'))
  expect([late.status, late.body['code']]).toEqual([412, 'PolicyChanged'])
  // The refusal carries the file as it is, so that nobody has to read it again.
  const current = { file: 'organisation.yaml', text: text('git.*') }
  expect(late.body['current']).toEqual({ ...current, version: first.body['file_version'] })
  const saved = (await kit.kit.audit()).filter(({ capability }) => capability === 'policy.saved')
  expect(saved).toHaveLength(1)
  expect((await kit.call('GET', '/api/policies', { role })).body).toMatchObject({
    version: first.body['version'],
  })
  // A file that is not there yet.
  expect((await put('agents/mailbot', '"none"', text('git.*'))).status).toBe(200)
  expect((await put('agents/mailbot', '"none"', text('git.*'))).status).toBe(412)
  const gone = await put('agents/coder', '"sha256:0"', text('git.*'))
  expect([gone.status, gone.body['current']]).toEqual([
    412,
    { file: 'agents/coder.yaml', text: '', version: 'none' },
  ])
  expect((await put('agents/mailbot', '*', text('email.*'))).status).toBe(200)
})
