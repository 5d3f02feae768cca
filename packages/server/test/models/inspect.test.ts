import { scriptModel } from '@gatehouse/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openModelKit } from './kit.ts'
import { entryOf, ModelSource } from './model-source.ts'

let source: ModelSource
beforeAll(async () => {
  source = await ModelSource.open()
})
afterAll(() => source[Symbol.asyncDispose]())

test('tells what a model is, and whether it fits, from its first bytes alone', async () => {
  const large = scriptModel({ type: 'F32', mode: 'random', dim: 128, ffn: 1_024, layers: 4 })
  source.file('/large.gguf', large)
  source.json('/models.json', {
    schema_version: 1,
    models: [entryOf('large', source.url('/large.gguf'), large)],
  })
  await using kit = await openModelKit(source)
  expect(large.length).toBeGreaterThan(5_000_000)
  const model = await kit.kit.app.inspectModel(kit.op, { id: 'large' })
  expect(model).toMatchObject({
    installed: false,
    partial_bytes: 0,
    fit: { basis: 'header' },
    header: { layers: 4 },
  })
  expect(source.of('/large.gguf').map(({ range }) => range)).toEqual(['bytes=0-1048575'])
  // A source that ignores the range is stopped.
  source.on('/large.gguf', (_request, response) => void response.writeHead(200).end(large))
  expect(await kit.kit.app.inspectModel(kit.op, { id: 'large' })).toMatchObject({
    fit: { basis: 'header' },
  })
})
