import { readFileSync } from 'node:fs'
import type { ModelEntry } from '@gatehouse/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { builtInDefault, builtInModels } from './built-in.ts'
import { catalogJsonSchema } from './catalog-json-schema.ts'
import { mergeModels } from './merge-models.ts'
import { catalogBytesMax, parseCatalog } from './parse-catalog.ts'
import { validateCatalog } from './validate-catalog.ts'

const sound: ModelEntry = {
  id: 'tiny',
  url: 'https://models.example/tiny.gguf',
  sha256: 'ab'.repeat(32),
  size_bytes: 132_256,
}
const bytesOf = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const withModels = (...models: unknown[]) => ({ schema_version: 1, models })
const without = (key: keyof ModelEntry) => {
  const { [key]: _gone, ...rest } = sound
  return rest
}
const check = (file: unknown) => validateCatalog('models.json', bytesOf(file), builtInModels)

describe('a structural fault', () => {
  // The bad entry stands beside a good one: none of the two may load.
  const beside = (entry: unknown) => withModels(sound, entry)
  const other = { ...sound, id: 'other' }
  test.each([
    ['text that is no JSON', '{"schema_version": 1,', null],
    ['an array', [], null],
    ['null', 'null', null],
    ['a text', '"models"', null],
    ['no schema_version', { models: [sound] }, 'schema_version'],
    ['schema_version 2', { schema_version: 2, models: [sound] }, 'schema_version'],
    ['schema_version as text', { schema_version: '1', models: [sound] }, 'schema_version'],
    ['schema_version true', { schema_version: true, models: [sound] }, 'schema_version'],
    ['schema_version 1.5', { schema_version: 1.5, models: [sound] }, 'schema_version'],
    ['a misspelled schema_version', { schema_verison: 1, models: [sound] }, 'schema_version'],
    ['no models', { schema_version: 1 }, 'models'],
    ['models as an object', { schema_version: 1, models: { tiny: sound } }, 'models'],
    ['models as null', { schema_version: 1, models: null }, 'models'],
    [
      'default_model_id in the file',
      { ...withModels(sound), default_model_id: 'tiny' },
      'default_model_id',
    ],
    ['source in the file', { ...withModels(sound), source: 'built-in' }, 'source'],
    ['source in an entry', beside({ ...other, source: 'built-in' }), 'source'],
    [
      'default_model_id in an entry',
      beside({ ...other, default_model_id: 'x' }),
      'default_model_id',
    ],
    ['an entry that is a text', beside('tiny'), null],
    ['an entry that is null', beside(null), null],
    ['an entry that is an array', beside([other]), null],
    ['no id', beside(without('id')), 'id'],
    ['no url', beside(without('url')), 'url'],
    ['no sha256', beside(without('sha256')), 'sha256'],
    ['no size_bytes', beside(without('size_bytes')), 'size_bytes'],
    ['a misspelled sha256', beside({ ...without('sha256'), sha265: sound.sha256 }), 'sha256'],
    ['an id in another case', beside({ ...without('id'), ID: 'x' }), 'id'],
    ['id as a number', beside({ ...other, id: 7 }), 'id'],
    ['url as null', beside({ ...other, url: null }), 'url'],
    ['sha256 as a list', beside({ ...other, sha256: [sound.sha256] }), 'sha256'],
    ['size_bytes as a text', beside({ ...other, size_bytes: '132256' }), 'size_bytes'],
    ['size_bytes true', beside({ ...other, size_bytes: true }), 'size_bytes'],
    ['size_bytes with a fraction', beside({ ...other, size_bytes: 1.5 }), 'size_bytes'],
    [
      'size_bytes beyond numbers',
      `{"schema_version":1,"models":[${JSON.stringify(sound)},{"id":"b","url":"https://a.example/b","sha256":"${'a'.repeat(64)}","size_bytes":1e400}]}`,
      'size_bytes',
    ],
    ['size_bytes null', beside({ ...other, size_bytes: null }), 'size_bytes'],
    ['label as a number', beside({ ...other, label: 1 }), 'label'],
    ['params as a number', beside({ ...other, params: 0.5 }), 'params'],
    ['license_tag as a list', beside({ ...other, license_tag: ['MIT'] }), 'license_tag'],
    ['description as null', beside({ ...other, description: null }), 'description'],
    ['more than 1 MiB', `${JSON.stringify(withModels(sound))}${' '.repeat(catalogBytesMax)}`, null],
  ])('of %s refuses the whole file and names the field', (_what, file, field) => {
    const verdict = check(file)
    expect(verdict).toMatchObject({ valid: false, outcome: 'refused', loaded: [] })
    const faults = verdict.problems.filter(({ kind }) => kind === 'structural')
    expect(faults.map((fault) => fault.field)).toEqual([field])
  })

  test('names the entry by its place and id, and what may have been meant', () => {
    const { problems } = check(beside({ ...without('sha256'), id: 'other', sha265: 'x' }))
    expect(problems[0]).toEqual({
      kind: 'structural',
      index: 1,
      id: 'other',
      field: 'sha256',
      reason: 'is missing; there is "sha265", is it misspelled?',
    })
  })

  test('of bytes that are not UTF-8 refuses the file', () => {
    const bytes = Buffer.concat([
      Buffer.from('{"schema_version":1,"models":[]'),
      Buffer.from([0xff, 0x7d]),
    ])
    expect(parseCatalog(bytes)).toMatchObject({
      kind: 'refused',
      problems: [{ reason: 'is not UTF-8' }],
    })
  })

  test('does not hide the others: all that is wrong is told at once', () => {
    const { problems } = check(
      withModels({ ...sound, size_bytes: '1' }, without('url'), { ...sound, id: '' }),
    )
    expect(problems.map(({ kind, index, field }) => [kind, index, field])).toEqual([
      ['structural', 0, 'size_bytes'],
      ['structural', 1, 'url'],
      ['value', 2, 'id'],
    ])
  })
})

test.each([
  [
    'an entry of 80,000 keys',
    `{"schema_version":1,"models":[{${Array.from({ length: 80_000 }, (_, i) => `"k${i}":0`).join(',')}}]}`,
  ],
  ['200,000 entries of nothing', `{"schema_version":1,"models":[${'{},'.repeat(200_000)}{}]}`],
  [
    '80,000 keys beside the models',
    `{"schema_version":1,"models":[],${Array.from({ length: 80_000 }, (_, i) => `"k${i}":0`).join(',')}}`,
  ],
  [
    'a version nested 200,000 deep',
    `{"schema_version":${'['.repeat(200_000)}${']'.repeat(200_000)},"models":[]}`,
  ],
  [
    'an id nested 200,000 deep',
    `{"schema_version":1,"models":[{"id":${'['.repeat(200_000)}${']'.repeat(200_000)}}]}`,
  ],
])('%s make no more trouble than a few lines do', (_what, text) => {
  const { problems } = check(text)
  expect(problems.length).toBeGreaterThan(0)
  expect(problems.length).toBeLessThan(1_010)
  expect(JSON.stringify(problems).length).toBeLessThan(300_000)
})

describe('a value fault', () => {
  const [builtIn] = builtInModels
  test.each([
    ['an empty id', { id: '' }, 'id'],
    ['an id of 129 characters', { id: 'a'.repeat(129) }, 'id'],
    ['an id with a slash', { id: 'a/b' }, 'id'],
    ['an id that climbs', { id: '../../x' }, 'id'],
    ['an id with two dots', { id: 'a..b' }, 'id'],
    ['an id that begins with a dot', { id: '.x' }, 'id'],
    ['an id that begins with a dash', { id: '-x' }, 'id'],
    ['an id with a letter of another script', { id: 'tіny' }, 'id'],
    ['an id with a NUL', { id: 'a\0b' }, 'id'],
    ['an id that ends with a line break', { id: 'tiny2\n' }, 'id'],
    ['a reserved id hf-', { id: 'hf-x' }, 'id'],
    ['a reserved id byom-', { id: 'byom-x' }, 'id'],
    ['the id of a built-in model', { id: builtIn?.id }, 'id'],
    ['the id of an earlier entry', { id: 'tiny' }, 'id'],
    ['an http url', { url: 'http://models.example/x.gguf' }, 'url'],
    ['a file url', { url: 'file:///etc/x.gguf' }, 'url'],
    ['an ftp url', { url: 'ftp://models.example/x' }, 'url'],
    ['a url without a scheme', { url: 'models.example/x.gguf' }, 'url'],
    ['an empty url', { url: '' }, 'url'],
    ['a url with a password', { url: 'https://u:p@models.example/x' }, 'url'],
    ['a url with a line break', { url: 'https://models.example/\nx' }, 'url'],
    ['a url with backslashes', { url: 'https:\\\\models.example\\x' }, 'url'],
    ['a url that a parser would mend', { url: 'https:models.example/x' }, 'url'],
    ['an uppercase sha256', { sha256: 'AB'.repeat(32) }, 'sha256'],
    ['a short sha256', { sha256: 'ab'.repeat(31) }, 'sha256'],
    ['a long sha256', { sha256: 'ab'.repeat(33) }, 'sha256'],
    ['a sha256 that is not hexadecimal', { sha256: 'xy'.repeat(32) }, 'sha256'],
    ['a sha256 with a line break', { sha256: `${'ab'.repeat(32)}\n` }, 'sha256'],
    ['size_bytes 0', { size_bytes: 0 }, 'size_bytes'],
    ['size_bytes -0', { size_bytes: -0 }, 'size_bytes'],
    ['a negative size_bytes', { size_bytes: -1 }, 'size_bytes'],
    ['a size_bytes beyond exact numbers', { size_bytes: 2 ** 60 }, 'size_bytes'],
  ])('of %s drops that entry alone, with a reason', (_what, change, field) => {
    const bad = { ...sound, id: 'bad', ...change }
    const last = { ...sound, id: 'last' }
    const verdict = check(withModels(sound, bad, last))
    expect(verdict).toMatchObject({
      valid: false,
      outcome: 'loads_partly',
      loaded: ['tiny', 'last'],
    })
    expect(verdict.problems).toHaveLength(1)
    expect(verdict.problems[0]).toMatchObject({ kind: 'value', index: 1, field })
    expect(verdict.problems[0]?.reason).toBeTruthy()
  })

  test.each([
    ['one character', { id: 'a' }],
    ['128 characters', { id: 'a'.repeat(128) }],
    ['every kind of character', { id: 'A.z_0-9' }],
    ['a prefix that only resembles a reserved one', { id: 'hf_x' }],
    ['the scheme in capitals', { url: 'HTTPS://models.example/x' }],
    ['the smallest size', { size_bytes: 1 }],
    ['all that is optional', { label: '', params: '7B', license_tag: 'MIT', description: 'ü' }],
  ])('is none of an entry with %s', (_what, change) => {
    const entry = { ...sound, id: 'good', ...change }
    expect(check(withModels(entry))).toMatchObject({
      valid: true,
      loaded: [entry.id],
      problems: [],
    })
  })
})

describe('merging', () => {
  test('puts built-in models first, and leaves them as they are whatever a catalog says', () => {
    const [builtIn] = builtInModels
    const reading = parseCatalog(
      bytesOf(withModels({ ...sound, id: builtIn?.id, label: 'Better' }, sound)),
    )
    if (reading.kind !== 'read') throw new Error('refused')
    const { models, dropped } = mergeModels(builtInModels, reading.entries)
    expect(models.map(({ entry, source }) => [entry.id, source])).toEqual([
      ...builtInModels.map(({ id }) => [id, 'built-in']),
      ['tiny', 'catalog'],
    ])
    expect(models[0]?.entry).toBe(builtIn)
    expect(dropped).toEqual([
      { id: builtIn?.id, index: 0, field: 'id', reason: 'id is the id of a built-in model' },
    ])
  })

  test('takes only the keys that it knows, and says which it left out', () => {
    const verdict = check(withModels({ ...sound, lable: 'x', installed: true }))
    expect(verdict).toMatchObject({ valid: true, loaded: ['tiny'] })
    expect(verdict.problems.map(({ kind, field }) => [kind, field])).toEqual([
      ['notice', 'lable'],
      ['notice', 'installed'],
    ])
    const reading = parseCatalog(bytesOf(withModels({ ...sound, installed: true })))
    expect(reading.kind === 'read' && reading.entries[0]?.entry).toEqual(sound)
  })

  test('of any JSON whatever never throws, and never changes a built-in model', () => {
    const before = JSON.stringify(builtInModels)
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.jsonValue(), { maxLength: 4 }), (file, models) => {
        for (const one of [file, { schema_version: 1, models }]) {
          const reading = parseCatalog(bytesOf(one))
          if (reading.kind === 'read') mergeModels(builtInModels, reading.entries)
        }
        expect(JSON.stringify(builtInModels)).toBe(before)
      }),
      { numRuns: 300 },
    )
  })
})

describe('what this project ships', () => {
  const root = new URL('../../../../../catalog/', import.meta.url)

  test('is a published catalog of which every entry loads', () => {
    const bytes = readFileSync(new URL('models.json', root))
    expect(validateCatalog('models.json', bytes, builtInModels)).toMatchObject({
      valid: true,
      problems: [],
    })
  })

  test('is a built-in list that holds to the same rules, with a default that is in it', () => {
    const file = { schema_version: 1, models: builtInModels }
    expect(validateCatalog('built-in', bytesOf(file), [])).toMatchObject({
      valid: true,
      problems: [],
    })
    expect(builtInModels.map(({ id }) => id)).toContain(builtInDefault)
  })

  test('is a schema that is drawn from these rules', () => {
    const published = JSON.parse(
      readFileSync(new URL('models.schema.json', root), 'utf8'),
    ) as unknown
    expect(published).toEqual(catalogJsonSchema())
  })
})
