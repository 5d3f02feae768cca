import { hasProgram } from '@gatehouse/testkit/programs'
import { until } from '@gatehouse/testkit/until'
import { describe, expect, test } from 'vitest'
import { UpstreamKit } from './upstream-kit.ts'

describe.skipIf(!hasProgram('bwrap'))('official servers', () => {
  test('everything: found, reviewed, held, approved, answered', async () => {
    await using kit = await UpstreamKit.open()
    const review = await kit.add(kit.official('everything', ['stdio']))
    expect(review.upstream).toMatchObject({ status: 'needs_review', offered: 0 })
    expect(review.tools.map(({ capability }) => capability)).toContain('everything.echo')
    const unknown = await kit.kit.invoke('alpha', 'everything.echo', { message: 'hi' })
    expect(unknown.kind).toBe('unknown')
    await kit.accept(undefined, 'everything')
    const id = await kit.kit.pending('alpha', 'everything.echo', { message: 'hi' })
    await kit.kit.decide(id, 'approve')
    const { result } = await kit.kit.resolved('alpha', id)
    expect(result).toMatchObject({
      success: true,
      data: { content: [{ type: 'text', text: 'Echo: hi' }] },
    })
    await kit.allow('everything')
    const sum = await kit.kit.invoke('alpha', 'everything.get-sum', { a: 2, b: 3 })
    expect(sum).toMatchObject({ kind: 'succeeded', text: 'The sum of 2 and 3 is 5.' })
    const listed = await kit.kit.invoke('alpha', 'everything.list_resources')
    const [first] = JSON.parse((listed as { text: string }).text).resources
    const read = await kit.kit.invoke('alpha', 'everything.read_resource', { uri: first.uri })
    expect(read).toMatchObject({
      kind: 'succeeded',
      data: { content: [{ type: 'resource', resource: { uri: first.uri } }] },
    })
    let changes = 0
    const changed = () => {
      changes += 1
      return true
    }
    const watched = { uri: `upstream://everything/${first.uri}` }
    const watch = await kit.kit.app.watchResource(kit.kit.op('alpha'), watched, { changed })
    expect(watch.kind).toBe('watched')
    await kit.kit.run('alpha', 'everything.toggle-subscriber-updates')
    await until(() => changes === 1)
    if (watch.kind === 'watched') watch[Symbol.dispose]()
    const prompt = await kit.kit.invoke('alpha', 'everything.get_prompt', { name: 'simple-prompt' })
    expect(prompt).toMatchObject({ kind: 'succeeded', text: expect.stringContaining('messages') })
    const absent = await kit.kit.invoke('alpha', 'everything.get_prompt', { name: 'no-such' })
    expect(absent).toMatchObject({
      kind: 'failed',
      error: { type: 'InvalidArguments', message: expect.stringContaining('no-such') },
    })
    const wrong = await kit.kit.invoke('alpha', 'everything.get-sum', { a: 2 })
    expect(wrong).toMatchObject({ kind: 'failed', error: { type: 'InvalidArguments' } })
  })
})
