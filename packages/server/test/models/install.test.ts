import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ModelJob } from '@gatehouse/contract'
import { scriptModel } from '@gatehouse/testkit'
import { replacing } from '@gatehouse/testkit/replacing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openCanary } from '../../src/outbound/testing.ts'
import { type ModelKit, openModelKit } from './kit.ts'
import { entryOf, type Handler, ModelSource, sha256Of } from './model-source.ts'

const bytes = scriptModel()
const sha256 = sha256Of(bytes)
let source: ModelSource
beforeAll(async () => {
  source = await ModelSource.open()
})
afterAll(() => source[Symbol.asyncDispose]())

const listing = (...models: object[]) => source.json('/models.json', { schema_version: 1, models })
beforeEach(() => {
  source.requests.length = 0
  source.file('/tiny.gguf', bytes)
  listing(entryOf('tiny', source.url('/tiny.gguf'), bytes))
})

const whole = { name: `${sha256}.gguf`, sha256, mode: 0o444 }

test('a model whose hash is equal is put in its place, read-only, and offered', async () => {
  await using kit = await openModelKit(source)
  expect(await kit.show('tiny')).toMatchObject({ installed: false, fit: { basis: 'size' } })
  const job = await kit.installed('tiny')
  expect(job).toMatchObject({
    status: 'done',
    phase: 'ended',
    percent: 100,
    downloaded_bytes: bytes.length,
    error: null,
    fit: { basis: 'header' },
  })
  expect(kit.offered()).toEqual([whole])
  expect(kit.aside()).toEqual([])
  expect(await kit.show('tiny')).toMatchObject({
    installed: true,
    source: 'catalog',
    default: false,
    problem: null,
    header: { architecture: 'llama', parameters: 115_008 },
    job: { id: job.id },
  })
  const acts = (await kit.kit.audit()).map(({ capability }) => capability)
  expect(acts).toEqual(expect.arrayContaining(['model.install_requested', 'model.installed']))
  const { events } = await kit.kit.app.listActivity(kit.op, { limit: 50, offset: 0 })
  expect(events.find(({ type }) => type === 'model_installed')).toMatchObject({
    success: true,
    model: { id: 'tiny', job_id: job.id, size_bytes: bytes.length },
  })
  const { components } = await kit.kit.app.health(kit.op)
  expect(components.models).toMatchObject({ installed: 1, catalog: 'current' })
})

test('a second request joins the first, and one for what is installed begins nothing', async () => {
  source.file('/tiny.gguf', bytes, { bytes: 16_384, ms: 10 })
  await using kit = await openModelKit(source)
  const [one, two] = await Promise.all([kit.install('tiny'), kit.install('tiny')])
  expect(two.id).toBe(one.id)
  await kit.until(one.id, ({ status }) => status === 'done')
  expect((await kit.install('tiny')).id).toBe(one.id)
  expect(source.of('/tiny.gguf')).toHaveLength(1)
})

describe('a source that lies', () => {
  const wrong = Buffer.from(bytes)
  wrong[100_000] = (wrong[100_000] ?? 0) ^ 1
  const answer =
    (status: number, headers: Record<string, string | number>, body: Uint8Array): Handler =>
    (_request, response) =>
      void response.writeHead(status, headers).end(body)
  const redirect =
    (to: string): Handler =>
    (_request, response) =>
      void response.writeHead(302, { location: to }).end()
  const chunked =
    (body: Uint8Array): Handler =>
    (_request, response) => {
      response.writeHead(200)
      response.write(body)
      response.end()
    }
  test.each<readonly [string, Handler, string]>([
    ['by one bit', answer(200, {}, wrong), 'ModelHashMismatch'],
    [
      'with a longer body that it announces',
      answer(200, { 'content-length': bytes.length + 9 }, Buffer.concat([bytes, Buffer.alloc(9)])),
      'ModelSizeMismatch',
    ],
    [
      'with a longer body that it does not announce',
      chunked(Buffer.concat([bytes, Buffer.alloc(9)])),
      'ModelSizeMismatch',
    ],
    [
      'with 10 TB announced',
      (_q, r) => r.writeHead(200, { 'content-length': 10 ** 13 }).flushHeaders(),
      'ModelSizeMismatch',
    ],
    [
      'with a shorter body that it announces',
      answer(200, { 'content-length': 9_999 }, bytes.subarray(0, 9_999)),
      'ModelSizeMismatch',
    ],
    [
      'with a page in place of a file',
      chunked(Buffer.alloc(bytes.length, '<html>')),
      'ModelHeaderRefused',
    ],
    ['with 404', answer(404, {}, Buffer.from('gone')), 'ModelSourceFailed'],
    ['with 403', answer(403, {}, Buffer.from('no')), 'ModelSourceFailed'],
    ['with a redirect to http', redirect('http://127.0.0.1:9/tiny.gguf'), 'RedirectRefused'],
    [
      'with a redirect to an inner address',
      redirect('https://127.0.0.1:9/tiny.gguf'),
      'UrlNotAllowed',
    ],
    ['with a redirect to a file', redirect('file:///tiny.gguf'), 'RedirectRefused'],
  ])('%s is found out, and nothing of it is offered', async (_what, handler, type) => {
    source.on('/tiny.gguf', handler)
    await using kit = await openModelKit(source)
    const job = await kit.installed('tiny')
    expect(job).toMatchObject({ status: 'failed', error: { type } })
    expect(job.error?.recovery.length).toBeGreaterThan(0)
    expect(kit.offered()).toEqual([])
    expect((await kit.show('tiny')).installed).toBe(false)
    const [failed] = await kit.kit.audit({ capability: 'model.install_failed' })
    expect(failed).toMatchObject({ result: 'error', arguments: { id: 'tiny', error: type } })
  })

  test.each<readonly [string, Handler]>([
    ['answers 503', answer(503, {}, Buffer.alloc(0))],
    ['says nothing', () => undefined],
    [
      'sends half and closes, each time',
      (_q, r) => {
        r.writeHead(200, { 'content-length': bytes.length })
        r.write(bytes.subarray(0, 50_000), () => r.destroy())
      },
    ],
    [
      'ends early without saying so',
      (_q, r) => {
        r.writeHead(200)
        r.end(bytes.subarray(0, 50_000))
      },
    ],
  ])('or %s is tried again, and then given up', async (_what, handler) => {
    source.on('/tiny.gguf', handler)
    await using kit = await openModelKit(source, { stallMs: 250 })
    const job = await kit.installed('tiny')
    expect(job.status).toBe('failed')
    expect(job.attempts).toBeGreaterThanOrEqual(8)
    expect(kit.offered()).toEqual([])
  })

  test('keeps what was refused apart, and a good source mends it', async () => {
    source.on('/tiny.gguf', answer(200, {}, wrong))
    await using kit = await openModelKit(source)
    await kit.installed('tiny')
    expect(kit.aside()).toEqual([`${sha256}.rejected`])
    source.file('/tiny.gguf', bytes)
    expect((await kit.installed('tiny')).status).toBe('done')
    expect(kit.offered()).toEqual([whole])
    expect(kit.aside()).toEqual([])
  })

  test('is not asked by plain http', async () => {
    await using canary = await openCanary('127.0.0.1')
    source.on('/tiny.gguf', redirect(`${canary.url}/tiny.gguf`))
    await using kit = await openModelKit(source, { targets: [`127.0.0.1:${canary.port}`] })
    expect((await kit.installed('tiny')).status).toBe('failed')
    expect(canary.connections()).toBe(0)
  })

  test('of a header that would bring an engine down is refused although the hash is equal', async () => {
    const hostile = scriptModel({ change: { 'llama.feed_forward_length': null } })
    source.file('/hostile.gguf', hostile)
    listing(entryOf('hostile', source.url('/hostile.gguf'), hostile))
    await using kit = await openModelKit(source)
    const job = await kit.installed('hostile')
    expect(job.error).toMatchObject({ type: 'ModelHeaderRefused' })
    expect(job.error?.message).toContain('llama.feed_forward_length')
    expect(kit.offered()).toEqual([])
  })
})

describe('a download that was interrupted', () => {
  /** Serves the first half once, closes when the service has it, and does `then` from there on. */
  const openInterrupted = async (then: Handler): Promise<ModelKit> => {
    let first = true
    source.on('/tiny.gguf', (request, response) => {
      if (!first) return then(request, response)
      first = false
      response.writeHead(200, { 'content-length': bytes.length })
      response.write(bytes.subarray(0, 70_000))
      void taken().then(() => response.destroy())
    })
    const kit = await openModelKit(source)
    const downloaded = async () => (await kit.show('tiny')).job?.downloaded_bytes
    const taken = async () => {
      await expect.poll(downloaded).toBe(70_000)
    }
    return kit
  }
  const parts =
    (change: (from: number) => { range: string; body: Uint8Array; status?: number }): Handler =>
    (request, response) => {
      const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? Number.NaN)
      if (Number.isNaN(from)) return void response.writeHead(200).end(bytes)
      const { range, body, status = 206 } = change(from)
      response.writeHead(status, { 'content-range': range }).end(body)
    }

  const cases: readonly (readonly [string, Handler, number])[] = [
    [
      'goes on where it stopped',
      parts((from) => ({
        range: `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
        body: bytes.subarray(from),
      })),
      2,
    ],
    [
      'goes on in smaller parts than it asked for',
      parts((from) => ({
        range: `bytes ${from}-${Math.min(from + 29_999, bytes.length - 1)}/${bytes.length}`,
        body: bytes.subarray(from, from + 30_000),
      })),
      4,
    ],
    ['starts again where ranges are ignored', (_q, r) => void r.writeHead(200).end(bytes), 2],
    [
      'starts again where another range comes',
      parts(() => ({ range: `bytes 0-${bytes.length - 1}/${bytes.length}`, body: bytes })),
      3,
    ],
    [
      'starts again where a part does not say which',
      parts((from) => ({ range: 'bytes', body: bytes.subarray(from) })),
      3,
    ],
    [
      'starts again where the range is refused',
      parts(() => ({ range: `bytes */${bytes.length}`, body: Buffer.alloc(0), status: 416 })),
      3,
    ],
  ]
  test.each(cases)('%s', async (_what, then, requests) => {
    await using kit = await openInterrupted(then)
    expect((await kit.installed('tiny')).status).toBe('done')
    expect(kit.offered()).toEqual([whole])
    expect(source.of('/tiny.gguf')).toHaveLength(requests)
    expect(source.of('/tiny.gguf')[1]?.range).toBe('bytes=70000-')
  })

  test('is refused where the part is of a file of another size', async () => {
    await using kit = await openInterrupted(
      parts((from) => ({
        range: `bytes ${from}-${bytes.length}/${bytes.length + 1}`,
        body: bytes.subarray(from),
      })),
    )
    expect((await kit.installed('tiny')).error).toMatchObject({ type: 'ModelSizeMismatch' })
    expect(kit.offered()).toEqual([])
  })

  test('is found out where the part holds other bytes, and the next one starts anew', async () => {
    const lie = parts((from) => ({
      range: `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
      body: Buffer.alloc(bytes.length - from, 7),
    }))
    await using kit = await openInterrupted(lie)
    expect((await kit.installed('tiny')).error).toMatchObject({ type: 'ModelHashMismatch' })
    expect(kit.offered()).toEqual([])
    source.file('/tiny.gguf', bytes)
    expect((await kit.installed('tiny')).status).toBe('done')
    expect(source.of('/tiny.gguf').at(-1)?.range).toBeNull()
  })

  test('takes nothing that lies in its place on trust: other bytes there are found out', async () => {
    await using kit = await openModelKit(source)
    await kit.models()
    mkdirSync(join(kit.folder, 'unfinished'), { recursive: true })
    writeFileSync(join(kit.folder, 'unfinished', `${sha256}.part`), Buffer.alloc(bytes.length, 1))
    const job = await kit.installed('tiny')
    expect(job.status).toBe('failed')
    expect(kit.offered()).toEqual([])
    expect((await kit.installed('tiny')).status).toBe('done')
  })

  test('takes a file without a record for nothing: it is hashed before it is offered', async () => {
    await using kit = await openModelKit(source)
    await kit.models()
    writeFileSync(join(kit.folder, `${sha256}.gguf`), Buffer.alloc(bytes.length, 1))
    expect((await kit.show('tiny')).installed).toBe(false)
    expect((await kit.installed('tiny')).status).toBe('done')
    expect(kit.offered()).toEqual([whole])
  })
})

describe('an installation', () => {
  const slow = { bytes: 4_096, ms: 60 }
  const begun = async (kit: ModelKit) => {
    const { id } = await kit.install('tiny')
    return kit.until(
      id,
      ({ phase, downloaded_bytes }) => phase === 'downloading' && downloaded_bytes > 8_000,
    )
  }

  test('that is cancelled keeps what it has, and the next one goes on from there', async () => {
    source.file('/tiny.gguf', bytes, slow)
    await using kit = await openModelKit(source)
    const job = await begun(kit)
    expect(job).toMatchObject({ status: 'running', total_bytes: bytes.length })
    const cancelled = await kit.kit.app.cancelInstall(kit.op, { id: 'tiny' })
    expect(cancelled).toMatchObject({ id: job.id, status: 'cancelled' })
    await expect.poll(async () => (await kit.show('tiny')).partial_bytes).toBeGreaterThan(8_000)
    await expect(kit.kit.app.cancelInstall(kit.op, { id: 'tiny' })).rejects.toMatchObject({
      type: 'Conflict',
    })
    source.file('/tiny.gguf', bytes)
    expect((await kit.installed('tiny')).status).toBe('done')
    expect(source.of('/tiny.gguf').at(-1)?.range).toMatch(/^bytes=\d{4,}-$/)
    expect((await kit.kit.audit({ capability: 'model.install_cancelled' }))[0]).toMatchObject({
      actor: 'user:ana',
      arguments: { id: 'tiny', job_id: job.id },
    })
  })

  test('is told of in steps by the activity stream', async () => {
    source.file('/tiny.gguf', bytes, { bytes: 4_096, ms: 2 })
    await using kit = await openModelKit(source)
    await kit.installed('tiny')
    const { events } = await kit.kit.app.listActivity(kit.op, { limit: 100, offset: 0 })
    const steps = events
      .filter(({ type }) => type === 'model_install_progress')
      .map(({ model }) => model?.percent)
    // Each tenth once and in order; a piece that brings several at once is told of as one.
    const tenths = [10, 20, 30, 40, 50, 60, 70, 80, 90]
    expect(steps.length).toBeGreaterThan(0)
    expect(steps.toReversed()).toEqual(tenths.filter((tenth) => steps.includes(tenth)))
  })

  test('is told to those who listen while it runs, and once more when it has ended', async () => {
    source.file('/tiny.gguf', bytes, slow)
    await using kit = await openModelKit(source)
    const heard: ModelJob[] = []
    using _listening = kit.kit.app.subscribeInstalls((job) => void heard.push(job))
    const { id } = await begun(kit)
    const before = heard.length
    await expect
      .poll(() => {
        kit.kit.clock.move(1_000)
        return heard.slice(before).some(({ downloaded_bytes }) => downloaded_bytes > 8_000)
      })
      .toBe(true)
    await kit.until(id, ({ status }) => status === 'done')
    await expect.poll(() => heard.at(-1)?.status).toBe('done')
    expect(new Set(heard.map((job) => job.id))).toEqual(new Set([id]))
    expect(heard.at(-1)).toEqual(await kit.kit.app.showModelJob(kit.op, { job_id: id }))
  })

  test('does not begin where the disk lacks the room, and says by how much', async () => {
    await using kit = await openModelKit(source, {
      change: (parts) => ({ ...parts, files: { ...parts.files, freeBytes: async () => 100_000 } }),
    })
    await expect(kit.install('tiny')).rejects.toMatchObject({
      type: 'NotEnoughDisk',
      facts: { id: 'tiny', needed_bytes: bytes.length, free_bytes: 100_000 },
    })
    expect(source.of('/tiny.gguf')).toEqual([])
  })

  test('counts only what is left of it', async () => {
    await using kit = await openModelKit(source, {
      change: (parts) => ({
        ...parts,
        files: { ...parts.files, freeBytes: async () => 70_000, partialBytes: async () => 70_000 },
      }),
    })
    expect((await kit.installed('tiny')).status).toBe('done')
  })

  test('of two models with one file fetches it once at a time, and removing one leaves the other', async () => {
    source.file('/tiny.gguf', bytes, { bytes: 32_768, ms: 5 })
    listing(
      entryOf('tiny', source.url('/tiny.gguf'), bytes),
      entryOf('twin', source.url('/tiny.gguf'), bytes),
    )
    await using kit = await openModelKit(source)
    const jobs = await Promise.all([kit.installed('tiny'), kit.installed('twin')])
    expect(jobs.map(({ status }) => status)).toEqual(['done', 'done'])
    expect(source.of('/tiny.gguf')).toHaveLength(1)
    expect(await kit.kit.app.removeModel(kit.op, { id: 'tiny' })).toMatchObject({ freed_bytes: 0 })
    expect((await kit.show('twin')).installed).toBe(true)
    expect(await kit.kit.app.removeModel(kit.op, { id: 'twin' })).toMatchObject({
      freed_bytes: bytes.length,
    })
    expect(kit.offered()).toEqual([])
  })

  test('fetches from the mirror of a host, which the hash makes safe', async () => {
    source.file('/mirror/a/tiny.gguf', bytes)
    listing(entryOf('tiny', 'https://models.example/a/tiny.gguf', bytes))
    const mirrors = new Map([['models.example', source.url('/mirror')]])
    await using kit = await openModelKit(source, { mirrors })
    expect((await kit.installed('tiny')).status).toBe('done')
    expect(source.of('/mirror/a/tiny.gguf')).toHaveLength(1)
  })
})

describe('an installed model', () => {
  /** A kit in which `acts` is done once while the file is hashed to verify it. */
  const openActing = async (acts: (kit: ModelKit) => Promise<unknown>) => {
    let acting: (() => Promise<unknown>) | null = null
    const kit = await openModelKit(source, {
      change: (parts) => ({
        ...parts,
        files: replacing(parts.files, {
          async hash(...asked) {
            const found = await parts.files.hash(...asked)
            const act = acting
            acting = null
            await act?.()
            return found
          },
        }),
      }),
    })
    await kit.installed('tiny')
    acting = () => acts(kit)
    return kit
  }

  test('that is removed while it is verified stays removed', async () => {
    await using kit = await openActing((one) => one.kit.app.removeModel(one.op, { id: 'tiny' }))
    await expect(kit.kit.app.verifyModel(kit.op, { id: 'tiny' })).rejects.toMatchObject({
      type: 'ModelNotInstalled',
    })
    expect(await kit.show('tiny')).toMatchObject({ installed: false, problem: null })
    expect((await kit.kit.app.health(kit.op)).components.models.status).toBe('healthy')
  })

  test('that is updated while it is verified stays updated', async () => {
    const other = scriptModel({ seed: 9 })
    source.file('/other.gguf', other)
    await using kit = await openActing(async (one) => {
      listing(entryOf('tiny', source.url('/other.gguf'), other))
      await one.kit.app.refreshCatalog(one.op)
      expect((await one.installed('tiny')).status).toBe('done')
    })
    await expect(kit.kit.app.verifyModel(kit.op, { id: 'tiny' })).rejects.toMatchObject({
      type: 'ModelBusy',
    })
    const shown = { installed: true, sha256: sha256Of(other), problem: null }
    expect(await kit.show('tiny')).toMatchObject(shown)
    expect(await kit.kit.app.verifyModel(kit.op, { id: 'tiny' })).toMatchObject({ verified: true })
  })

  test('that is installed again while its damaged file is verified keeps its new file', async () => {
    await using kit = await openActing(async (one) => {
      await one.kit.app.removeModel(one.op, { id: 'tiny' })
      one.kit.clock.move(1_000)
      expect((await one.installed('tiny')).status).toBe('done')
    })
    kit.overwrite(whole.name, Buffer.alloc(bytes.length, 1))
    await expect(kit.kit.app.verifyModel(kit.op, { id: 'tiny' })).rejects.toMatchObject({
      type: 'ModelBusy',
    })
    expect(kit.offered()).toEqual([expect.objectContaining({ sha256 })])
    expect(await kit.show('tiny')).toMatchObject({ installed: true, problem: null })
  })

  test('whose bytes change is taken out of use when it is verified, and can be installed again', async () => {
    await using kit = await openModelKit(source)
    await kit.installed('tiny')
    expect(await kit.kit.app.verifyModel(kit.op, { id: 'tiny' })).toMatchObject({
      verified: true,
      found_sha256: sha256,
    })
    kit.overwrite(whole.name, Buffer.alloc(bytes.length, 1))
    const verdict = await kit.kit.app.verifyModel(kit.op, { id: 'tiny' })
    expect(verdict).toMatchObject({ verified: false, expected_sha256: sha256 })
    expect(kit.offered()).toEqual([])
    expect(await kit.show('tiny')).toMatchObject({ installed: false })
    expect((await kit.show('tiny')).problem).toContain('taken out of use')
    const { components } = await kit.kit.app.health(kit.op)
    expect(components.models).toMatchObject({ status: 'degraded', installed: 0 })
    const alerts = async () => {
      kit.kit.clock.move(10_000)
      const page = { status: 'open', limit: 9, offset: 0 } as const
      const { alerts: open } = await kit.kit.app.listAlerts(kit.op, page)
      return open
        .filter(({ kind }) => kind === 'models')
        .map(({ message }) => message)
        .filter((message) => message.includes('the model tiny'))
    }
    await expect.poll(alerts).toEqual([expect.stringContaining('the model tiny cannot be used')])
    expect((await kit.installed('tiny')).status).toBe('done')
    expect(await kit.show('tiny')).toMatchObject({ installed: true, problem: null })
  })

  test('whose file is cut short is not offered from then on', async () => {
    await using kit = await openModelKit(source)
    await kit.installed('tiny')
    kit.overwrite(whole.name, bytes.subarray(0, 1_000))
    expect(await kit.show('tiny')).toMatchObject({
      installed: false,
      problem: expect.stringContaining('incomplete') as string,
    })
  })

  test('can be chosen as the default, and none is by itself', async () => {
    await using kit = await openModelKit(source)
    await kit.installed('tiny')
    expect((await kit.models()).default_model).toBeNull()
    await kit.kit.app.setDefaultModel(kit.op, { id: 'tiny' })
    expect(await kit.models()).toMatchObject({ default_model: 'tiny' })
    expect((await kit.show('tiny')).default).toBe(true)
    await kit.kit.app.removeModel(kit.op, { id: 'tiny' })
    expect((await kit.models()).default_model).toBeNull()
  })

  test('is all that an engine is told of, with its file and its header', async () => {
    await using kit = await openModelKit(source)
    const { installedModels } = kit.kit.app
    expect(await installedModels.list()).toEqual([])
    expect(await installedModels.default()).toBeNull()
    await expect(installedModels.find('tiny')).rejects.toMatchObject({ type: 'ModelNotInstalled' })
    await expect(installedModels.find('tinny')).rejects.toMatchObject({ type: 'ModelNotFound' })
    await kit.installed('tiny')
    await kit.kit.app.setDefaultModel(kit.op, { id: 'tiny' })
    const found = await installedModels.find('tiny')
    expect(found).toMatchObject({
      id: 'tiny',
      sha256,
      file: join(kit.folder, whole.name),
      header: { layers: 2 },
    })
    expect(await installedModels.list()).toEqual([found])
    expect(await installedModels.default()).toEqual(found)
    rmSync(found.file)
    expect(await installedModels.list()).toEqual([])
    expect(await installedModels.default()).toBeNull()
  })

  test('stays as it is when the catalog gives its id to another file, or to none', async () => {
    await using kit = await openModelKit(source)
    await kit.installed('tiny')
    const other = scriptModel({ seed: 9 })
    source.file('/other.gguf', other)
    listing({ ...entryOf('tiny', source.url('/other.gguf'), other), label: 'Other' })
    await kit.kit.app.refreshCatalog(kit.op)
    expect(await kit.show('tiny')).toMatchObject({
      installed: true,
      sha256,
      update_available: true,
      listed: true,
    })
    listing()
    await kit.kit.app.refreshCatalog(kit.op)
    expect(await kit.show('tiny')).toMatchObject({
      installed: true,
      sha256,
      listed: false,
      source: 'catalog',
    })
    listing(entryOf('tiny', source.url('/other.gguf'), other))
    await kit.kit.app.refreshCatalog(kit.op)
    expect((await kit.installed('tiny')).status).toBe('done')
    expect(kit.offered().map((file) => file.sha256)).toEqual([sha256Of(other)])
  })

  test('is removed with its file, and what a cancelled download left is, too', async () => {
    await using kit = await openModelKit(source)
    await kit.installed('tiny')
    expect(await kit.kit.app.removeModel(kit.op, { id: 'tiny' })).toEqual({
      id: 'tiny',
      removed: true,
      freed_bytes: bytes.length,
    })
    expect(existsSync(join(kit.folder, whole.name))).toBe(false)
    await expect(kit.kit.app.removeModel(kit.op, { id: 'tiny' })).rejects.toMatchObject({
      type: 'ModelNotInstalled',
    })
    expect((await kit.installed('tiny')).status).toBe('done')
    expect(statSync(join(kit.folder, whole.name)).size).toBe(bytes.length)
  })
})
