import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CatalogVerdict, Model, ModelJob, ModelList } from '@gatehouse/contract'
import { scriptModel } from '@gatehouse/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { entryOf, ModelSource, sha256Of } from '../packages/server/test/models/model-source.ts'
import { Installation, pause, type Run } from './support/server.ts'

const full = process.env['GATEHOUSE_FULL'] === '1'
const kills = full ? 200 : 3
const root = new URL('..', import.meta.url).pathname

let source: ModelSource
beforeAll(async () => {
  source = await ModelSource.open()
})
afterAll(() => source[Symbol.asyncDispose]())

/** An installation whose way out leads to the source of this test, and to nothing else. */
function installationFor(from: ModelSource): Installation {
  const installation = new Installation()
  const settings = [
    `catalog: { url: "${from.url('/models.json')}" }`,
    `outbound: { private_targets: ["${from.target}"], ca_file: "${from.caFile}" }`,
  ]
  writeFileSync(join(installation.dataDir, 'gatehouse.yaml'), `${settings.join('\n')}\n`)
  return installation
}

const ask = async <T>(installation: Installation, run: Run, method: string, path: string) => {
  const token = readFileSync(join(installation.dataDir, 'cli-token'), 'utf8').trim()
  const response = await fetch(`${run.user_api_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
  })
  return (await response.json()) as T
}

/** Asks for a model once it is offered: the first look waits five seconds for the catalog. */
const install = async (installation: Installation, run: Run, id: string): Promise<ModelJob> => {
  const offered = async () =>
    (await ask<ModelList>(installation, run, 'GET', '/api/models')).models.map((model) => model.id)
  await expect.poll(offered).toContain(id)
  return ask<ModelJob>(installation, run, 'POST', `/api/models/${id}/install`)
}

/** Names where an engine looks. */
const inPlace = ({ dataDir }: Installation): string[] =>
  existsSync(join(dataDir, 'models'))
    ? readdirSync(join(dataDir, 'models')).filter((name) => name.endsWith('.gguf'))
    : []

test(`a download that is killed ${kills} times goes on each time, and nothing unverified is ever offered`, {
  ...(full ? { timeout: 3_600_000 } : {}),
}, async () => {
  const bytes = scriptModel({ mode: 'random', type: 'F32', dim: 256, ffn: 1_024, layers: 3 })
  // Slow enough that no run but the last one gets to the end.
  source.file('/large.gguf', bytes, { bytes: full ? 1_024 : 4_096, ms: 25 })
  source.json('/models.json', {
    schema_version: 1,
    models: [entryOf('large', source.url('/large.gguf'), bytes)],
  })
  await using installation = installationFor(source)
  let run = await installation.start()
  const job = await install(installation, run, 'large')
  let [most, asked] = [0, 0]
  for (let kill = 0; kill < kills; kill += 1) {
    // Each run asks the source again: from then on there is something to kill.
    const before = asked
    await expect.poll(() => source.of('/large.gguf').length).toBeGreaterThan(before)
    await pause(100 + ((kill * 97) % 400))
    await installation.kill()
    asked = source.of('/large.gguf').length
    expect(inPlace(installation)).toEqual([])
    run = await installation.start()
    const model = await ask<Model>(installation, run, 'GET', '/api/models/large')
    expect(model).toMatchObject({ installed: false, job: { id: job.id } })
    most = Math.max(most, model.partial_bytes)
  }
  expect(most).toBeGreaterThan(0)
  source.file('/large.gguf', bytes)
  await installation.kill()
  run = await installation.start()
  const last = async () => ask<ModelJob>(installation, run, 'GET', `/api/jobs/${job.id}`)
  await expect.poll(async () => (await last()).status).toBe('done')
  expect((await last()).attempts).toBeGreaterThan(kills)
  // All but the first went on from bytes that were there.
  const ranges = source.of('/large.gguf').map(({ range }) => range)
  expect(ranges.filter((range) => range !== null).length).toBeGreaterThanOrEqual(kills - 2)
  const [name = ''] = inPlace(installation)
  const file = join(installation.dataDir, 'models', name)
  expect(sha256Of(readFileSync(file))).toBe(sha256Of(bytes))
  expect(statSync(file).mode & 0o777).toBe(0o444)
  const list = await ask<ModelList>(installation, run, 'GET', '/api/models')
  expect(list.models.filter(({ installed }) => installed).map(({ id }) => id)).toEqual(['large'])
  expect((await installation.cli(['audit', 'verify'])).code).toBe(0)
})

test(`a kill around the end of an installation, ${full ? 60 : 2} times, leaves all of it or nothing`, {
  ...(full ? { timeout: 1_800_000 } : {}),
}, async () => {
  const bytes = scriptModel({ mode: 'random', type: 'F32', dim: 128, layers: 4 })
  const sha256 = sha256Of(bytes)
  source.file('/quick.gguf', bytes)
  source.json('/models.json', {
    schema_version: 1,
    models: [entryOf('quick', source.url('/quick.gguf'), bytes)],
  })
  await using installation = installationFor(source)
  for (let kill = 0; kill < (full ? 60 : 2); kill += 1) {
    let run = await installation.start()
    const job = await install(installation, run, 'quick')
    await pause((kill * 29) % 120)
    await installation.kill()
    for (const name of inPlace(installation))
      expect(sha256Of(readFileSync(join(installation.dataDir, 'models', name)))).toBe(sha256)
    run = await installation.start()
    const ended = async () => ask<ModelJob>(installation, run, 'GET', `/api/jobs/${job.id}`)
    await expect.poll(async () => (await ended()).status).toBe('done')
    expect(await ask<Model>(installation, run, 'GET', '/api/models/quick')).toMatchObject({
      installed: true,
    })
    expect(inPlace(installation)).toEqual([`${sha256}.gguf`])
    await ask(installation, run, 'DELETE', '/api/models/quick')
    await installation.stop()
  }
})

test('the command line installs, shows, verifies, chooses and removes, with a server', async () => {
  const bytes = scriptModel()
  source.file('/tiny.gguf', bytes, { bytes: 32_768, ms: 20 })
  source.json('/models.json', {
    schema_version: 1,
    models: [
      entryOf('tiny', source.url('/tiny.gguf'), bytes),
      { ...entryOf('-x', 'https://a.example', bytes) },
    ],
  })
  await using installation = installationFor(source)
  await installation.start()
  const listed = await installation.json<ModelList>(['models', 'list'])
  expect(listed.models.find(({ id }) => id === 'tiny')).toMatchObject({
    source: 'catalog',
    installed: false,
  })
  expect(listed.catalog.dropped).toMatchObject([{ id: '-x', index: 1, field: 'id' }])
  const installed = await installation.cli(['models', 'install', 'tiny'])
  expect(installed).toMatchObject({ code: 0 })
  expect(installed.stdout).toContain('tiny is installed')
  expect(installed.stderr).toMatch(/\d+ %/)
  expect(
    (await installation.json<{ verified: boolean }>(['models', 'verify', 'tiny'])).verified,
  ).toBe(true)
  expect((await installation.cli(['models', 'default', 'tiny'])).stdout).toContain(
    'used by default',
  )
  expect((await installation.cli(['models', 'show', 'tiny'])).stdout).toMatch(/State +installed/)
  expect((await installation.cli(['models', 'install', 'no-such'])).code).toBe(5)
  expect((await installation.cli(['models', 'cancel', 'tiny'])).code).toBe(1)
  const health = await installation.cli(['status', '--json'])
  expect(health.code).toBe(0)
  expect((await installation.cli(['models', 'remove', 'tiny', '--yes'])).stdout).toContain(
    'removed',
  )
  expect(inPlace(installation)).toEqual([])
  source.on('/models.json', (_request, response) => void response.writeHead(500).end())
  const refreshed = await installation.cli(['models', 'catalog', '--refresh'])
  expect(refreshed).toMatchObject({ code: 1 })
  expect(refreshed.stdout).toContain('could not be fetched')
  expect(await installation.stop()).toBe(0)
})

test('without a server the command fetches by itself, and a wrong hash ends with 1', async () => {
  const bytes = scriptModel()
  source.file('/tiny.gguf', bytes)
  source.json('/models.json', {
    schema_version: 1,
    models: [
      entryOf('tiny', source.url('/tiny.gguf'), bytes),
      { ...entryOf('wrong', source.url('/tiny.gguf'), bytes), sha256: 'ab'.repeat(32) },
    ],
  })
  await using installation = installationFor(source)
  await installation.start()
  await installation.stop()
  expect(await installation.cli(['models', 'install', 'tiny'])).toMatchObject({ code: 0 })
  const wrong = await installation.cli(['models', 'install', 'wrong', '--json'])
  expect(wrong.code).toBe(1)
  expect(JSON.parse(wrong.stdout)).toMatchObject({
    status: 'failed',
    error: { type: 'ModelHashMismatch' },
  })
  expect(inPlace(installation)).toEqual([`${sha256Of(bytes)}.gguf`])
  const { models } = await installation.json<ModelList>(['models', 'list'])
  expect(models.filter(({ installed }) => installed).map(({ id }) => id)).toEqual(['tiny'])
})

test('a catalog is checked without a server or any data', async () => {
  await using installation = new Installation()
  const own = await installation.cli(['catalog', 'validate', join(root, 'catalog/models.json')])
  expect(own).toMatchObject({ code: 0 })
  const file = join(installation.dataDir, 'bad.json')
  writeFileSync(
    file,
    JSON.stringify({
      schema_version: 1,
      models: [{ id: 'hf-x', url: 'http://x', sha256: 'x', size_bytes: 0 }],
    }),
  )
  const bad = await installation.cli(['catalog', 'validate', file, '--json'])
  expect(bad.code).toBe(1)
  const verdict = JSON.parse(bad.stdout) as CatalogVerdict
  expect(verdict).toMatchObject({ valid: false, outcome: 'loads_partly', loaded: [] })
  expect(verdict.problems.map(({ field }) => field)).toEqual(['id', 'url', 'sha256', 'size_bytes'])
  writeFileSync(file, ' '.repeat(1_048_577))
  const large = await installation.cli(['catalog', 'validate', file])
  expect(large).toMatchObject({ code: 1 })
  expect(large.stdout).toContain('1 MiB')
  expect(readdirSync(installation.dataDir)).toEqual(['bad.json'])
})

test.each([
  ['--catalog-url', 'http://models.example/models.json'],
  ['--models-mirrors', 'huggingface.co=http://mirror.example'],
])('a server does not start with a bad %s, and says where it came from', async (flag, value) => {
  await using installation = new Installation()
  const starting = installation.start([flag, value])
  await expect(starting).rejects.toThrow(/https:\/\//)
  await expect(starting).rejects.toThrow(flag)
})
