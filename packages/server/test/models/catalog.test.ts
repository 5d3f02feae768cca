import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtInModels } from '../../src/domain/models/built-in.ts'
import { openCanary } from '../../src/outbound/testing.ts'
import { createRestApp } from '../../src/transport/rest/create-rest-app.ts'
import { type ModelKit, openModelKit } from './kit.ts'
import { entryOf, type Handler, ModelSource } from './model-source.ts'

let source: ModelSource
beforeAll(async () => {
  source = await ModelSource.open()
})
afterAll(() => source[Symbol.asyncDispose]())

const builtIns = builtInModels.map(({ id }) => id)
const entry = (id: string) => entryOf(id, 'https://models.example/x.gguf', Buffer.from(id))
const catalogOf = (...models: object[]) => ({ schema_version: 1, models })
const idsOf = async (kit: ModelKit) => (await kit.models()).models.map(({ id }) => id)

test('offers built-in models, then those of the catalog, and says which it dropped and why', async () => {
  source.json(
    '/models.json',
    catalogOf(
      entry('one'),
      entry('../../x'),
      entry('hf-x'),
      { ...entry('two'), size_bytes: 0 },
      entry(builtIns[0] ?? ''),
      entry('last'),
    ),
  )
  await using kit = await openModelKit(source)
  const { models, catalog } = await kit.models()
  expect(models.map(({ id, source: from, installed }) => [id, from, installed])).toEqual([
    ...builtIns.map((id) => [id, 'built-in', false]),
    ['one', 'catalog', false],
    ['last', 'catalog', false],
  ])
  expect(models[0]?.url).toBe(builtInModels[0]?.url)
  expect(catalog).toMatchObject({ status: 'current', reason: null })
  expect(catalog.fetched_at).not.toBeNull()
  expect(catalog.dropped.map(({ id, index, field }) => [id, index, field])).toEqual([
    ['../../x', 1, 'id'],
    ['hf-x', 2, 'id'],
    ['two', 3, 'size_bytes'],
    [builtIns[0], 4, 'id'],
  ])
})

describe('one structural fault', () => {
  test.each([
    [
      'a misspelled key',
      catalogOf(entry('one'), { ...entry('two'), sha256: undefined, sha265: 'x' }),
    ],
    ['a size as text', catalogOf(entry('one'), { ...entry('two'), size_bytes: '7' })],
    ['schema_version 2', { schema_version: 2, models: [entry('one')] }],
    ['default_model_id', { ...catalogOf(entry('one')), default_model_id: 'one' }],
    ['source', catalogOf(entry('one'), { ...entry('two'), source: 'built-in' })],
    ['no JSON', '<html>Sign in</html>'],
  ])('of a served catalog (%s) leaves the built-in models alone', async (_what, body) => {
    source.json('/models.json', body)
    await using kit = await openModelKit(source)
    const { models, catalog } = await kit.models()
    expect(models.map(({ id }) => id)).toEqual(builtIns)
    expect(catalog).toMatchObject({ status: 'refused', dropped: [] })
    expect(catalog.reason).toBeTruthy()
    const { components } = await kit.kit.app.health(kit.op)
    expect(components.models).toMatchObject({ status: 'degraded', catalog: 'refused' })
  })
})

describe('a source that', () => {
  const redirect =
    (to: string): Handler =>
    (_request, response) =>
      void response.writeHead(302, { location: to }).end()
  const endless: Handler = (_request, response) => {
    response.writeHead(200)
    const timer = setInterval(() => {
      if (response.destroyed) clearInterval(timer)
      else response.write('x'.repeat(64 * 1024))
    }, 1)
  }
  const drip: Handler = (_request, response) => {
    response.writeHead(200)
    const timer = setInterval(() => {
      if (response.destroyed) clearInterval(timer)
      else response.write(' ')
    }, 20)
  }
  const cut: Handler = (_request, response) => {
    response.writeHead(200, { 'content-length': 5_000 })
    response.write('{"schema_version":1,')
    setTimeout(() => response.destroy(), 20)
  }
  const expectUnavailable = async (
    handler: Handler,
    reason: RegExp,
    options: { readonly catalogTimeoutMs?: number } = {},
  ) => {
    source.on('/models.json', handler)
    await using kit = await openModelKit(source, options)
    const { models, catalog } = await kit.models()
    expect(models.map(({ id }) => id)).toEqual(builtIns)
    expect(catalog).toMatchObject({ status: 'unavailable', fetched_at: null })
    expect(catalog.reason).toMatch(reason)
  }
  test.each<readonly [string, Handler, RegExp]>([
    ['answers 404', (_q, r) => void r.writeHead(404).end(), /404/],
    ['answers 500', (_q, r) => void r.writeHead(500).end(), /500/],
    [
      'announces 2 MiB',
      (_q, r) => void r.writeHead(200, { 'content-length': 2 ** 21 }).end('x'.repeat(2 ** 21)),
      /1048576/,
    ],
    ['sends without an end', endless, /1048576/],
    ['is cut off', cut, /./],
    ['redirects to http', redirect('http://127.0.0.1:9/models.json'), /./],
    ['redirects to a file', redirect('file:///etc/models.json'), /./],
    ['redirects to an inner address', redirect('https://127.0.0.1:9/models.json'), /./],
  ])('%s leaves the built-in models, and the reason', async (_what, handler, reason) => {
    await expectUnavailable(handler, reason)
  })

  test.each<readonly [string, Handler]>([
    ['sends a byte at a time', drip],
    ['says nothing', () => undefined],
  ])('%s leaves the built-in models when its time is over', async (_what, handler) => {
    await expectUnavailable(handler, /0.1 s/, { catalogTimeoutMs: 100 })
  })

  test('redirects to plain http is not asked there', async () => {
    await using canary = await openCanary('127.0.0.1')
    source.on('/models.json', redirect(`${canary.url}/models.json`))
    await using kit = await openModelKit(source, { targets: [`127.0.0.1:${canary.port}`] })
    expect(await idsOf(kit)).toEqual(builtIns)
    expect(canary.connections()).toBe(0)
  })

  test('redirects to another path by https is followed', async () => {
    source.on('/models.json', redirect('/moved.json'))
    source.json('/moved.json', catalogOf(entry('one')))
    await using kit = await openModelKit(source)
    expect(await idsOf(kit)).toEqual([...builtIns, 'one'])
  })
})

test('a catalog that cannot be fetched any more stays as it was, also across a restart', async () => {
  source.json('/models.json', catalogOf(entry('one')))
  await using kit = await openModelKit(source)
  expect(await idsOf(kit)).toEqual([...builtIns, 'one'])
  source.on('/models.json', (_request, response) => void response.writeHead(503).end())
  const state = await kit.kit.app.refreshCatalog(kit.op)
  expect(state).toMatchObject({ status: 'cached' })
  expect(state.reason).toContain('503')
  expect(await idsOf(kit)).toEqual([...builtIns, 'one'])
  // Another service on the same folder, while the source is still away.
  await using again = await openModelKit(source, { folder: kit.folder })
  await expect.poll(async () => (await again.models()).catalog.status).toBe('cached')
  expect(await idsOf(again)).toEqual([...builtIns, 'one'])
})

test('does not keep people waiting for a catalog that is slow to come', async () => {
  let answer = (): void => undefined
  source.on('/slow.json', (_request, response) => {
    answer = () => void response.writeHead(200).end(JSON.stringify(catalogOf(entry('one'))))
  })
  await using kit = await openModelKit(source, { catalogUrl: source.url('/slow.json') })
  const looking = kit.models()
  await expect.poll(() => source.of('/slow.json').length).toBe(1)
  kit.kit.clock.move(5_000)
  const { models, catalog } = await looking
  expect(models.map(({ id }) => id)).toEqual(builtIns)
  expect(catalog).toMatchObject({ status: 'unavailable', reason: 'it has not been fetched yet' })
  expect((await kit.kit.app.health(kit.op)).components.models.status).toBe('healthy')
  answer()
  await expect.poll(() => idsOf(kit)).toEqual([...builtIns, 'one'])
})

test('asks with the ETag it has, and again after a day', async () => {
  source.json('/daily.json', catalogOf(entry('one')))
  await using kit = await openModelKit(source, { catalogUrl: source.url('/daily.json') })
  await kit.models()
  const asked = () => source.of('/daily.json')
  await expect.poll(() => asked().length).toBe(1)
  kit.kit.clock.move(86_399_000)
  await kit.models()
  expect(asked()).toHaveLength(1)
  source.json('/daily.json', catalogOf(entry('one'), entry('two')))
  kit.kit.clock.move(2_000)
  await expect.poll(() => idsOf(kit)).toEqual([...builtIns, 'one', 'two'])
  expect(asked()[1]?.etag).toMatch(/^"/)
  const before = await kit.models()
  kit.kit.clock.move(5_000)
  const state = await kit.kit.app.refreshCatalog(kit.op)
  expect(asked()).toHaveLength(3)
  // 304: nothing new, and checked all the same.
  expect(state).toMatchObject({ status: 'current' })
  expect(state.fetched_at).not.toBe(before.catalog.fetched_at)
  expect(await idsOf(kit)).toEqual([...builtIns, 'one', 'two'])
})

test('asking for it now is answered by no request that was sent before', async () => {
  source.json('/now.json', catalogOf(entry('one')))
  await using kit = await openModelKit(source, { catalogUrl: source.url('/now.json') })
  await kit.models()
  const held: (() => void)[] = []
  source.on('/now.json', (_request, response) => {
    const body = JSON.stringify(catalogOf(entry('one')))
    held.push(() => response.writeHead(200).end(body))
  })
  const first = kit.kit.app.refreshCatalog(kit.op)
  await expect.poll(() => held.length).toBe(1)
  source.json('/now.json', catalogOf(entry('one'), entry('two')))
  const later = [1, 2].map(() => kit.kit.app.refreshCatalog(kit.op))
  held[0]?.()
  await Promise.all([first, ...later])
  expect(await idsOf(kit)).toEqual([...builtIns, 'one', 'two'])
  // One request for both who came later.
  expect(source.of('/now.json')).toHaveLength(3)
})

test('a catalog that breaks takes its models away, and gives them back once it is mended', async () => {
  source.json('/models.json', catalogOf(entry('one')))
  await using kit = await openModelKit(source)
  expect(await idsOf(kit)).toContain('one')
  source.json('/models.json', { schema_version: 1, models: [{ id: 'one' }] })
  expect(await kit.kit.app.refreshCatalog(kit.op)).toMatchObject({ status: 'refused' })
  expect(await idsOf(kit)).toEqual(builtIns)
  source.json('/models.json', catalogOf(entry('one')))
  expect(await kit.kit.app.refreshCatalog(kit.op)).toMatchObject({ status: 'current' })
  expect(await idsOf(kit)).toContain('one')
  const acts = await kit.kit.audit({ capability: 'catalog.refreshed' })
  expect(acts.map(({ result }) => result)).toEqual(['success', 'error'])
  const changes = await kit.kit.audit({ capability: 'catalog.changed' })
  expect(changes.map(({ result, arguments: { models } }) => [result, models])).toEqual([
    ['success', 1],
    ['error', 0],
    ['success', 1],
  ])
})

test('a kept catalog that was damaged on the disk is fetched again', async () => {
  source.json('/models.json', catalogOf(entry('one')))
  await using kit = await openModelKit(source)
  await kit.models()
  writeFileSync(join(kit.folder, 'catalog.json'), '{"url":')
  await using again = await openModelKit(source, { folder: kit.folder })
  expect(await idsOf(again)).toEqual([...builtIns, 'one'])
  expect(source.requests.at(-1)?.etag).toBeNull()
})

test('without an address the built-in models are offered, and asking for more says why not', async () => {
  await using kit = await openModelKit(source, { catalogUrl: null })
  const { models, catalog } = await kit.models()
  expect(models.map(({ id }) => id)).toEqual(builtIns)
  expect(catalog).toMatchObject({ status: 'not_configured', url: null })
  await expect(kit.kit.app.refreshCatalog(kit.op)).rejects.toMatchObject({
    type: 'CatalogUnavailable',
  })
})

test('serves it all by REST, and 202 for what goes on behind the answer', async () => {
  await using kit = await openModelKit(source, { catalogUrl: null })
  const { app } = kit.kit
  const rest = createRestApp({
    app,
    version: '1.2.3',
    ids: { next: (prefix) => `${prefix}-${'0'.repeat(26)}` },
    log: { debug() {}, info() {}, warn() {}, error() {} },
  })
  const { token } = await app.createUserToken(kit.op, { label: 'eyes', role: 'operator' })
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
    const response = await rest.fetch(new Request(`http://gatehouse.localhost${path}`, init))
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const [id = ''] = builtIns
  const listed = await ask('GET', '/api/models')
  expect(listed.status).toBe(200)
  expect(listed.body).toMatchObject({ default_model: null, catalog: { status: 'not_configured' } })
  expect((await ask('GET', `/api/models/${id}`)).body).toMatchObject({ id, installed: false })
  expect(await ask('GET', '/api/models/..%2f..%2fx')).toMatchObject({
    status: 404,
    body: { code: 'ModelNotFound' },
  })
  expect(await ask('POST', '/api/models/nothing/install')).toMatchObject({ status: 404 })
  expect(await ask('DELETE', `/api/models/${id}`)).toMatchObject({
    status: 409,
    body: { code: 'ModelNotInstalled' },
  })
  expect(await ask('PUT', '/api/models/default', { id })).toMatchObject({ status: 409 })
  expect(await ask('POST', `/api/models/${id}/verify`)).toMatchObject({ status: 409 })
  expect(await ask('POST', `/api/models/${id}/cancel`)).toMatchObject({
    status: 409,
    body: { code: 'Conflict' },
  })
  expect(await ask('GET', '/api/jobs/job-1')).toMatchObject({
    status: 404,
    body: { code: 'JobNotFound' },
  })
  const begun = await ask('POST', `/api/models/${id}/install`)
  expect(begun.status).toBe(202)
  expect(begun.body).toMatchObject({ model_id: id, total_bytes: 491_400_032, status: 'waiting' })
  const again = await ask('POST', `/api/models/${id}/install`)
  expect(again.body['id']).toBe(begun.body['id'])
  const job = await ask('GET', `/api/jobs/${String(begun.body['id'])}`)
  expect(job.body).toMatchObject({ id: begun.body['id'], model_id: id })
  expect(await ask('DELETE', `/api/models/${id}`)).toMatchObject({
    status: 409,
    body: { code: 'ModelBusy' },
  })
  expect(await ask('POST', `/api/models/${id}/cancel`)).toMatchObject({
    status: 200,
    body: { status: 'cancelled' },
  })
})
