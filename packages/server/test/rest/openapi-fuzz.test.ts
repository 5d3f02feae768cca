import { createIds } from '@gatehouse/server/platform/ids'
import { createKit, type Kit } from '@gatehouse/testkit'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Actor } from '../../src/app/call/op.ts'
import { createRestApp, type RestApp } from '../../src/transport/rest/create-rest-app.ts'
import { anyJson, type Schema, valueOf } from '../kit/json-of-schema.ts'
import { partsInPlace } from './parts-in-place.ts'

/** Requests for each operation; many more with GATEHOUSE_FULL=1. */
const full = process.env['GATEHOUSE_FULL'] === '1'
const runs = full ? 500 : 8
const seed = full ? Date.now() : 20_260_722

type Content = Record<string, { schema: Schema }>
type Operation = {
  operationId: string
  parameters?: { name: string; in: 'path' | 'query'; required?: boolean; schema: Schema }[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}
type Sent = { path: string; body: string | undefined; headers: Record<string, string> }

let kit: Kit
/** As the User API serves it, and as the dashboard does, where people log in. */
let listeners: readonly RestApp[]
let document: Document
let ajv: Ajv2020
const faults: string[] = []
const known: Record<string, string[]> = {}

const operator: Actor = { kind: 'user', label: 'ana', role: 'operator', token_id: 'ut-1' }

const fetchFrom = (method: string, { path, body, headers }: Sent, actor: Actor | null, at = 0) =>
  listeners[at]?.fetch(
    new Request(`http://gatehouse.localhost${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    }),
    actor ? { actor } : {},
  )

beforeAll(async () => {
  kit = await createKit()
  await kit.agent('alpha')
  const op = kit.operator()
  await kit.invoke('alpha', 'filesystem.write', { path: 'notes.txt', content: 'x' })
  const approval = await kit.pending('alpha', 'filesystem.delete', { path: 'notes.txt' })
  await kit.invoke('alpha', 'state.set', { key: 'a key/with ../dots', value: [1] })
  const { entries } = await kit.app.queryAudit(op, { limit: 5, offset: 0 })
  known['name'] = ['alpha', 'nobody', 'ana', 'organisation']
  known['agent'] = ['alpha', 'shared', 'nobody']
  known['key'] = ['a key/with ../dots', 'none']
  known['id'] = [approval, ...entries.map(({ id }) => id), 'appr-x']
  const note = (facts: object) => {
    const { err } = facts as { err?: unknown }
    faults.push(String(err instanceof Error ? err.stack : err))
  }
  const quiet = () => undefined
  const options = {
    app: kit.app,
    version: '1.2.3',
    ids: createIds(),
    log: { debug: quiet, info: quiet, warn: quiet, error: note },
    heartbeatMs: 20,
  }
  listeners = [createRestApp(options), createRestApp({ ...options, forBrowsers: true })]
  const sent = { path: '/api/openapi.json', body: undefined, headers: {} }
  document = partsInPlace((await (await fetchFrom('GET', sent, operator))?.json()) as Document)
  ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false })
  ajv.addSchema({ $id: 'openapi', components: document.components })
})
afterAll(() => kit[Symbol.asyncDispose]())

/** References inside of the document lead to the schema that ajv was given. */
const withReferences = (schema: Schema): Schema =>
  JSON.parse(
    JSON.stringify(schema).replaceAll('"$ref":"#/components', '"$ref":"openapi#/components'),
  ) as Schema

const validators = new Map<string, ValidateFunction>()
const validatorOf = (key: string, schema: Schema): ValidateFunction => {
  const before = validators.get(key)
  if (before) return before
  const made = ajv.compile(withReferences(schema))
  validators.set(key, made)
  return made
}

const oddText = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 10 }).map((text) => text.toWellFormed()),
  fc.constantFrom(
    '%',
    '%2e%2e',
    'a/b',
    '..x',
    '\u0000',
    'x'.repeat(5_000),
    '__proto__',
    '-1',
    '1e9',
  ),
)

const segmentOf = (name: string) =>
  fc
    .oneof({ weight: 3, arbitrary: fc.constantFrom(...(known[name] ?? ['x'])) }, oddText)
    // A URL would resolve these before they are sent; open-user-api.test.ts sends them as they are.
    .filter((text) => !['', '.', '..'].includes(text) && text.isWellFormed())

const queryOf = ({ name, schema }: { name: string; schema: Schema }) =>
  fc.oneof(
    fc.constant(undefined),
    (known[name]
      ? fc.constantFrom(...known[name])
      : valueOf(schema, document.components.schemas)
    ).map((value) => String(value)),
    oddText,
  )

const requestOf = (
  path: string,
  { parameters = [], requestBody }: Operation,
): fc.Arbitrary<Sent> => {
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  const schema = requestBody?.content['application/json']?.schema
  const json = { 'content-type': 'application/json' }
  const bodies: fc.Arbitrary<Omit<Sent, 'path'>> = schema
    ? fc.oneof(
        {
          weight: 5,
          arbitrary: valueOf(schema, document.components.schemas).map((value) => ({
            body: JSON.stringify(value),
            headers: json,
          })),
        },
        anyJson.map((value) => ({ body: JSON.stringify(value), headers: json })),
        fc.constantFrom<Omit<Sent, 'path'>>(
          { body: undefined, headers: {} },
          { body: 'null', headers: json },
          { body: '{', headers: json },
          { body: '{"a":9007199254740993}', headers: json },
          { body: '{"a":1,"a":2}', headers: json },
          { body: '{}', headers: { 'content-type': 'text/plain' } },
          { body: '{}', headers: { ...json, 'content-encoding': 'gzip' } },
          { body: `{"a":"${'x'.repeat(2_200_000)}"}`, headers: json },
        ),
      )
    : fc.constant({ body: undefined, headers: {} })
  return fc
    .tuple(
      fc.tuple(...inPath.map(({ name }) => segmentOf(name))),
      fc.tuple(...inQuery.map(queryOf)),
      bodies,
    )
    .map(([segments, values, body]) => {
      const filled = inPath.reduce(
        (text, { name }, i) =>
          text.replace(`{${name}}`, () => encodeURIComponent(segments[i] ?? '')),
        path,
      )
      const search = new URLSearchParams()
      inQuery.forEach(({ name }, i) => {
        const value = values[i]
        if (value !== undefined) search.append(name, value)
      })
      return { path: search.size > 0 ? `${filled}?${search}` : filled, ...body }
    })
}

/** The text of an answer; of one without an end, what comes first. */
const readBody = async (response: Response, type: string): Promise<string> => {
  if (type !== 'text/event-stream') return response.text()
  const reader = response.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  return ''
}

const check = async (method: string, operation: Operation, sent: Sent, who: number) => {
  faults.length = 0
  const response = await fetchFrom(method, sent, who === 0 ? null : operator, who % 2)
  if (!response) throw new Error('there is no such listener')
  const { status } = response
  const type = (response.headers.get('content-type') ?? '').split(';', 1)[0] ?? ''
  const text = await readBody(response, type)
  const about = `${operation.operationId} ${sent.path.slice(0, 200)} ${(sent.body ?? '').slice(0, 300)} -> ${status} ${text.slice(0, 500)} ${faults.join('\n')}`
  const listed = operation.responses[String(status)]
  expect(listed, `${about}: this status is not listed`).toBeDefined()
  // A part that this kit does not have may say so, by its name, and so may a server that is none; nothing else is 5xx.
  if (status >= 500) expect(text, about).toMatch(/"code":"(\w+Unavailable|UpstreamFailed)"/)
  const schema = listed?.content?.[type]?.schema
  expect(schema, `${about}: the type ${type} is not listed`).toBeDefined()
  if (!['application/json', 'application/problem+json'].includes(type) || !schema) return
  const validate = validatorOf(`${operation.operationId} ${status} ${type}`, schema)
  expect(validate(JSON.parse(text)), `${about}: ${JSON.stringify(validate.errors)}`).toBe(true)
}

/** Ends what the others stand on, or takes minutes of a processor. */
const last = new Set(['makeBackup'])

test('every operation answers whatever comes as the document says', {
  timeout: 600_000,
}, async () => {
  let checked = 0
  const found: string[] = []
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      if (last.has(operation.operationId)) continue
      const answers = fc.asyncProperty(requestOf(path, operation), fc.nat(9), async (sent, who) => {
        await check(method.toUpperCase(), operation, sent, who)
      })
      const { failed, errorInstance } = await fc.check(answers, {
        numRuns: runs,
        seed,
        endOnFailure: true,
      })
      if (failed) found.push(String(errorInstance).slice(0, 2_000))
      checked += 1
    }
  expect(found.join('\n\n')).toBe('')
  expect(checked).toBeGreaterThan(80)
})

test.each([
  ['/api/proxy/services', '{"kind":"no such kind","agents":["alpha"]}', 404, 'ServiceKindNotFound'],
  ['/api/vault/unlock', 'null', 400, 'InvalidRequest'],
  ['/api/vault/unlock', '[]', 400, 'InvalidRequest'],
])('POST %s with %s is answered by %i', async (path, body, status, code) => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetchFrom('POST', { path, body, headers }, operator)
  expect([response?.status, ((await response?.json()) as { code: string }).code]).toEqual([
    status,
    code,
  ])
})
