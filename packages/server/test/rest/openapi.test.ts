import { type Route, routes } from '@gatehouse/contract/routes'
import { expect, test } from 'vitest'
import { useRestKit } from './kit.ts'
import { partsInPlace } from './parts-in-place.ts'

const shared = useRestKit()

type Operation = {
  operationId: string
  security: object[]
  parameters?: { name: string; in: string; required?: boolean; schema: object }[]
  requestBody?: { content: Record<string, { schema: object }> }
  responses: Record<string, { description: string; content: Record<string, { schema: object }> }>
}
type Document = {
  openapi: string
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> }
}

async function fetchDocument(): Promise<Document> {
  const { body } = await shared().call('GET', '/api/openapi.json', { role: 'viewer' })
  return partsInPlace(body as unknown as Document)
}

const operationsOf = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )

test('describes each route once, and no other', async () => {
  const document = await fetchDocument()
  expect(document.openapi).toBe('3.1.0')
  expect(document.info.version).toBe('1.2.3')
  const described = operationsOf(document).map(
    ({ path, method, operation }) => `${operation.operationId} ${method} ${path}`,
  )
  const served = Object.entries<Route>(routes).map(
    ([name, route]) =>
      `${name} ${route.method.toLowerCase()} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`,
  )
  expect(described.toSorted()).toEqual(served.toSorted())
  expect(new Set(described.map((line) => line.split(' ')[0])).size).toBe(served.length)
})

test('declares each path parameter, a schema for each answer, and references that exist', async () => {
  const document = await fetchDocument()
  for (const { path, operation } of operationsOf(document)) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    const inPath = (operation.parameters ?? []).filter((p) => p.in === 'path')
    expect(inPath.map(({ name }) => name)).toEqual(names)
    expect(inPath.every(({ required }) => required)).toBe(true)
    for (const response of Object.values(operation.responses)) {
      expect(response.description).not.toBe('')
      for (const { schema } of Object.values(response.content)) expect(schema).toBeTypeOf('object')
    }
  }
  const references = [
    ...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g),
  ]
  expect(references.length).toBeGreaterThan(20)
  for (const [, name] of references) expect(document.components.schemas).toHaveProperty(name ?? '')
})

test('is small enough to be read at once: what operations share stands there once', async () => {
  const { body } = await shared().call('GET', '/api/openapi.json', { role: 'viewer' })
  expect(JSON.stringify(body).length).toBeLessThan(250_000)
  const { components } = body as unknown as Document
  expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining(['Agent', 'Problem']))
})

test('names the bounds of numbers in a query, which are text on the wire', async () => {
  const document = await fetchDocument()
  const limit = document.paths['/api/audit']?.get?.parameters?.find(({ name }) => name === 'limit')
  expect(limit?.schema).toMatchObject({ type: 'integer', minimum: 1, maximum: 1000, default: 100 })
  expect(limit?.required).toBeFalsy()
})

test('asks for a token or a login everywhere but at the probes, and where one logs in or joins', async () => {
  const document = await fetchDocument()
  const open = operationsOf(document).filter(({ operation }) => operation.security.length === 0)
  expect(open.map(({ path }) => path).toSorted()).toEqual([
    '/api/nodes/admit',
    '/api/session',
    '/api/setup',
    '/api/setup',
    '/healthz',
    '/readyz',
  ])
  expect(document.components.securitySchemes).toMatchObject({ userToken: {}, login: {} })
})
