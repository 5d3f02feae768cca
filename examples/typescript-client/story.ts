// An agent that keeps notes, and checks that each step goes as it is told.
import assert from 'node:assert/strict'
import { errors, Gatehouse } from 'gatehouse-client'

const [url = '', tokenFile = '', transport = ''] = process.argv.slice(2)
if (transport !== 'http' && transport !== 'websocket') throw new Error('http or websocket?')
const place = { url, transport } as const

/** The error that some work has to raise. */
const raised = async <E extends Error>(
  kind: abstract new (...given: never[]) => E,
  work: () => Promise<unknown>,
): Promise<E> => {
  const error = await work().then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (error instanceof kind) return error
  throw new assert.AssertionError({ message: `not a ${kind.name}: ${String(error)}` })
}

{
  await using gate = new Gatehouse({ ...place, tokenFile, client: { name: 'notes', version: '1' } })
  const listed = await gate.capabilities('filesystem')
  const tiers = new Map(listed.map((one) => [one.name, one.permission_tier]))
  assert.equal(tiers.get('filesystem.read'), 'autonomous')
  assert.equal(tiers.get('filesystem.delete'), 'approval_required')

  for (const path of ['old.txt', 'kept.txt'])
    await gate.call('filesystem.write', { path, content: 'a note\n' })
  const { content } = await gate.call('filesystem.read', { path: 'old.txt' })
  assert.equal(content, 'a note\n')
  await gate.call('scratch.set', { key: 'step', value: { done: 2 } })
  assert.deepEqual((await gate.call('scratch.get', { key: 'step' })).value, { done: 2 })
  console.log('wrote and read two notes')

  const missing = await raised(errors.FileNotFound, () =>
    gate.call('filesystem.read', { path: 'none' }),
  )
  assert.match(missing.message, /none/)
  assert.match(missing.recovery[0]?.action ?? '', /^filesystem(\.|__)list$/)
  const unknown = await raised(errors.UnknownCapability, () => gate.call('filesystem.raed'))
  assert.match(unknown.didYouMean.join(' '), /^filesystem(\.|__)read/)
  console.log('read the errors by their classes')

  let asked = ''
  const reason = 'It is old'
  const onPending = ({ approvalId }: { approvalId: string }) => {
    asked = approvalId
  }
  await gate.call('filesystem.delete', { path: 'old.txt' }, { reason, onPending })
  assert.match(asked, /^appr-/)
  await raised(errors.FileNotFound, () => gate.call('filesystem.read', { path: 'old.txt' }))
  console.log('a person approved, and the note is gone')

  const no = await raised(errors.ApprovalRejected, () =>
    gate.call('filesystem.delete', { path: 'kept.txt' }),
  )
  assert.match(no.message, /not this one/)
  console.log('a person rejected, and said why')

  const later = { path: 'later.txt' }
  await gate.call('filesystem.write', { ...later, content: '' })
  const ask = () => gate.call('filesystem.delete', later, { wait: false })
  const { approvalId } = await raised(errors.ApprovalPending, ask)
  assert.equal((await raised(errors.ApprovalPending, ask)).approvalId, approvalId)
  await gate.call('approvals.cancel', { approval_id: approvalId })
  await raised(errors.ApprovalCancelled, () => gate.wait(approvalId))
  console.log('asked, did not wait, asked again, and withdrew the request')

  for await (const { type, data } of gate.events())
    if (type === 'approval.resolved' && data['approval_id'] === approvalId) break
  console.log('was told of it')
}

const strange = new Gatehouse({ ...place, token: '0'.repeat(64) })
await raised(errors.AuthenticationFailed, () => strange.call('agent.whoami'))
const away = new Gatehouse({ ...place, url: 'http://127.0.0.1:1', tokenFile, maxRetries: 0 })
const { sent } = await raised(errors.Unreachable, () => away.call('agent.whoami'))
assert.equal(sent, false)
console.log('a wrong token and a service that is away are told apart')
