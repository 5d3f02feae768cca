import { createKit, type Kit } from '@gatehouse/testkit'
import { replacing } from '@gatehouse/testkit/replacing'
import { expect, test } from 'vitest'
import type { Storage } from '../../ports/storage.ts'

const policy = `version: 1
rules:
  - { match: "*", tier: approval_required }
`

const requested = async (kit: Kit, args: object) => {
  const id = await kit.pending('alpha', 'filesystem.delete', args)
  return (await kit.storage.approvals.find(id)) ?? expect.fail('nothing stored')
}

test.each([
  [false, undefined],
  [true, 'node'],
])(
  'a request names the node that was asked where others share its store: %s',
  async (shared, named) => {
    const ports = <T extends object>(name: string, port: T): T =>
      name === 'storage' && shared
        ? (replacing(port as unknown as Storage, { isNetworked: true }) as unknown as T)
        : port
    await using kit = await createKit({ policy, startsLater: true, ports })
    await kit.agent('alpha')
    const id = await kit.pending('alpha', 'state.set', { key: 'a', value: 1 })
    const { bound_json } = (await kit.storage.approvals.find(id)) ?? expect.fail('nothing stored')
    const bound = JSON.parse(bound_json) as Record<string, unknown>
    expect(bound['node']).toBe(named && kit.parts.node)
    expect(bound).toMatchObject({
      agent: 'alpha',
      capability: 'state.set',
      arguments: { key: 'a', value: 1 },
      policy_version: kit.parts.policy.current().version,
      nonce: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    })
  },
)

test('the arguments as they were sent are kept where they are others than those that run', async () => {
  await using kit = await createKit({ policy, startsLater: true })
  await kit.agent('alpha')
  await kit.parts.files
    .open({ name: 'alpha', workspace: kit.workspace('alpha'), mounts: [] })
    .write('a', Buffer.from('a'), { createParents: false })
  const short = await requested(kit, { path: 'a' })
  expect(short.id).toMatch(/^appr-/)
  expect(JSON.parse(short.arguments_json)).toEqual({ path: 'a', recursive: false })
  expect(short.sent_json).toBe('{"path":"a"}')
  const whole = await requested(kit, { path: './a', recursive: false })
  expect(whole.sent_json).toBeNull()
})
