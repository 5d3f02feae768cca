import { expect, test } from 'vitest'
import { settingsIn, settingsOf, typedOf } from './typed-settings.ts'

const schema = {
  properties: {
    host: { type: 'string' },
    port: { type: 'integer' },
    plain: { type: 'boolean', default: false },
    skip: { type: 'array', default: [] },
  },
  required: ['host', 'plain', 'skip'],
}

test('asks first for what has no default', () => {
  const { needed, others } = settingsIn(schema)
  expect(needed.map(([name]) => name)).toEqual(['host'])
  expect(others.map(([name]) => name)).toEqual(['port', 'plain', 'skip'])
})

test('gives settings back as they were', () => {
  const settings = { host: 'mail.example.org', port: 143, plain: true, skip: ['All', 'Spam'] }
  expect(settingsOf(schema, typedOf(settings))).toEqual(settings)
})

test('leaves what is empty to its default', () => {
  expect(settingsOf(schema, { host: 'mail.example.org', port: '', skip: '' })).toEqual({
    host: 'mail.example.org',
  })
})
